package secret

import (
	"context"
	"encoding/base64"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
)

func TestPassword(t *testing.T) {
	p := NewPasswords(testRand(1), DefaultArgon2Params(), QueueLimits{})
	hash, err := p.Hash(t.Context(), Requester{}, "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || len(hash) != 97 {
		t.Fatalf("Hash = %q, %v, want an Argon2id hash of 97 characters", hash, err)
	}
	again, err := p.Hash(t.Context(), Requester{}, "correct horse")
	if err != nil || again == hash {
		t.Errorf("second Hash has the same salt: %v", err)
	}
	cheap := phc{memory: 64, time: 1, lanes: 1, salt: []byte("0123456789abcdef")}
	cheap.hash = argon2.IDKey([]byte("correct horse"), cheap.salt, 1, 64, 1, 32)
	for name, row := range map[string]struct {
		hash, password string
		matches, stale bool
	}{
		"right":             {hash, "correct horse", true, false},
		"right, other salt": {again, "correct horse", true, false},
		"wrong":             {hash, "Correct horse", false, false},
		"longer":            {hash, "correct horse ", false, false},
		"empty":             {hash, "", false, false},
		"no user":           {"", "correct horse", false, false},
		"no user, empty":    {"", "", false, false},
		"cheap":             {cheap.String(), "correct horse", true, true},
		"cheap and wrong":   {cheap.String(), "x", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := p.HashCount()
			matches, stale, err := p.Verify(t.Context(), Requester{}, row.hash, row.password)
			if err != nil || matches != row.matches || stale != row.stale || p.HashCount() != before+1 {
				t.Errorf("%s: Verify = %v, %v, %v, want %v, %v and one hash", name, matches, stale, err, row.matches, row.stale)
			}
		})
	}
	_, _, err = p.Verify(t.Context(), Requester{}, "secret", "secret")
	if !errors.Is(err, errInvalidPHC) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Verify of an invalid hash = %v, want %v", err, errInvalidPHC)
	}
	if _, err := NewPasswords(failingRand{}, DefaultArgon2Params(), QueueLimits{}).Hash(t.Context(), Requester{}, "x"); err == nil {
		t.Error("Hash with a failing rand: got no error")
	}
}

// TestPasswordsQueue checks that only two hashes are computed at a time. Other requests
// wait, can be canceled, and get ErrBusy if the queue is full.
func TestPasswordsQueue(t *testing.T) {
	p := NewPasswords(testRand(1), DefaultArgon2Params(), QueueLimits{MaxLength: 1})
	for _, owner := range []string{"a", "b"} {
		if err := p.queue.acquire(t.Context(), Requester{Owner: owner}); err != nil {
			t.Fatalf("acquire: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hash(ctx, Requester{Owner: "c"}, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("Hash while both slots are used: got %v, want %v", err, context.Canceled)
	}
	if _, err := p.queue.enqueue(Requester{Owner: "c"}); err != nil {
		t.Fatalf("enqueue: %v", err)
	}
	if _, _, err := p.Verify(t.Context(), Requester{Owner: "d"}, "", "x"); !errors.Is(err, ErrBusy) {
		t.Errorf("Verify with a full queue: got %v, want %v", err, ErrBusy)
	}
	if p.HashCount() != 0 {
		t.Errorf("HashCount() = %d, want 0", p.HashCount())
	}
	p.queue.release("a", 0) // c runs now
	p.queue.release("b", 0)
	if _, err := p.Hash(t.Context(), Requester{Owner: "d"}, "x"); err != nil {
		t.Errorf("Hash: %v", err)
	}
	p.queue.release("c", 0)
	if p.queue.free != maxConcurrentHashes {
		t.Errorf("%d slots are free, want %d", p.queue.free, maxConcurrentHashes)
	}
}

// TestPasswordsMemory checks that the heap doesn't grow with the number of hashes, and that
// ReleaseMemory gives their memory back to the operating system.
func TestPasswordsMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as in the server
	p := NewPasswords(testRand(1), DefaultArgon2Params(), QueueLimits{})
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapSys - m.HeapReleased
	}
	debug.FreeOSMemory()
	before, peak := held(), uint64(0)
	for range 16 {
		if _, _, err := p.Verify(t.Context(), Requester{}, "", "x"); err != nil {
			t.Fatalf("Verify: %v", err)
		}
		peak = max(peak, held())
	}
	p.ReleaseMemory()
	t.Logf("%d KiB before, peak of %d, then %d", before>>10, peak>>10, held()>>10)
	if limit := before + 90<<20; peak > limit {
		t.Errorf("peak of %d MiB, want at most %d MiB", peak>>20, limit>>20)
	}
	if after, limit := held(), before+4<<20; after > limit {
		t.Errorf("%d MiB after ReleaseMemory, want at most %d MiB", after>>20, limit>>20)
	}
}

