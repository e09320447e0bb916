// Package secret derives keys from an installation's secret. It also creates and verifies
// credentials and similar texts: the key file, API keys, opaque IDs, signed download
// links, cursors, tokens, passwords, two-factor authentication, and encrypted texts.
//
// Every format described here must remain readable. The tests check it with fixed
// vectors. Every text has exactly one valid form, except codes that users type. Each
// purpose has its own subkey, so a text created for one purpose is invalid for any other
// purpose.
//
// The package doesn't generate random numbers (callers pass rand), read the clock, or
// store or log anything. fmt and slog never print a secret.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
)

// KeySize is the size in bytes of the secret and of every subkey.
const KeySize = 32

// Keys derives the subkeys of an installation from its secret. It is immutable and safe
// for concurrent use.
type Keys struct {
	secret [KeySize]byte
}

// NewKeys creates a Keys with a new secret of 32 bytes from rand. It doesn't write to
// disk.
func NewKeys(rand io.Reader) (*Keys, error) {
	keys := new(Keys)
	if _, err := io.ReadFull(rand, keys.secret[:]); err != nil {
		return nil, fmt.Errorf("generate secret: %w", err)
	}
	return keys, nil
}

// Subkey returns the 32-byte key for a purpose: HKDF-SHA256 (RFC 5869) of the secret,
// without salt, and with info `deedkeep/1/` + purpose. The key for a purpose is always
// the same. Keys for different purposes are independent.
func (k *Keys) Subkey(purpose string) [KeySize]byte {
	key, err := hkdf.Key(sha256.New, k.secret[:], nil, "deedkeep/1/"+purpose, KeySize)
	if err != nil {
		// It fails only for invalid sizes, and all sizes here are constants.
		panic(err)
	}
	return [KeySize]byte(key)
}

// block returns the AES-256 cipher with the key for a purpose.
func (k *Keys) block(purpose string) cipher.Block {
	key := k.Subkey(purpose)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // fails only for an invalid key size
	}
	return block
}

// gcm returns AES-256-GCM with the key for a purpose.
func (k *Keys) gcm(purpose string) cipher.AEAD {
	gcm, err := cipher.NewGCM(k.block(purpose))
	if err != nil {
		panic(err) // fails only for a wrong block size
	}
	return gcm
}

// Fingerprint returns 16 lower-case hex digits that identify the secret without revealing
// it. They are stored with the data to detect a replaced key file.
func (k *Keys) Fingerprint() string {
	key := k.Subkey("fingerprint")
	return hex.EncodeToString(key[:8])
}

// Format implements fmt.Formatter. It prints the fingerprint for every verb, so the
// secret is never printed, even if a struct is printed with %+v.
func (k *Keys) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, "secret "+k.Fingerprint()) // fmt.State ignores errors
}

// LogValue implements slog.LogValuer. It returns the fingerprint.
func (k *Keys) LogValue() slog.Value { return slog.StringValue("secret " + k.Fingerprint()) }
