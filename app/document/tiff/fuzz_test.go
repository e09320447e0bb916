package tiff

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"testing"

	"deedkeep/app/document/docio"
	"deedkeep/app/vaulttest/tifffile"
)

func FuzzImage(f *testing.F) {
	bit := samples(testW, testH, 1, []uint64{0}, []uint64{1})
	f.Add(tifffile.Build(little, false, page(tags{0: [][]byte{bit}})))
	f.Add(tifffile.Build(bigEnd, true, page(tags{0: [][]byte{runs(bit)}, TagCompression: compressionPackBits})))
	f.Add(tifffile.Build(little, false, page(tags{0: [][]byte{faxPage(false, true)}, TagCompression: compressionG3, TagT4Options: 1})))
	f.Add(tifffile.Build(little, false, page(tags{0: [][]byte{bit}, TagTileWidth: 16, TagTileHeight: 16, TagOrientation: 5})))
	f.Add(tifffile.Build(little, false, page(tags{0: [][]byte{samples(65, 48, 1, []uint64{0}, []uint64{1})}, TagWidth: 65,
		TagHeight: 48, TagOrientation: 9}))) // no such orientation, and too wide if it counted
	f.Add(tifffile.Build(little, false, page(tags{0: [][]byte{deflate(bit)}, TagCompression: compressionDeflate,
		TagBits: []int{8, 8, 8}, TagSamples: 3, TagPhotometric: 2, TagPredictor: 2})))
	f.Add(tifffile.Build(little, false, page(tags{0: [][]byte{jpegOf(f, image.NewGray(image.Rect(0, 0, 8, 8)))}, TagBits: 8,
		TagCompression: compressionJPEG})))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Open(docio.NewReader(t.Context(), bytes.NewReader(b), int64(len(b))))
		if err != nil {
			return
		}
		for dir := range file.Directories(3) {
			page, err := dir.Image(1 << 16)
			if err != nil {
				continue
			}
			r := page.Raster()
			if pixels := r.Width * r.Height; pixels < 1 || pixels > 1<<16 {
				t.Errorf("image of %d x %d pixels, want one within the limits", r.Width, r.Height)
			}
			row := make([]byte, r.Width*r.Channels())
			for err == nil && r.Height > 0 {
				err = r.Next(row)
				r.Height--
			}
		}
	})
}

func FuzzCount(f *testing.F) {
	for _, big := range []bool{false, true} {
		f.Add(chain(binary.LittleEndian, big, 3))
		f.Add(chain(binary.BigEndian, big, 2))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if pages := countPages(t.Context(), content); pages > len(content)/6 {
			t.Errorf("got %d pages, want at most %d in %d bytes", pages, len(content)/6, len(content))
		}
	})
}

func FuzzFax(f *testing.F) {
	f.Add(faxPage(false, false), uint16(testW), false, false)
	f.Add(faxPage(false, true), uint16(testW), false, true)
	f.Add(faxPlain(), uint16(testW), true, false)
	f.Fuzz(func(t *testing.T, b []byte, width uint16, plain, mixed bool) {
		if width == 0 {
			return
		}
		r := newFaxReader(bufio.NewReader(bytes.NewReader(b)), int(width), false, plain, mixed)
		n, err := io.Copy(io.Discard, io.LimitReader(r, 1<<16))
		if err == nil && n%int64(len(r.row)) != 0 && n < 1<<16 {
			t.Errorf("got %d bytes, want a multiple of the row length %d", n, len(r.row))
		}
	})
}
