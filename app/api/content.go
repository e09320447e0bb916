package api

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"deedkeep/app/decode"
)

// content is the digest of what a request says, however it is put: the bytes of
// JSON, the pairs or parts of a form in their order, whatever the boundary. It is
// the SHA-256 of
//
//	J length bytes                                      JSON
//	P length name length value                          each pair
//	M length name, N | F length filename, SHA-256       each part: no filename, or one; then its content
//
// with lengths of eight bytes, big-endian. nil digests nothing.
type content struct{ all hash.Hash }

func newContent() *content { return &content{sha256.New()} }

// sum is the digest of what was read so far, in lower-case hex.
func (d *content) sum() string { return hex.EncodeToString(d.all.Sum(nil)) }

func (d *content) json(raw []byte) {
	if d != nil {
		frame(d.all, 'J', raw)
	}
}

func (d *content) pairs(pairs []decode.Pair) {
	if d == nil {
		return
	}
	for _, p := range pairs {
		frame(d.all, 'P', p.Name)
		frame(d.all, 0, p.Value)
	}
}

// frame adds a text with its length, after a mark where there is one.
func frame[T string | []byte](h hash.Hash, mark byte, text T) {
	head := make([]byte, 0, 9)
	if mark != 0 {
		head = append(head, mark)
	}
	h.Write(binary.BigEndian.AppendUint64(head, uint64(len(text))))
	h.Write([]byte(text))
}

// sentPart is a part whose content is digested as it is read, by whoever reads it.
type sentPart struct {
	*decode.Part
	of  *content
	sum hash.Hash
}

func (d *content) part(p *decode.Part) *sentPart {
	if d == nil {
		return &sentPart{Part: p}
	}
	frame(d.all, 'M', p.Name)
	if p.HasFilename {
		frame(d.all, 'F', p.Filename)
	} else {
		d.all.Write([]byte{'N'})
	}
	return &sentPart{Part: p, of: d, sum: sha256.New()}
}

// Chunk is that of the part.
func (p *sentPart) Chunk() ([]byte, error) {
	b, err := p.Part.Chunk()
	p.note(b)
	return b, err
}

// Read is that of the part.
func (p *sentPart) Read(b []byte) (int, error) {
	n, err := p.Part.Read(b)
	p.note(b[:n])
	return n, err
}

// WriteTo is that of the part.
func (p *sentPart) WriteTo(w io.Writer) (int64, error) {
	if p.sum != nil {
		w = io.MultiWriter(p.sum, w)
	}
	return p.Part.WriteTo(w)
}

func (p *sentPart) note(b []byte) {
	if p.sum != nil {
		p.sum.Write(b)
	}
}

// end reads what nobody wanted and adds the part to the content.
func (p *sentPart) end() error {
	if p.sum == nil {
		return nil // the next part skips what is left
	}
	if _, err := p.WriteTo(io.Discard); err != nil {
		return err
	}
	p.of.all.Write(p.sum.Sum(nil))
	return nil
}
