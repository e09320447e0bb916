package api

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"deedkeep/app/decode"
)

// contentDigest hashes the content of a request body. The hash does not depend on the
// encoding of the body, such as the multipart boundary. It covers the bytes of a JSON body,
// or the fields of a form in order. It is the SHA-256 of
//
//	J length bytes                                      JSON
//	P length name length value                          each pair
//	M length name, N | F length filename, SHA-256       each part: N without, F with a filename; then the hash of its content
//
// All lengths are 8 bytes, big-endian. The methods of a nil contentDigest do nothing.
type contentDigest struct{ hash hash.Hash }

func newContentDigest() *contentDigest { return &contentDigest{sha256.New()} }

// sum returns the digest of the content added so far, in lowercase hex.
func (d *contentDigest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

func (d *contentDigest) json(raw []byte) {
	if d != nil {
		frame(d.hash, 'J', raw)
	}
}

func (d *contentDigest) pairs(pairs []decode.Pair) {
	if d == nil {
		return
	}
	for _, p := range pairs {
		frame(d.hash, 'P', p.Name)
		frame(d.hash, 0, p.Value)
	}
}

// frame writes mark (unless it is 0), the length of text, and text to h.
func frame[T string | []byte](h hash.Hash, mark byte, text T) {
	head := make([]byte, 0, 9)
	if mark != 0 {
		head = append(head, mark)
	}
	h.Write(binary.BigEndian.AppendUint64(head, uint64(len(text))))
	h.Write([]byte(text))
}

// part adds the header of a part and hashes its content as it is read. The returned function reads the rest of the
// part and adds the hash.
func (d *contentDigest) part(p *decode.Part) (end func() error) {
	if d == nil {
		return func() error { return nil }
	}
	frame(d.hash, 'M', p.Name)
	if p.HasFilename {
		frame(d.hash, 'F', p.Filename)
	} else {
		d.hash.Write([]byte{'N'})
	}
	sum := sha256.New()
	p.Copy = sum
	return func() error {
		_, err := p.WriteTo(io.Discard)
		d.hash.Write(sum.Sum(nil))
		return err
	}
}
