package blobstore

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is the SHA-256 of a blob's content, and its name.
type Digest [32]byte

// ParseDigest reads 64 lower-case hex digits; one digest has one spelling.
func ParseDigest(text string) (Digest, error) {
	var d Digest
	if len(text) != 2*len(d) || strings.ToLower(text) != text {
		return Digest{}, fmt.Errorf("parse digest %.80q: want 64 lower-case hex digits", text)
	}
	if _, err := hex.Decode(d[:], []byte(text)); err != nil {
		return Digest{}, fmt.Errorf("parse digest %q: %w", text, err)
	}
	return d, nil
}

// String is the digest as 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText is String for encoders.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText is ParseDigest for decoders.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
