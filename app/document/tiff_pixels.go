package document

import (
	"encoding/binary"
	"image/color"
)

// pixels converts the samples of a row to gray or to red, green, and blue.
func (t *tiffImage) pixels(row, samples []byte) {
	if t.bits == 16 {
		samples = t.upperBytes(samples)
	}
	switch t.photometric {
	case whiteIsZero, blackIsZero:
		t.grays(row, samples)
	case photoPalette:
		t.paletted(row, samples)
	default:
		t.colors(row, samples)
	}
}

// upperBytes reduces 16-bit samples to their upper bytes, in place.
func (t *tiffImage) upperBytes(samples []byte) []byte {
	first := 0
	if t.dir.Order() == binary.ByteOrder(binary.LittleEndian) {
		first = 1
	}
	for i := 0; 2*i+1 < len(samples); i++ {
		samples[i] = samples[2*i+first]
	}
	return samples[:len(samples)/2]
}

// sample returns sample i of a row that has 1, 2, 4, or 8 bits per sample.
func (t *tiffImage) sample(samples []byte, i int) byte {
	if t.bits >= 8 {
		return samples[i]
	}
	bit := i * t.bits
	return samples[bit/8] >> (8 - t.bits - bit%8) & (1<<t.bits - 1)
}

func (t *tiffImage) grays(row, samples []byte) {
	scale := byte(1)
	if t.bits < 8 {
		scale = 255 / (1<<t.bits - 1)
	}
	var invert byte
	if t.photometric == whiteIsZero {
		invert = 0xFF
	}
	if t.bits == 1 && t.samples == 1 {
		bilevelRow(row, samples, invert)
		return
	}
	for x := range row {
		v := t.sample(samples, x*t.samples)*scale ^ invert
		if t.alpha != 0 {
			v = t.blend(v, t.sample(samples, x*t.samples+1)*scale)
		}
		row[x] = v
	}
}

// bitPixels maps a byte to eight pixels, which are 0xFF for bits that are set and 0 for the others.
var bitPixels = func() (t [256][8]byte) {
	for b := range t {
		for k := range 8 {
			t[b][k] = -byte(b >> (7 - k) & 1)
		}
	}
	return t
}()

func bilevelRow(row, samples []byte, invert byte) {
	for i, b := range samples {
		copy(row[8*i:], bitPixels[b^invert][:])
	}
}

func (t *tiffImage) paletted(row, samples []byte) {
	inColor := t.color()
	width := len(row)
	if inColor {
		width /= 3
	}
	for x := range width {
		c := t.palette[t.sample(samples, x*t.samples)]
		if inColor {
			copy(row[3*x:3*x+3], c[:])
		} else {
			row[x] = c[0]
		}
	}
}

func (t *tiffImage) colors(row, samples []byte) {
	for x := 0; 3*x < len(row); x++ {
		s, p := samples[x*t.samples:], row[3*x:3*x+3]
		switch t.photometric {
		case photoRGB:
			copy(p, s[:3])
		case photoYCbCr:
			p[0], p[1], p[2] = color.YCbCrToRGB(s[0], s[1], s[2])
		case photoCMYK:
			p[0], p[1], p[2] = color.CMYKToRGB(s[0], s[1], s[2], s[3])
		}
		if t.alpha != 0 {
			for k := range p {
				p[k] = t.blend(p[k], s[3])
			}
		}
	}
}

// blend returns the value v of a pixel with the given alpha on a white background.
func (t *tiffImage) blend(v, alpha byte) byte {
	switch t.alpha {
	case 1:
		return byte(min(int(v)+255-int(alpha), 255))
	case 2:
		return byte((int(v)*int(alpha) + 255*(255-int(alpha)) + 127) / 255)
	}
	return v
}