func TestParsePHCRejects(t *testing.T) {
	salt, hash := base64.RawStdEncoding.EncodeToString([]byte("0123456789abcdef")), base64.RawStdEncoding.EncodeToString(make([]byte, 32))
	good := phcPrefix + "m=19456,t=2,p=1$" + salt + "$" + hash
	if _, err := parsePHC(good); err != nil {
		t.Fatalf("parsePHC: %v", err)
	}
	for name, text := range map[string]string{
		"empty":             "",
		"argon2i":           strings.Replace(good, "argon2id", "argon2i", 1),
		"version 16":        strings.Replace(good, "v=19", "v=16", 1),
		"no version":        strings.Replace(good, "$v=19", "", 1),
		"a gigabyte":        strings.Replace(good, "m=19456", "m=1048576", 1),
		"overflow":          strings.Replace(good, "m=19456", "m=4294986752", 1),
		"many passes":       strings.Replace(good, "t=2", "t=11", 1),
		"no pass":           strings.Replace(good, "t=2", "t=0", 1),
		"many lanes":        strings.Replace(good, "p=1", "p=5", 1),
		"256 lanes more":    strings.Replace(good, "p=1", "p=257", 1),
		"too little memory": strings.Replace(good, "m=19456,t=2,p=1", "m=8,t=2,p=2", 1),
		"zeros in front":    strings.Replace(good, "t=2", "t=02", 1),
		"a sign":            strings.Replace(good, "t=2", "t=+2", 1),
		"another order":     strings.Replace(good, "m=19456,t=2", "t=2,m=19456", 1),
		"a fourth cost":     strings.Replace(good, "p=1", "p=1,x=1", 1),
		"short salt":        phcPrefix + "m=19456,t=2,p=1$AAAA$" + hash,
		"short hash":        phcPrefix + "m=19456,t=2,p=1$" + salt + "$AAAA",
		"padded":            good + "=",
		"stray bits":        good[:len(good)-1] + "B",
		"line end":          good + "\n",
		"a part more":       good + "$",
	} {
		if h, err := parsePHC(text); err == nil {
			t.Errorf("%s: parsePHC(%q) = %+v, want an error", name, text, h)
		}
	}
}

func FuzzPHC(f *testing.F) {
	f.Add(phcPrefix + "m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDdsHo18I7BuGQe1bLGBTxxivOgWaUf+9dxbsBI/3Ww")
	f.Add(phcPrefix + "m=8,t=1,p=1$MDEyMzQ1Njc$MDEyMzQ1Njc4OWFiY2RlZg")
	f.Add(phcPrefix + "m=4294967297,t=2,p=1$$")
	f.Add("$argon2id$$$")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parsePHC(text)
		if err != nil {
			return
		}
		if h.String() != text {
			t.Errorf("the parser accepted %q, want only the canonical form %q", text, h)
		}
		if h.memory < 8 || h.memory > maxMemory || h.time < 1 || h.time > maxPasses || h.lanes < 1 || h.lanes > maxLanes || len(h.hash) > 64 {
			t.Errorf("%q costs %d KiB, %d passes, %d lanes, want values within the limits", text, h.memory, h.time, h.lanes)
		}
	})
}
