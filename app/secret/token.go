package secret

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// NewToken creates a token from 32 bytes of rand, for sessions and one-time links. It has
// 43 characters of 0-9A-Za-z. Only its hash (HashToken) is stored.
func NewToken(rand io.Reader) (string, error) {
	var raw [32]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		return "", fmt.Errorf("generate token: %w", err)
	}
	return base62Bytes32(raw), nil
}

// HashToken returns the SHA-256 of a token. ok is false if NewToken can't have created
// the token.
func HashToken(token string) (hash [32]byte, ok bool) {
	if len(token) != len(maxBase62Bytes32) || token > maxBase62Bytes32 || !isBase62(token) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
