// Package secret holds what is made of the installation's one secret, and what is secret by itself: the key file and
// its subkeys, API keys, opaque ids, signed download links, random tokens, passwords, second factors, sealed texts.
//
// It promises that every format drawn here stays readable (fixed vectors in the tests hold it to that), that each
// text it accepts has exactly one accepted spelling (but the codes that people type), and that purposes cannot be confused: each has a subkey of its own.
//
// It refuses to create randomness (chance is handed in), to read a clock, to store or to log anything, and to show a
// secret through fmt or slog.
package secret

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// KeySize is the length in bytes of the installation's secret and of every subkey.
const KeySize = 32

var errShortSecret = errors.New("the secret has not 32 bytes")

// Keys derives every subkey of one installation from its secret; it is safe for concurrent use and never changes.
type Keys struct {
	secret [KeySize]byte
}

// NewKeys makes a ring of a fresh 32-byte secret read from chance; it keeps nothing on disk.
func NewKeys(chance io.Reader) (*Keys, error) {
	ring := new(Keys)
	if _, err := io.ReadFull(chance, ring.secret[:]); err != nil {
		return nil, fmt.Errorf("draw a secret: %w", err)
	}
	return ring, nil
}

func ringOf(secret []byte) (*Keys, error) {
	if len(secret) != KeySize {
		return nil, errShortSecret
	}
	return &Keys{secret: [KeySize]byte(secret)}, nil
}

// Subkey is the 32-byte key for one purpose: HKDF-SHA256 (RFC 5869) of the secret without salt, info
// `deedkeep/1/` + purpose. The same purpose always gives the same key; purposes say nothing about each other.
func (r *Keys) Subkey(purpose string) [KeySize]byte {
	key, err := hkdf.Key(sha256.New, r.secret[:], nil, "deedkeep/1/"+purpose, KeySize)
	if err != nil {
		// The only errors are a length beyond 255 hashes and a secret too short for FIPS mode; both are constants here.
		panic(err)
	}
	return [KeySize]byte(key)
}

// Fingerprint names the secret in 16 lower-case hex digits without telling anything about it: kept beside the data,
// it shows when the key file was exchanged.
func (r *Keys) Fingerprint() string {
	key := r.Subkey("fingerprint")
	return hex.EncodeToString(key[:8])
}

// Format prints the fingerprint for every verb, so that no %+v of a struct shows the secret.
func (r *Keys) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, "secret "+r.Fingerprint()) // fmt.State keeps no error.
}

// LogValue gives slog the fingerprint instead of the secret.
func (r *Keys) LogValue() slog.Value { return slog.StringValue("secret " + r.Fingerprint()) }
