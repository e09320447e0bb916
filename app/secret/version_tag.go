package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// A version tag identifies a version of a record in an ETag (RFC 9110, section 8.8.3):
//
//	tag = base64url without padding (22 characters) of AES-256(number (8 bytes), version (8 bytes), big-endian)
//
// The key is the subkey `versions/` + kind. Clients can't use tags to count changes, or
// find out whether two tags belong to the same record.
const tagSize = aes.BlockSize

// VersionTags converts between tags and the versions of records of one type. It is safe
// for concurrent use.
type VersionTags struct {
	block cipher.Block
}

// VersionTags returns the converter for one record type, such as `abstract`.
func (k *Keys) VersionTags(kind string) *VersionTags {
	return &VersionTags{block: k.block("versions/" + kind)}
}

// Encode returns the tag for a version of a record, without quotes.
func (v *VersionTags) Encode(id, version uint64) string {
	var b [tagSize]byte
	binary.BigEndian.PutUint64(b[:8], id)
	binary.BigEndian.PutUint64(b[8:], version)
	v.block.Encrypt(b[:], b[:])
	return base64URL.EncodeToString(b[:])
}

// Decode returns the version for which Encode created the tag. ok is false for any other
// text, such as the tag of another record.
func (v *VersionTags) Decode(id uint64, tag string) (version uint64, ok bool) {
	raw, ok := decodeBase64URL(tag)
	if !ok || len(raw) != tagSize {
		return 0, false
	}
	v.block.Decrypt(raw, raw)
	return binary.BigEndian.Uint64(raw[8:]), binary.BigEndian.Uint64(raw[:8]) == id
}
