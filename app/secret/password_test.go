package secret

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
)

func TestPassword(t *testing.T) {
	p := NewPasswords(chance(1), DefaultArgon2Params(), QueueLimits{})
	hash, err := p.Hash(t.Context(), "", "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || len(hash) != 97 {
		t.Fatalf("%q, %v", hash, err)
	}
	again, err := p.Hash(t.Context(), "", "correct horse")
	if err != nil || again == hash {
		t.Errorf("the salt is the same: %v", err)
	}
	cheap := phc{memory: 64, time: 1, lanes: 1, salt: []byte("0123456789abcdef")}
	cheap.hash = argon2.IDKey([]byte("correct horse"), cheap.salt, 1, 64, 1, 32)
	for name, row := range map[string]struct {
		hash, password string
		fits, stale    bool
	}{
		"right":             {hash, "correct horse", true, false},
		"right, other salt": {again, "correct horse", true, false},
		"wrong":             {hash, "Correct horse", false, false},
		"longer":            {hash, "correct horse ", false, false},
		"empty":             {hash, "", false, false},
		"nobody":            {"", "correct horse", false, false},
		"nobody, empty":     {"", "", false, false},
		"cheap":             {cheap.String(), "correct horse", true, true},
		"cheap and wrong":   {cheap.String(), "x", false, false},
	} {
		before := p.HashCount()
		fits, stale, err := p.Verify(t.Context(), "", row.hash, row.password)
		if err != nil || fits != row.fits || stale != row.stale || p.HashCount() != before+1 {
			t.Errorf("%s: fits %v, stale %v, %v, %d runs", name, fits, stale, err, p.HashCount()-before)
		}
	}
	if _, _, err := p.Verify(t.Context(), "", "secret", "secret"); !errors.Is(err, errNoPHC) || strings.Contains(err.Error(), "secret") {
		t.Errorf("no hash: %v", err)
	}
	if _, err := NewPasswords(noChance{}, DefaultArgon2Params(), QueueLimits{}).Hash(t.Context(), "", "x"); err == nil {
		t.Error("a salt without chance")
	}
}

// Two at a time; the others wait for their turn, leave when the client does, and get
// ErrBusy when there are too many.
func TestPasswordsTakeTurns(t *testing.T) {
	p := NewPasswords(chance(1), DefaultArgon2Params(), QueueLimits{MaxLength: 1})
	for _, owner := range []string{"a", "b"} {
		if err := p.turns.take(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hash(ctx, "c", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("while both work: got %v, want %v", err, context.Canceled)
	}
	if _, err := p.turns.join("c"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Verify(t.Context(), "d", "", "x"); !errors.Is(err, ErrBusy) {
		t.Errorf("when the queue is full: got %v, want %v", err, ErrBusy)
	}
	if p.HashCount() != 0 {
		t.Errorf("%d runs, want 0", p.HashCount())
	}
	p.turns.give("a") // c's turn
	p.turns.give("b")
	if _, err := p.Hash(t.Context(), "d", "x"); err != nil {
		t.Error(err)
	}
	p.turns.give("c")
	if p.turns.free != mostRuns {
		t.Errorf("%d turns are free, want %d", p.turns.free, mostRuns)
	}
}

func TestParsePHCRefuses(t *testing.T) {
	salt, hash := base64.RawStdEncoding.EncodeToString([]byte("0123456789abcdef")), base64.RawStdEncoding.EncodeToString(make([]byte, 32))
	good := phcHead + "m=19456,t=2,p=1$" + salt + "$" + hash
	if _, err := parsePHC(good); err != nil {
		t.Fatal(err)
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
		"short salt":        phcHead + "m=19456,t=2,p=1$AAAA$" + hash,
		"short hash":        phcHead + "m=19456,t=2,p=1$" + salt + "$AAAA",
		"padded":            good + "=",
		"stray bits":        good[:len(good)-1] + "B",
		"line end":          good + "\n",
		"a part more":       good + "$",
	} {
		if h, err := parsePHC(text); err == nil {
			t.Errorf("%s: %q is read as %+v", name, text, h)
		}
	}
}

func FuzzPHC(f *testing.F) {
	f.Add(phcHead + "m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDdsHo18I7BuGQe1bLGBTxxivOgWaUf+9dxbsBI/3Ww")
	f.Add(phcHead + "m=8,t=1,p=1$MDEyMzQ1Njc$MDEyMzQ1Njc4OWFiY2RlZg")
	f.Add(phcHead + "m=4294967297,t=2,p=1$$")
	f.Add("$argon2id$$$")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parsePHC(text)
		if err != nil {
			return
		}
		if h.String() != text {
			t.Errorf("%q is a second spelling of %q", text, h)
		}
		if h.memory < 8 || h.memory > mostMemory || h.time < 1 || h.time > mostPasses || h.lanes < 1 || h.lanes > mostLanes || len(h.hash) > 64 {
			t.Errorf("%q costs %d KiB, %d passes, %d lanes", text, h.memory, h.time, h.lanes)
		}
	})
}
