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

// digestedPart is a part of a multipart body. It hashes its content as the content is read.
type digestedPart struct {
	*decode.Part
	parent *contentDigest
	sum    hash.Hash
}

func (d *contentDigest) part(p *decode.Part) *digestedPart {
	if d == nil {
		return &digestedPart{Part: p}
	}
	frame(d.hash, 'M', p.Name)
	if p.HasFilename {
		frame(d.hash, 'F', p.Filename)
	} else {
		d.hash.Write([]byte{'N'})
	}
	return &digestedPart{Part: p, parent: d, sum: sha256.New()}
}

// Chunk returns the next chunk of the part, like decode.Part.Chunk, and hashes it.
func (p *digestedPart) Chunk() ([]byte, error) {
	b, err := p.Part.Chunk()
	p.update(b)
	return b, err
}

// Read implements io.Reader and hashes the bytes it reads.
func (p *digestedPart) Read(b []byte) (int, error) {
	n, err := p.Part.Read(b)
	p.update(b[:n])
	return n, err
}

// WriteTo implements io.WriterTo and hashes the bytes it writes.
func (p *digestedPart) WriteTo(w io.Writer) (int64, error) {
	if p.sum != nil {
		w = io.MultiWriter(p.sum, w)
	}
	return p.Part.WriteTo(w)
}

func (p *digestedPart) update(b []byte) {
	if p.sum != nil {
		p.sum.Write(b)
	}
}

// end reads the rest of the part and adds the part's hash to the digest of the body.
func (p *digestedPart) end() error {
	if p.sum == nil {
		return nil // the multipart reader skips the rest of the part
	}
	if _, err := p.WriteTo(io.Discard); err != nil {
		return err
	}
	p.parent.hash.Write(p.sum.Sum(nil))
	return nil
}
