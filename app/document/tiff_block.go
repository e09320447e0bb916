package document

import (
	"bufio"
	"compress/zlib"
	"fmt"
	"io"
	"math/bits"

	"deedkeep/app/document/tiff"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"
)

// open starts decoding block i, which has width x height pixels.
func (t *tiffImage) open(i, width, height int) (rows, error) {
	off, n, err := t.block(i)
	if err != nil {
		return nil, err
	}
	if t.compression == tiffJPEG {
		return t.openJPEG(off, n, width)
	}
	packed, err := t.unpack(off, n, width, height)
	if err != nil {
		return nil, err
	}
	samples := make([]byte, (width*t.samples*t.bits+7)/8)
	return func(row []byte) error {
		if _, err := io.ReadFull(packed, samples); err != nil {
			return fmt.Errorf("%w: block %d: %w", ErrDamaged, i, err)
		}
		if t.predictor == 2 && (t.compression == tiffLZW || t.compression == tiffDeflate || t.compression == tiffOldDeflate) {
			t.undoPredictor(samples)
		}
		t.pixels(row, samples)
		return nil
	}, nil
}

// unpack returns a reader for the decompressed samples of a block.
func (t *tiffImage) unpack(off, n int64, width, height int) (io.Reader, error) {
	packed := t.doc.Section(off, n)
	if t.isFax() {
		return t.unpackFax(packed, width, height), nil
	}
	if t.fillOrder == 2 {
		packed = bufio.NewReader(bitReverser{packed})
	}
	switch t.compression {
	case tiffLZW:
		return lzw.NewReader(packed, lzw.MSB, 8), nil
	case tiffDeflate, tiffOldDeflate:
		return zlib.NewReader(packed)
	case tiffPackBits:
		return &packBits{r: packed}, nil
	}
	return packed, nil
}

// unpackFax returns a reader for the bits of a block. 1 is black even if the photometric
// interpretation says otherwise, because all writers based on libtiff do this.
func (t *tiffImage) unpackFax(packed *bufio.Reader, width, height int) io.Reader {
	if t.compression == tiffG4 {
		order := ccitt.MSB
		if t.fillOrder == 2 {
			order = ccitt.LSB
		}
		return ccitt.NewReader(packed, order, ccitt.Group4, width, height, &ccitt.Options{Invert: true})
	}
	const twoDimensional = 1
	mixed := t.compression == tiffG3 && t.dir.Number(tiff.TagT4Options, 0)&twoDimensional != 0
	return newFaxReader(packed, width, t.fillOrder == 2, t.compression == tiffRLE, mixed)
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
	for n < len(p) {
		for b.left == 0 {
			if err := b.next(); err != nil {
				return n, err
			}
		}
		if !b.repeat {
			if b.value, err = b.r.ReadByte(); err != nil {
				return n, err
			}
		}
		p[n] = b.value
		n++
		b.left--
	}
	return n, nil
}

// next reads the header of the next run.
func (b *packBits) next() error {
	head, err := b.r.ReadByte()
	if err != nil {
		return err
	}
	switch {
	case head < 128:
		b.left, b.repeat = int(head)+1, false
	case head > 128:
		b.left, b.repeat = 257-int(head), true
		b.value, err = b.r.ReadByte()
	}
	return err
}

// undoPredictor undoes horizontal differencing (TIFF 6.0, section 14).
func (t *tiffImage) undoPredictor(b []byte) {
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
