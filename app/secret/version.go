package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// A version tag is the state of one record, for an ETag (RFC 9110, section 8.8.3):
//
//	tag = base64url without padding (22 characters) of AES-256(number (8 bytes), version (8 bytes), big-endian)
//
// The key is the subkey `versions/` + kind. Nobody can count changes by it, or tell that two tags are of one record.
const tagSize = aes.BlockSize

// VersionTags turns the versions of one kind of record into tags and back; safe for concurrent use.
type VersionTags struct {
	block cipher.Block
}

// VersionTags gives the tags of one kind of record, such as `abstract`.
func (r *Keys) VersionTags(kind string) *VersionTags {
	key := r.Subkey("versions/" + kind)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // The only error is the length of the key.
	}
	return &VersionTags{block: block}
}

// Encode gives the tag of a record in a version, without quotes.
func (v *VersionTags) Encode(id, version uint64) string {
	var b [tagSize]byte
	binary.BigEndian.PutUint64(b[:8], id)
	binary.BigEndian.PutUint64(b[8:], version)
	v.block.Encrypt(b[:], b[:])
	return urlCoding.EncodeToString(b[:])
}

// Decode gives the version of that record of which Tag made the text; ok is false for every other text, such as the
// tag of another record.
func (v *VersionTags) Decode(id uint64, tag string) (version uint64, ok bool) {
	raw, ok := decodeURL(tag)
	if !ok || len(raw) != tagSize {
		return 0, false
	}
	v.block.Decrypt(raw, raw)
	return binary.BigEndian.Uint64(raw[8:]), binary.BigEndian.Uint64(raw[:8]) == id
}
