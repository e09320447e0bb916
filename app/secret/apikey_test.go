package secret

import (
	"bytes"
	"crypto/sha256"
	"math"
	"regexp"
	"strings"
	"testing"
)

func TestMaxBase62(t *testing.T) {
	var raw [32]byte
	for i := range raw {
		raw[i] = 0xff
	}
	if got := base62Bytes32(raw); got != maxBase62Bytes32 {
		t.Errorf("base62 of the max 32 bytes = %s, want %s", got, maxBase62Bytes32)
	}
	if got := base62Bytes32([32]byte{31: 61}); got != strings.Repeat("0", 42)+"z" {
		t.Errorf("base62 of 61 = %s, want z after 42 zeros", got)
	}
	if got := base62Uint(math.MaxUint64, 11); got != maxBase62Uint64 {
		t.Errorf("base62 of the max uint64 = %s, want %s", got, maxBase62Uint64)
	}
}

func TestAPIKey(t *testing.T) {
	form := regexp.MustCompile(`^dk_live_[0-9A-Za-z]{49}$`)
	source, seen := testRand(1), map[string]bool{}
	for range 1000 {
		key, err := NewAPIKey(source)
		if err != nil || !form.MatchString(key) || seen[key] {
			t.Fatalf("NewAPIKey = %q, %v, seen before: %v, want a new key in the right format", key, err, seen[key])
		}
		seen[key] = true
		hash, ok := HashAPIKey(key)
		if !ok || hash != sha256.Sum256([]byte(key)) {
			t.Fatalf("HashAPIKey(%q) = %x, %v, want its SHA-256", key, hash, ok)
		}
		if APIKeyPrefix(key) != key[:12] {
			t.Fatalf("APIKeyPrefix = %q, want %q", APIKeyPrefix(key), key[:12])
		}
	}
}

func TestAPIKeyVector(t *testing.T) {
	for name, row := range map[string]struct {
		raw  []byte
		want string
	}{
		"zeros":    {make([]byte, 32), "dk_live_00000000000000000000000000000000000000000001gajuW"},
		"ones":     {bytes.Repeat([]byte{0xff}, 32), "dk_live_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp14X5ffw"},
		"readable": {[]byte("0123456789abcdef0123456789abcdef"), "dk_live_BQWeEnktNXfuByH0yGsvGXEHVkgTX4eKqG7j1s9llu246tBLy"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := NewAPIKey(bytes.NewReader(row.raw)); err != nil || got != row.want {
				t.Errorf("%s: %s, %v, want %s", name, got, err, row.want)
			}
		})
	}
}

func TestHashAPIKeyRejects(t *testing.T) {
	good, err := NewAPIKey(testRand(1))
	if err != nil {
		t.Fatalf("NewAPIKey: %v", err)
	}
	tooGreat := apiKeyStart + "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp2"
	underscore := good[:20] + "_" + good[21:apiKeyBodySize]
	for name, text := range map[string]string{
		"empty":              "",
		"prefix alone":       "dk_live_",
		"another prefix":     "dk_test_" + good[8:],
		"upper-case prefix":  "DK_LIVE_" + good[8:],
		"one short":          good[:len(good)-1],
		"one long":           good + "0",
		"blank before":       " " + good,
		"blank after":        good + " ",
		"line end":           good + "\n",
		"over 256 bits":      tooGreat + apiKeyChecksum(tooGreat),
		"character, checked": underscore + apiKeyChecksum(underscore),
		"no ASCII":           good[:40] + "é" + good[42:],
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := HashAPIKey(text); ok {
				t.Errorf("%s: HashAPIKey accepted %q, want it rejected", name, text)
			}
			if APIKeyPrefix(text) != "" {
				t.Errorf("%s: APIKeyPrefix = %q, want none", name, APIKeyPrefix(text))
			}
		})
	}
	for i := range len(good) {
		for c := range 256 {
			changed := good[:i] + string([]byte{byte(c)}) + good[i+1:]
			if _, ok := HashAPIKey(changed); ok != (changed == good) {
				t.Fatalf("HashAPIKey with byte %d changed to %#x: ok = %v, want %v", i, c, ok, changed == good)
			}
		}
	}
}

func TestToken(t *testing.T) {
	token, err := NewToken(testRand(1))
	if err != nil || len(token) != 43 || !isBase62(token) {
		t.Fatalf("NewToken = %q, %v, want 43 characters of base62", token, err)
	}
	if hash, ok := HashToken(token); !ok || hash != sha256.Sum256([]byte(token)) {
		t.Errorf("HashToken = %x, %v, want its SHA-256", hash, ok)
	}
	for _, text := range []string{"", token[1:], token + "0", token[1:] + "-", "z" + token[1:]} {
		if _, ok := HashToken(text); ok {
			t.Errorf("%q is accepted, want it rejected", text)
		}
	}
}

func FuzzAPIKey(f *testing.F) {
	for seed := range byte(3) {
		key, err := NewAPIKey(testRand(seed))
		if err != nil {
			f.Fatalf("NewAPIKey: %v", err)
		}
		f.Add(key)
	}
	f.Add("dk_live_")
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok := HashAPIKey(text); ok && (len(text) != apiKeySize || apiKeyChecksum(text[:apiKeyBodySize]) != text[apiKeyBodySize:]) {
			t.Errorf("%q is accepted, want it rejected", text)
		}
		HashToken(text)
	})
}
