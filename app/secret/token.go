package secret

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// NewToken makes an unguessable text of 43 characters 0-9A-Za-z from 32 bytes of chance, for sessions and one-time
// links; only HashToken of it is kept.
func NewToken(chance io.Reader) (string, error) {
	var raw [32]byte
	if _, err := io.ReadFull(chance, raw[:]); err != nil {
		return "", fmt.Errorf("draw a token: %w", err)
	}
	return base62Bytes32(raw), nil
}

// HashToken is the SHA-256 of a token that NewToken can have made; ok is false for any other text.
func HashToken(token string) (hash [32]byte, ok bool) {
	if len(token) != len(maxBase62Bytes32) || token > maxBase62Bytes32 || !isBase62(token) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
