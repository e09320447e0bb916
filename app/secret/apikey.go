package secret

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// An API key has 57 characters:
//
//	dk_live_ <43 characters> <6 characters>        (without the spaces)
//	|        |               CRC-32 (IEEE) of the preceding characters, base62 with leading zeros
//	|        32 random bytes as one big-endian number, base62 with leading zeros
//	prefix for scanners that search for leaked keys
//
// The base62 digits are 0-9A-Za-z, in this order.
const (
	apiKeyStart        = "dk_live_"
	apiKeyBodySize     = len(apiKeyStart) + len(maxBase62Bytes32)
	apiKeyChecksumSize = 6
	apiKeySize         = apiKeyBodySize + apiKeyChecksumSize
	apiKeyPrefixSize   = len(apiKeyStart) + 4
)

// NewAPIKey creates an API key from 32 bytes of rand. The key is shown once, and only its
// hash (HashAPIKey) is stored.
func NewAPIKey(rand io.Reader) (key string, err error) {
	var raw [32]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		return "", fmt.Errorf("generate API key: %w", err)
	}
	body := apiKeyStart + base62Bytes32(raw)
	return body + apiKeyChecksum(body), nil
}

func apiKeyChecksum(body string) string {
	return base62Uint(uint64(crc32.ChecksumIEEE([]byte(body))), apiKeyChecksumSize)
}

// HashAPIKey returns the SHA-256 of an API key, which is stored and used for lookups. ok
// is false if NewAPIKey can't have created s, judging by its prefix, length, characters,
// and checksum. This way, a mistyped key doesn't need a lookup.
func HashAPIKey(s string) (hash [32]byte, ok bool) {
	if len(s) != apiKeySize || !strings.HasPrefix(s, apiKeyStart) || !isBase62(s[len(apiKeyStart):]) {
		return hash, false
	}
	body := s[:apiKeyBodySize]
	if body[len(apiKeyStart):] > maxBase62Bytes32 || s[apiKeyBodySize:] != apiKeyChecksum(body) {
		return hash, false
	}
	return sha256.Sum256([]byte(s)), true
}

// APIKeyPrefix returns the part of a key that may be displayed: `dk_live_` and four
// characters. It returns "" for an invalid key.
func APIKeyPrefix(key string) string {
	if _, ok := HashAPIKey(key); !ok {
		return ""
	}
	return key[:apiKeyPrefixSize]
}
