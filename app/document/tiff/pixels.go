package tiff

import (
	"encoding/binary"
	"image/color"
)

// pixels returns a function that converts the samples of a row to gray or to red, green, and blue.
func (t *Image) pixels() func(row, samples []byte) {
	if t.IsBilevel() {
		return t.bilevel()
	}
	convert := t.convertColors
	if t.palette != nil {
		convert = t.convertPalette
	}
	if t.bits < 16 {
		return convert
	}
	first := 0
	if t.dir.Order() == binary.ByteOrder(binary.LittleEndian) {
		first = 1
	}
	return func(row, samples []byte) {
		upper := samples[:len(samples)/2]
		for i := range upper {
			upper[i] = samples[2*i+first]
		}
		convert(row, upper)
	}
}

// bilevel returns a function that converts eight pixels at a time.
func (t *Image) bilevel() func(row, samples []byte) {
	var pixels [256][8]byte
	for b := range pixels {
		for k := range 8 {
			pixels[b][k] = t.palette[b>>(7-k)&1][0]
		}
	}
	return func(row, samples []byte) {
		for i, b := range samples {
			copy(row[8*i:], pixels[b][:])
		}
	}
}

func (t *Image) convertPalette(row, samples []byte) {
	if t.bits >= 8 && t.samples == 1 && t.channels == 1 {
		for x := range row {
			row[x] = t.palette[samples[x]][0]
		}
		return
	}
	for x := range len(row) / t.channels {
		p := row[x*t.channels:][:t.channels]
		copy(p, t.palette[t.sample(samples, x*t.samples)][:])
		if t.alpha != 0 {
			t.blend(p, t.sample(samples, x*t.samples+1)*byte(255/(len(t.palette)-1)))
		}
	}
}

// sample returns sample i of a row that has 1, 2, 4, or 8 bits per sample.
func (t *Image) sample(samples []byte, i int) byte {
	if t.bits >= 8 {
		return samples[i]
	}
	bit := i * t.bits
	return samples[bit/8] >> (8 - t.bits - bit%8) & (1<<t.bits - 1)
}

func (t *Image) convertColors(row, samples []byte) {
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
			t.blend(p, s[3])
		}
	}
}

// blend draws a pixel with the given alpha on a white background.
func (t *Image) blend(pixel []byte, alpha byte) {
	a := int(alpha)
	for k, v := range pixel {
		switch t.alpha {
		case 1:
			pixel[k] = byte(min(int(v)+255-a, 255))
		case 2:
			pixel[k] = byte((int(v)*a + 255*(255-a) + 127) / 255)
		}
	}
}
