package secret

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// chance is reproducible: the same seed gives the same bytes.
func chance(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

var errNoChance = errors.New("no chance left")

type noChance struct{}

func (noChance) Read([]byte) (int, error) { return 0, errNoChance }

func testRing(t testing.TB) *Keys {
	t.Helper()
	ring, err := NewKeys(bytes.NewReader([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}
