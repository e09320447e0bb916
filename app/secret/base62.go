package secret

import (
	"math/big"
	"strings"
)

// base62Digits are in ASCII order, so encoded numbers of equal length sort like the
// numbers.
const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// The largest 256-bit number and the largest 64-bit number.
const (
	maxBase62Bytes32 = "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"
	maxBase62Uint64  = "LygHa16AHYF"
)

// base62Bytes32 encodes 32 bytes as one big-endian number with 43 digits.
func base62Bytes32(raw [32]byte) string {
	var text [len(maxBase62Bytes32)]byte
	number, digit, base := new(big.Int).SetBytes(raw[:]), new(big.Int), big.NewInt(int64(len(base62Digits)))
	for i := len(text) - 1; i >= 0; i-- {
		number.DivMod(number, base, digit)
		text[i] = base62Digits[digit.Int64()]
	}
	return string(text[:])
}

// base62Uint encodes n as width digits, with leading zeros. The number must fit, and width must
// not be more than the number of digits of the largest number.
func base62Uint(n uint64, width int) string {
	text := make([]byte, len(maxBase62Uint64))[:width]
	for i := width - 1; i >= 0; i-- {
		text[i] = base62Digits[n%62]
		n /= 62
	}
	return string(text)
}

// parseBase62Uint64 parses a number of eleven digits. ok is false for any other text and
// for numbers of more than 64 bits.
func parseBase62Uint64(text string) (n uint64, ok bool) {
	if len(text) != len(maxBase62Uint64) || text > maxBase62Uint64 {
		return 0, false
	}
	for i := range len(text) {
		digit := strings.IndexByte(base62Digits, text[i])
		if digit < 0 {
			return 0, false
		}
		n = n*62 + uint64(digit)
	}
	return n, true
}

func isBase62(text string) bool {
	return strings.Trim(text, base62Digits) == ""
}
