// Package secret derives keys from the secret of an installation, and creates and
// verifies credentials: the key file, API keys, opaque IDs, signed download links,
// cursors, tokens, passwords, two-factor authentication, and encrypted texts.
//
// Every format described here stays readable; the tests check it with fixed vectors.
// Every text has exactly one accepted spelling, except codes that people type. Each
// purpose has its own subkey, so texts of one purpose are invalid for another.
//
// The package doesn't generate randomness (callers pass rand), read the clock, store, or
// log anything. fmt and slog never print a secret.
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

// KeySize is the size in bytes of the secret and of every subkey.
const KeySize = 32

var errShortSecret = errors.New("the secret has not 32 bytes")

// Keys derives the subkeys of one installation from its secret. It is immutable and safe
// for concurrent use.
type Keys struct {
	secret [KeySize]byte
}

// NewKeys creates keys from a new secret of 32 bytes read from rand. It stores nothing on
// disk.
func NewKeys(rand io.Reader) (*Keys, error) {
	keys := new(Keys)
	if _, err := io.ReadFull(rand, keys.secret[:]); err != nil {
		return nil, fmt.Errorf("draw a secret: %w", err)
	}
	return keys, nil
}

func keysFromSecret(secret []byte) (*Keys, error) {
	if len(secret) != KeySize {
		return nil, errShortSecret
	}
	return &Keys{secret: [KeySize]byte(secret)}, nil
}

// Subkey returns the 32-byte key for a purpose: HKDF-SHA256 (RFC 5869) of the secret,
// without salt, with info `deedkeep/1/` + purpose. A purpose always has the same key, and
// keys of different purposes are independent.
func (k *Keys) Subkey(purpose string) [KeySize]byte {
	key, err := hkdf.Key(sha256.New, k.secret[:], nil, "deedkeep/1/"+purpose, KeySize)
	if err != nil {
		// It fails only for invalid sizes, and the sizes are constants here.
		panic(err)
	}
	return [KeySize]byte(key)
}

// Fingerprint returns an identifier of the secret, 16 lower-case hex digits, that doesn't
// reveal it. It is stored with the data to detect a replaced key file.
func (k *Keys) Fingerprint() string {
	key := k.Subkey("fingerprint")
	return hex.EncodeToString(key[:8])
}

// Format implements fmt.Formatter. It prints the fingerprint for every verb, so that %+v
// of a struct never prints the secret.
func (k *Keys) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, "secret "+k.Fingerprint()) // fmt.State ignores errors
}

// LogValue implements slog.LogValuer with the fingerprint.
func (k *Keys) LogValue() slog.Value { return slog.StringValue("secret " + k.Fingerprint()) }
