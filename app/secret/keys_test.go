package secret

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSubkeyVectors(t *testing.T) {
	keys := testKeys(t)
	for purpose, want := range map[string]string{
		"links":        "6ca7ff27e512700edea045460315e8f5247fc27165b9427573ba3de36d6a44e7",
		"ids/abstract": "f86c0d16005bb56f12374c11745c3366044badfd324cf2e66e4c2ea2506b7acd",
		"":             "7d1b4adb4281f49314bc804fae08195e73734f852f2fb0678884179dea13f305",
	} {
		key := keys.Subkey(purpose)
		if got := fmt.Sprintf("%x", key[:]); got != want {
			t.Errorf("subkey %q = %s, want %s", purpose, got, want)
		}
	}
	if got, want := keys.Fingerprint(), "59ebdef9022467ee"; got != want {
		t.Errorf("fingerprint = %s, want %s", got, want)
	}
	other, err := NewKeys(testRand(1))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	if other.Fingerprint() == keys.Fingerprint() || other.Subkey("links") == keys.Subkey("links") {
		t.Error("two secrets have the same fingerprint or subkey, want different ones")
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	keys := testKeys(t)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "keys", keys)
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "keys", keys)
	holder := struct{ Ring *Keys }{keys}
	out := log.String() + fmt.Sprintf("%v %+v %#v %s %x %d %q %v %+v", keys, keys, keys, keys, keys, keys, keys, holder, holder)
	for _, leak := range []string{"0123456789abcdef", fmt.Sprintf("%x", keys.secret), "48 49 50"} {
		if strings.Contains(out, leak) {
			t.Errorf("output has the secret as %q, want none: %s", leak, out)
		}
	}
	if !strings.Contains(out, keys.Fingerprint()) {
		t.Errorf("output = %s, want the fingerprint in it", out)
	}
}

func TestErrorsOfRandAreReturned(t *testing.T) {
	if _, err := NewKeys(failingRand{}); err == nil {
		t.Error("NewKeys with a failing rand: got no error")
	}
	if _, err := NewAPIKey(failingRand{}); err == nil {
		t.Error("NewAPIKey with a failing rand: got no error")
	}
	if _, err := NewToken(failingRand{}); err == nil {
		t.Error("NewToken with a failing rand: got no error")
	}
	if _, err := NewToken(strings.NewReader("too short")); err == nil {
		t.Error("NewToken with nine bytes: got no error")
	}
}
