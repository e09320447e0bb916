package tiff

import (
	"encoding/binary"
	"image/color"
)

// pixels returns a function that converts the samples of a row to gray or to red, green, and blue.
func (im *Image) pixels() func(row, samples []byte) {
	if im.IsBilevel() {
		return im.bilevel()
	}
	convert := im.convertColors
	if im.palette != nil {
		convert = im.convertPalette
	}
	if im.bits < 16 {
		return convert
	}
	first := 0
	if im.dir.Order() == binary.ByteOrder(binary.LittleEndian) {
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
func (im *Image) bilevel() func(row, samples []byte) {
	var pixels [256][8]byte
	for b := range pixels {
		for k := range 8 {
			pixels[b][k] = im.palette[b>>(7-k)&1][0]
		}
	}
	return func(row, samples []byte) {
		for i, b := range samples {
			copy(row[8*i:], pixels[b][:])
		}
	}
}

func (im *Image) convertPalette(row, samples []byte) {
	if im.bits >= 8 && im.samples == 1 && im.channels == 1 {
		for x := range row {
			row[x] = im.palette[samples[x]][0]
		}
		return
	}
	for x := range len(row) / im.channels {
		p := row[x*im.channels:][:im.channels]
		copy(p, im.palette[im.sample(samples, x*im.samples)][:])
		if im.alpha != 0 {
			im.blend(p, im.sample(samples, x*im.samples+1)*byte(255/(len(im.palette)-1)))
		}
	}
}

// sample returns sample i of a row that has 1, 2, 4, or 8 bits per sample.
func (im *Image) sample(samples []byte, i int) byte {
	if im.bits >= 8 {
		return samples[i]
	}
	bit := i * im.bits
	return samples[bit/8] >> (8 - im.bits - bit%8) & (1<<im.bits - 1)
}

func (im *Image) convertColors(row, samples []byte) {
	for x := 0; 3*x < len(row); x++ {
		s, p := samples[x*im.samples:], row[3*x:3*x+3]
		switch im.photometric {
		case photoRGB:
			copy(p, s[:3])
		case photoYCbCr:
			p[0], p[1], p[2] = color.YCbCrToRGB(s[0], s[1], s[2])
		case photoCMYK:
			p[0], p[1], p[2] = color.CMYKToRGB(s[0], s[1], s[2], s[3])
		}
		if im.alpha != 0 {
			im.blend(p, s[3])
		}
	}
}

// blend draws a pixel with the given alpha on a white background.
func (im *Image) blend(pixel []byte, alpha byte) {
	a := int(alpha)
	for k, v := range pixel {
		switch im.alpha {
		case 1:
			pixel[k] = byte(min(int(v)+255-a, 255))
		case 2:
			pixel[k] = byte((int(v)*a + 255*(255-a) + 127) / 255)
		}
	}
}
