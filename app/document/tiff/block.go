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
func (im *Image) block(i int) (off, n int64, err error) {
	if i >= len(im.offsets) || im.offsets[i] >= uint64(im.doc.Size()) {
		return 0, 0, docio.Damaged("block %d is outside the file", i)
	}
	off = int64(im.offsets[i])
	n = im.doc.Size() - off
	if i < len(im.counts) && im.counts[i] > 0 && im.counts[i] < uint64(n) {
		n = int64(im.counts[i])
	}
	return off, n, nil
}

// onlyStrip returns the place of the strip of an image that has no other one. ok is false if there
// are several blocks, or if the strip is outside the file.
func (im *Image) onlyStrip() (off, n int64, ok bool) {
	off, n, err := im.block(0)
	return off, n, err == nil && im.band == nil && im.blockH >= im.Height
}

// Fax returns the Group 3 or Group 4 data of a fax image that is one strip, with the first pixel in
// the highest bit. It returns nil for any other image. k is the encoding as in a PDF: negative for
// Group 4, and for Group 3, the number of its dimensions minus 1.
func (im *Image) Fax() (data io.Reader, k int) {
	off, n, ok := im.onlyStrip()
	if !ok || im.compression != compressionG3 && im.compression != compressionG4 {
		return nil, 0
	}
	k = -1
	if im.compression == compressionG3 {
		k = int(im.dir.Number(TagT4Options, 0) & twoDimensional)
	}
	data = io.NewSectionReader(im.doc, off, n)
	if im.fillOrder == 2 {
		data = bitReverser{data}
	}
	return data, k
}

// openBlock starts decoding a strip or tile with the given number of rows.
func (im *Image) openBlock(i, height int) (rows, error) {
	off, n, err := im.block(i)
	if err != nil {
		return nil, err
	}
	if im.compression == compressionJPEG {
		return im.openJPEG(off, n)
	}
	unpacked, err := im.unpack(im.doc.Section(off, n), height)
	if err != nil {
		return nil, err
	}
	samples, convert := make([]byte, (im.blockW*im.samples*im.bits+7)/8), im.pixels()
	return func(row []byte) error {
		if _, err := io.ReadFull(unpacked, samples); err != nil {
			return fmt.Errorf("%w: block %d: %w", docio.ErrDamaged, i, err)
		}
		switch im.compression {
		case compressionLZW, compressionDeflate, compressionOldDeflate:
			if im.predictor == 2 {
				im.undoPredictor(samples)
			}
		}
		convert(row, samples)
		return nil
	}, nil
}

// unpack returns a reader for the decompressed samples of a block. In CCITT data, 1 is black even if
// the photometric interpretation says otherwise, because all writers based on libtiff do this.
func (im *Image) unpack(packed *bufio.Reader, height int) (io.Reader, error) {
	order := ccitt.MSB
	if im.fillOrder == 2 {
		order = ccitt.LSB
		if !im.isFax() {
			packed = bufio.NewReader(bitReverser{packed})
		}
	}
	switch im.compression {
	case compressionRLE, compressionG3:
		mixed := im.compression == compressionG3 && im.dir.Number(TagT4Options, 0)&twoDimensional != 0
		return newFaxReader(packed, im.blockW, im.fillOrder == 2, im.compression == compressionRLE, mixed), nil
	case compressionG4:
		return ccitt.NewReader(packed, order, ccitt.Group4, im.blockW, height, &ccitt.Options{Invert: true}), nil
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

func (b bitReverser) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
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
func (im *Image) undoPredictor(b []byte) {
	if im.bits == 8 {
		for i := im.samples; i < len(b); i++ {
			b[i] += b[i-im.samples]
		}
		return
	}
	order := im.dir.Order()
	for i := 2 * im.samples; i+1 < len(b); i += 2 {
		order.PutUint16(b[i:], order.Uint16(b[i:])+order.Uint16(b[i-2*im.samples:]))
	}
}
