package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// An opaque id is a number of 64 bits behind a keyed permutation, as eleven base62 digits:
//
//	number  = left 32 bits, right 32 bits
//	ten times, round = 0…9:
//	    block = right (4 bytes, big-endian), round (1 byte), 11 zero bytes
//	    left, right = right, left XOR first 4 bytes (big-endian) of AES-256(block)
//	id      = base62 (0-9A-Za-z) of left, right as one number, zeros in front
//
// The AES key is the subkey `ids/` + kind. This is a promise: ids stand in other people's systems.
const idRounds = 10

// IDs turns the numbers of one kind of record into opaque ids and back; safe for concurrent use.
type IDs struct {
	block cipher.Block
}

// IDs gives the permutation for one kind of record, such as `abstract`: an id of one kind is not one of another.
func (r *Keys) IDs(kind string) *IDs {
	key := r.Subkey("ids/" + kind)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // The only error is the length of the key.
	}
	return &IDs{block: block}
}

// Encode gives the one id of n: exactly 11 characters of 0-9A-Za-z (API.md, "ids").
func (ids *IDs) Encode(n uint64) string {
	left, right := uint32(n>>32), uint32(n)
	var block [aes.BlockSize]byte
	for round := range idRounds {
		left, right = right, left^ids.mix(block[:], right, round)
	}
	return base62Uint(uint64(left)<<32|uint64(right), len(maxBase62Uint64))
}

// Decode gives the number that Encode made s from; ok is false for every text that is no id at all. An id of another
// kind or installation decodes to a number that no record has.
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

// mix is the round function; block is room to work in, so that all rounds share one.
func (ids *IDs) mix(block []byte, half uint32, round int) uint32 {
	clear(block)
	binary.BigEndian.PutUint32(block, half)
	block[4] = byte(round)
	ids.block.Encrypt(block, block)
	return binary.BigEndian.Uint32(block)
}
