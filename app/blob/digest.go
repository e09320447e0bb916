package blob

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is the SHA-256 of a blob's content.
type Digest [32]byte

// ParseDigest parses 64 lower-case hex digits. It returns an error for any other text,
// including upper-case digits.
func ParseDigest(text string) (Digest, error) {
	var d Digest
	if len(text) != 2*len(d) || strings.ToLower(text) != text {
		return Digest{}, fmt.Errorf("parse digest %.80q: must be 64 lowercase hexadecimal digits", text)
	}
	if _, err := hex.Decode(d[:], []byte(text)); err != nil {
		return Digest{}, fmt.Errorf("parse digest %q: %w", text, err)
	}
	return d, nil
}

// String returns the digest as 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
