package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// An opaque ID is a 64-bit number that is encrypted with a keyed permutation and written
// as eleven base62 digits:
//
//	number  = left 32 bits, right 32 bits
//	ten times, round = 0…9:
//	    block = right (4 bytes, big-endian), round (1 byte), 11 zero bytes
//	    left, right = right, left XOR first 4 bytes (big-endian) of AES-256(block)
//	id      = base62 (0-9A-Za-z) of left, right as one number, with leading zeros
//
// The AES key is the subkey `ids/` + kind. The format must not change, because other
// systems store these IDs.
const idRounds = 10

// IDs converts between opaque IDs and the numbers of records of one type. It is safe for
// concurrent use.
type IDs struct {
	block cipher.Block
}

// IDs returns the converter for one record type, such as `abstract`. Each type has its
// own permutation.
func (k *Keys) IDs(kind string) *IDs {
	return &IDs{block: k.block("ids/" + kind)}
}

// Encode returns the opaque ID of n: 11 characters of 0-9A-Za-z.
func (ids *IDs) Encode(n uint64) string {
	left, right := uint32(n>>32), uint32(n)
	var block [aes.BlockSize]byte
	for round := range idRounds {
		left, right = right, left^ids.mix(block[:], right, round)
	}
	return base62Uint(uint64(left)<<32|uint64(right), len(maxBase62Uint64))
}

// Decode returns the number that Encode converted to s. ok is false if s is not a valid
// ID. An ID of another type or installation decodes to a number that almost certainly has
// no record.
func (ids *IDs) Decode(s string) (n uint64, ok bool) {
	n, ok = parseBase62Uint64(s)
	if !ok {
		return 0, false
	}
	left, right := uint32(n>>32), uint32(n)
	var block [aes.BlockSize]byte
	for round := idRounds - 1; round >= 0; round-- {
		left, right = right^ids.mix(block[:], left, round), left
	}
	return uint64(left)<<32 | uint64(right), true
}

// mix is the round function. block is a buffer shared by all rounds.
func (ids *IDs) mix(block []byte, half uint32, round int) uint32 {
	clear(block)
	binary.BigEndian.PutUint32(block, half)
	block[4] = byte(round)
	ids.block.Encrypt(block, block)
	return binary.BigEndian.Uint32(block)
}
