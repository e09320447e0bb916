package tiff

import (
	"bufio"
	"compress/zlib"
	"fmt"
	"io"
	"math/bits"

	"deedkeep/app/document/docio"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"
)

// twoDimensional is the flag of the T4Options tag for Group 3 with two dimensions.
const twoDimensional = 1

// block returns the place of a strip or tile. If the TIFF doesn't specify its length, it extends to
// the end of the file.
func (t *Image) block(i int) (off, n int64, err error) {
	if i >= len(t.offsets) || t.offsets[i] >= uint64(t.doc.Size()) {
		return 0, 0, docio.Damaged("block %d is outside the file", i)
	}
	off = int64(t.offsets[i])
	n = t.doc.Size() - off
	if i < len(t.counts) && t.counts[i] > 0 && t.counts[i] < uint64(n) {
		n = int64(t.counts[i])
	}
	return off, n, nil
}

// onlyStrip returns the place of the strip of an image that has no other one. ok is false if there
// are several blocks, or if the strip is outside the file.
func (t *Image) onlyStrip() (off, n int64, ok bool) {
	off, n, err := t.block(0)
	return off, n, err == nil && t.band == nil && t.blockH >= t.Height
}

// Fax returns the Group 3 or Group 4 data of a fax image that is one strip, with the first pixel in
// the highest bit. It returns nil for any other image. k is the encoding as in a PDF: negative for
// Group 4, and for Group 3, the number of its dimensions minus 1.
func (t *Image) Fax() (data io.Reader, k int) {
	off, n, ok := t.onlyStrip()
	if !ok || t.compression != compressionG3 && t.compression != compressionG4 {
		return nil, 0
	}
	k = -1
	if t.compression == compressionG3 {
		k = int(t.dir.Number(TagT4Options, 0) & twoDimensional)
	}
	data = io.NewSectionReader(t.doc, off, n)
	if t.fillOrder == 2 {
		data = bitReverser{data}
	}
	return data, k
}

// openBlock starts decoding a strip or tile with the given number of rows.
func (t *Image) openBlock(i, height int) (rows, error) {
	off, n, err := t.block(i)
	if err != nil {
		return nil, err
	}
	if t.compression == compressionJPEG {
		return t.openJPEG(off, n)
	}
	unpacked, err := t.unpack(t.doc.Section(off, n), height)
	if err != nil {
		return nil, err
	}
	samples, convert := make([]byte, (t.blockW*t.samples*t.bits+7)/8), t.pixels()
	return func(row []byte) error {
		if _, err := io.ReadFull(unpacked, samples); err != nil {
			return fmt.Errorf("%w: block %d: %w", docio.ErrDamaged, i, err)
		}
		switch t.compression {
		case compressionLZW, compressionDeflate, compressionOldDeflate:
			if t.predictor == 2 {
				t.undoPredictor(samples)
			}
		}
		convert(row, samples)
		return nil
	}, nil
}

// unpack returns a reader for the decompressed samples of a block. In CCITT data, 1 is black even if
// the photometric interpretation says otherwise, because all writers based on libtiff do this.
func (t *Image) unpack(packed *bufio.Reader, height int) (io.Reader, error) {
	order := ccitt.MSB
	if t.fillOrder == 2 {
		order = ccitt.LSB
		if !t.isFax() {
			packed = bufio.NewReader(bitReverser{packed})
		}
	}
	switch t.compression {
	case compressionRLE, compressionG3:
		mixed := t.compression == compressionG3 && t.dir.Number(TagT4Options, 0)&twoDimensional != 0
		return newFaxReader(packed, t.blockW, t.fillOrder == 2, t.compression == compressionRLE, mixed), nil
	case compressionG4:
		return ccitt.NewReader(packed, order, ccitt.Group4, t.blockW, height, &ccitt.Options{Invert: true}), nil
	case compressionLZW:
		return lzw.NewReader(packed, lzw.MSB, 8), nil
	case compressionDeflate, compressionOldDeflate:
		return zlib.NewReader(packed)
	case compressionPackBits:
		return &packBits{r: packed}, nil
	}
	return packed, nil
}

// bitReverser reverses the bits of each byte.
type bitReverser struct{ r io.Reader }

func (v bitReverser) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	for i := range p[:n] {
		p[i] = bits.Reverse8(p[i])
	}
	return n, err
}

// packBits decodes Apple's run-length encoding (TIFF 6.0, section 9). If a byte n is between 0 and
// 127, n+1 literal bytes follow. If n is between 129 and 255, the next byte is repeated 257-n
// times. 128 is ignored.
type packBits struct {
	r      *bufio.Reader
	left   int
	repeat bool
	value  byte
}

func (b *packBits) Read(p []byte) (n int, err error) {
	for b.left == 0 {
		head, err := b.r.ReadByte()
		if err != nil {
			return 0, err
		}
		b.left, b.repeat = int(head)+1, head > 128
		switch {
		case head == 128:
			b.left = 0
		case b.repeat:
			b.left = 257 - int(head)
			if b.value, err = b.r.ReadByte(); err != nil {
				return 0, err
			}
		}
	}
	p = p[:min(len(p), b.left)]
	if b.repeat {
		for i := range p {
			p[i] = b.value
		}
		n = len(p)
	} else {
		n, err = b.r.Read(p)
	}
	b.left -= n
	return n, err
}

// undoPredictor undoes horizontal differencing (TIFF 6.0, section 14).
func (t *Image) undoPredictor(b []byte) {
	if t.bits == 8 {
		for i := t.samples; i < len(b); i++ {
			b[i] += b[i-t.samples]
		}
		return
	}
	order := t.dir.Order()
	for i := 2 * t.samples; i+1 < len(b); i += 2 {
		order.PutUint16(b[i:], order.Uint16(b[i:])+order.Uint16(b[i-2*t.samples:]))
	}
}
