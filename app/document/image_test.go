package document_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	imagepng "image/png"
	"strings"
	"testing"
)

func TestImages(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 9, 7), color.Palette{color.Black, color.White})
	var asPNG, asGIF, asJPEG bytes.Buffer
	for _, err := range []error{imagepng.Encode(&asPNG, img), gif.Encode(&asGIF, img, nil), jpeg.Encode(&asJPEG, img, nil)} {
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
	}
	pic := asJPEG.Bytes()
	after := func(segments string) []byte { return []byte("\xff\xd8" + segments + string(pic[2:])) }
	long := strings.Repeat("\xff\xe2\xff\xff"+strings.Repeat("c", 0xFFFD), 20)
	webp := samplesByExtension()["webp"]
	checkInspections(t, []row{
		{"png by Go", "png", asPNG.Bytes(), ""},
		{"png of giant dimensions", "png", png(60000, 60000, 1, 0), ""},
		{"png without width", "png", png(0, 1, 8, 2), mismatch},
		{"png of impossible height", "png", png(1, 1<<31, 8, 2), mismatch},
		{"png of invalid depth", "png", png(1, 1, 4, 2), mismatch},
		{"png of invalid color", "png", png(1, 1, 8, 5), mismatch},
		{"png signature alone", "png", []byte("\x89PNG\r\n\x1a\n"), mismatch},

		{"gif by Go", "gif", asGIF.Bytes(), ""},
		{"gif 87a", "gif", []byte("GIF87a\x01\x00\x01\x00\x00\x00\x00,"), ""},
		{"gif with comment first", "gif", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00!\xfe"), ""},
		{"gif 88a", "gif", []byte("GIF88a\x01\x00\x01\x00\x00\x00\x00,"), mismatch},
		{"gif that is a script", "gif", []byte("GIF89a/*<script>*/=1;alert(1)"), mismatch},
		{"gif truncated in its palette", "gif", []byte("GIF89a\x01\x00\x01\x00\x87\x00\x00abc"), mismatch},

		{"jpeg by Go", "jpg", pic, ""},
		{"jpeg as jpeg", "jpeg", pic, ""},
		{"jpeg with fill bytes", "jpg", after("\xff\xff\xff\xfe\x00\x04hi"), ""},
		{"jpeg with a long profile", "jpg", after(long), ""},
		{"jpeg with garbage between segments", "jpg", after("\xff\xfe\x00\x04hi\x00\x00junk\x00"), ""},
		{"jpeg start alone", "jpg", []byte("\xff\xd8\xff"), mismatch},
		{"jpeg truncated before its frame", "jpg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), mismatch},
		{"jpeg that ends at once", "jpg", []byte("\xff\xd8\xff\xd9"), mismatch},
		{"jpeg of zero-length segment", "jpg", after("\xff\xfe\x00\x00"), mismatch},
		{"jpeg of nothing but fill", "jpg", append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xFF}, 300_000)...), mismatch},
		{"jpeg 2000", "jpg", []byte("\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00\x14ftypjp2 "), mismatch},

		{"bmp OS/2", "bmp", bmp(12, 1, 8), ""},
		{"bmp", "bmp", bmp(40, 1, 1), ""},
		{"bmp v4", "bmp", bmp(108, 1, 32), ""},
		{"bmp v5", "bmp", bmp(124, 1, 16), ""},
		{"bmp of unknown header", "bmp", bmp(41, 1, 24), mismatch},
		{"bmp of no plane", "bmp", bmp(40, 0, 24), mismatch},
		{"bmp of 7 bits", "bmp", bmp(40, 1, 7), mismatch},
		{"text named bmp", "bmp", []byte("BMW to Make Hybrid Sports Car, reports say"), mismatch},
		{"bmp truncated", "bmp", bmp(40, 1, 24)[:20], mismatch},

		{"webp lossless", "webp", webp, ""},
		{"webp lossy", "webp", []byte("RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x01\x00\x01\x00"), ""},
		{"webp extended", "webp", []byte("RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ""},
		{"webp of unknown chunk", "webp", bytes.Replace(webp, []byte("VP8L"), []byte("VP9 "), 1), mismatch},
		{"wave named webp", "webp", bytes.Replace(webp, []byte("WEBP"), []byte("WAVE"), 1), mismatch},

		{"png named jpg", "jpg", asPNG.Bytes(), mismatch},
		{"jpeg named png", "png", pic, mismatch},
	})
}
