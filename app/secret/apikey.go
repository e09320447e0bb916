package secret

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// An API key (API.md, "Keys") is 57 characters:
//
//	dk_live_ <43 characters> <6 characters>        (without the blanks)
//	|        |               CRC-32 (IEEE) of what stands before it, base62 with zeros in front
//	|        32 random bytes as one big-endian number, base62 with zeros in front
//	what scanners for leaked keys look for
//
// base62 has the digits 0-9A-Za-z in this order.
const (
	apiKeyHead  = "dk_live_"
	apiKeyBody  = len(apiKeyHead) + len(maxBase62Bytes32)
	apiKeyCheck = 6
	apiKeySize  = apiKeyBody + apiKeyCheck
	apiKeyShown = len(apiKeyHead) + 4
)

// NewAPIKey makes a key from 32 bytes of chance; it is shown once, and only HashAPIKey's hash of it is kept.
func NewAPIKey(chance io.Reader) (key string, err error) {
	var raw [32]byte
	if _, err := io.ReadFull(chance, raw[:]); err != nil {
		return "", fmt.Errorf("draw an API key: %w", err)
	}
	body := apiKeyHead + base62Bytes32(raw)
	return body + apiKeyChecksum(body), nil
}

func apiKeyChecksum(body string) string {
	return base62Uint(uint64(crc32.ChecksumIEEE([]byte(body))), apiKeyCheck)
}

// HashAPIKey gives the SHA-256 of the whole key, which is what is stored and looked up; ok is false for a text that
// NewAPIKey cannot have made (prefix, length, characters, checksum), so that a typing mistake costs no look-up.
func HashAPIKey(s string) (hash [32]byte, ok bool) {
	if len(s) != apiKeySize || !strings.HasPrefix(s, apiKeyHead) || !isBase62(s[len(apiKeyHead):]) {
		return hash, false
	}
	body := s[:apiKeyBody]
	if body[len(apiKeyHead):] > maxBase62Bytes32 || s[apiKeyBody:] != apiKeyChecksum(body) {
		return hash, false
	}
	return sha256.Sum256([]byte(s)), true
}

// APIKeyPrefix is the part of a key that may be shown in lists, `dk_live_` and four characters; empty for what is no key.
func APIKeyPrefix(key string) string {
	if _, ok := HashAPIKey(key); !ok {
		return ""
	}
	return key[:apiKeyShown]
}
