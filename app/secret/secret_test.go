package secret

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSubkeysAreFixedAndApart(t *testing.T) {
	ring := testRing(t)
	for purpose, want := range map[string]string{
		"links":        "6ca7ff27e512700edea045460315e8f5247fc27165b9427573ba3de36d6a44e7",
		"ids/abstract": "f86c0d16005bb56f12374c11745c3366044badfd324cf2e66e4c2ea2506b7acd",
		"":             "7d1b4adb4281f49314bc804fae08195e73734f852f2fb0678884179dea13f305",
	} {
		key := ring.Subkey(purpose)
		if got := fmt.Sprintf("%x", key[:]); got != want {
			t.Errorf("subkey %q = %s, want %s", purpose, got, want)
		}
	}
	if got, want := ring.Fingerprint(), "59ebdef9022467ee"; got != want {
		t.Errorf("fingerprint = %s, want %s", got, want)
	}
	other, err := NewKeys(chance(1))
	if err != nil {
		t.Fatal(err)
	}
	if other.Fingerprint() == ring.Fingerprint() || other.Subkey("links") == ring.Subkey("links") {
		t.Error("two secrets give the same keys")
	}
}

func TestRingIsNeverPrinted(t *testing.T) {
	ring := testRing(t)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "ring", ring)
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "ring", ring)
	holder := struct{ Ring *Keys }{ring}
	out := log.String() + fmt.Sprintf("%v %+v %#v %s %x %d %q %v %+v", ring, ring, ring, ring, ring, ring, ring, holder, holder)
	for _, leak := range []string{"0123456789abcdef", fmt.Sprintf("%x", ring.secret), "48 49 50"} {
		if strings.Contains(out, leak) {
			t.Errorf("the secret shows as %q in %s", leak, out)
		}
	}
	if !strings.Contains(out, ring.Fingerprint()) {
		t.Errorf("no fingerprint in %s", out)
	}
}

func TestNothingIsMadeWithoutChance(t *testing.T) {
	if _, err := NewKeys(noChance{}); err == nil {
		t.Error("a ring without chance")
	}
	if _, err := NewAPIKey(noChance{}); err == nil {
		t.Error("an API key without chance")
	}
	if _, err := NewToken(noChance{}); err == nil {
		t.Error("a token without chance")
	}
	if _, err := NewToken(strings.NewReader("too short")); err == nil {
		t.Error("a token of nine bytes")
	}
}
