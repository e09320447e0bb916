package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// An opaque ID is a 64-bit number after a keyed permutation, as eleven base62 digits:
//
//	number  = left 32 bits, right 32 bits
//	ten times, round = 0…9:
//	    block = right (4 bytes, big-endian), round (1 byte), 11 zero bytes
//	    left, right = right, left XOR first 4 bytes (big-endian) of AES-256(block)
//	id      = base62 (0-9A-Za-z) of left, right as one number, with leading zeros
//
// The AES key is the subkey `ids/` + kind. The format must not change, because other
// systems store IDs.
const idRounds = 10

// IDs converts between the numbers of one type of record and opaque IDs. It is safe for
// concurrent use.
type IDs struct {
	block cipher.Block
}

// IDs returns the IDs of one type of record, such as `abstract`. Each type has a
// permutation of its own.
func (k *Keys) IDs(kind string) *IDs {
	key := k.Subkey("ids/" + kind)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // fails only for an invalid key size
	}
	return &IDs{block: block}
}

// Encode returns the ID of n, 11 characters of 0-9A-Za-z.
func (ids *IDs) Encode(n uint64) string {
	left, right := uint32(n>>32), uint32(n)
	var block [aes.BlockSize]byte
	for round := range idRounds {
		left, right = right, left^ids.mix(block[:], right, round)
	}
	return base62Uint(uint64(left)<<32|uint64(right), len(maxBase62Uint64))
}

// Decode returns the number from which Encode created s. ok is false for an invalid text.
// An ID of another type or installation decodes to a number without a record.
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

// mix is the round function. block is a buffer that all rounds share.
func (ids *IDs) mix(block []byte, half uint32, round int) uint32 {
	clear(block)
	binary.BigEndian.PutUint32(block, half)
	block[4] = byte(round)
	ids.block.Encrypt(block, block)
	return binary.BigEndian.Uint32(block)
}
