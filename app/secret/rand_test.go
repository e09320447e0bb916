package secret

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// testRand returns a reader of random bytes that are reproducible for a seed.
func testRand(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

var errRand = errors.New("no rand left")

type failingRand struct{}

func (failingRand) Read([]byte) (int, error) { return 0, errRand }

func testKeys(t testing.TB) *Keys {
	t.Helper()
	keys, err := NewKeys(bytes.NewReader([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	return keys
}
