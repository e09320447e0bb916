package document

import (
	"bufio"
	"bytes"
	"image"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"deedkeep/app/document/tiff"
)

// small holds limits that are low enough for fuzzing to be fast.
var small = ExtractLimits{MaxPixels: 1 << 16, MaxWidth: 64, MaxTextBytes: 1 << 12, MaxPageTextBytes: 1 << 10, MaxPages: 20,
	MaxUnpackedBytes: 1 << 16}.WithDefaults()

// checkText runs work and checks that the emitted text meets the contract of Text.
func checkText(t *testing.T, work func(out *writer) error) {
	t.Helper()
	all, before := int64(0), 0
	out := &writer{lim: small, left: small.MaxTextBytes, emit: func(page int, text string) error {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\x1b\x7f") {
			t.Errorf("text of page %d = %q, want UTF-8 without control characters", page, text)
		}
		if page <= before {
			t.Errorf("got page %d after page %d, want ascending numbers", page, before)
		}
		all, before = all+int64(len(text)), page
		return nil
	}}
	if err := work(out); err != nil && finding(err) == nil {
		t.Errorf("error %v, want a finding", err)
	}
	if err := out.end(); err != nil && finding(err) != ErrTooLarge {
		t.Errorf("end: %v", err)
	}
	if all > small.MaxTextBytes {
		t.Errorf("got %d bytes of text, want at most %d", all, small.MaxTextBytes)
	}
}

func input(t *testing.T, b []byte, mime string) *source {
	return newSource(t.Context(), testSource(b, mime))
}

func FuzzExtractTIFF(f *testing.F) {
	bit := samples(testW, testH, 1, []uint64{0}, []uint64{1})
	f.Add(buildTIFF(little, false, page(tags{0: [][]byte{bit}})))
	f.Add(buildTIFF(bigEnd, true, page(tags{0: [][]byte{runs(bit)}, tiff.TagCompression: tiffPackBits})))
	f.Add(buildTIFF(little, false, page(tags{0: [][]byte{faxPage(false, true)}, tiff.TagCompression: tiffG3, tiff.TagT4Options: 1})))
	f.Add(buildTIFF(little, false, page(tags{0: [][]byte{bit}, tiff.TagTileWidth: 16, tiff.TagTileHeight: 16, tiff.TagOrientation: 5})))
	f.Add(buildTIFF(little, false, page(tags{0: [][]byte{samples(65, 48, 1, []uint64{0}, []uint64{1})}, tiff.TagWidth: 65,
		tiff.TagHeight: 48, tiff.TagOrientation: 9}))) // no such orientation, and too wide if it counted
	f.Add(buildTIFF(little, false, page(tags{0: [][]byte{deflate(bit)}, tiff.TagCompression: tiffDeflate,
		tiff.TagBits: []int{8, 8, 8}, tiff.TagSamples: 3, tiff.TagPhotometric: 2, tiff.TagPredictor: 2})))
	f.Add(buildTIFF(little, false, page(tags{0: [][]byte{jpegOf(f, image.NewGray(image.Rect(0, 0, 8, 8)))}, tiff.TagBits: 8,
		tiff.TagCompression: tiffJPEG})))
	f.Fuzz(func(t *testing.T, b []byte) {
		doc := input(t, b, "image/tiff")
		for page := 1; page <= 3; page++ {
			p, err := tiffPage(doc, page, 50, small)
			if err != nil {
				continue
			}
			if size := p.Bounds().Size(); size.X < 1 || size.X > small.MaxWidth || size.Y > maxHeightFactor*small.MaxWidth {
				t.Errorf("image of page %d has %v pixels, want one within the limits", page, size)
			}
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

func FuzzDoc(f *testing.F) {
	stream, table := wordStreams()
	f.Add(stream, table)
	f.Fuzz(func(t *testing.T, stream, table []byte) {
		checkText(t, func(out *writer) error {
			return readWord(stream, out, func(string) ([]byte, error) { return table, nil })
		})
	})
}

func FuzzXLS(f *testing.F) {
	f.Add(xlsStream())
	f.Fuzz(func(t *testing.T, stream []byte) {
		checkText(t, func(out *writer) error { return readBook(stream, out) })
	})
}

func FuzzPPT(f *testing.F) {
	stream, user := pptStreams()
	f.Add(stream, user)
	f.Fuzz(func(t *testing.T, stream, user []byte) {
		checkText(t, func(out *writer) error { return readShow(stream, user, small).text(out) })
	})
}

// FuzzXML replaces each part of the three formats with arbitrary XML.
func FuzzXML(f *testing.F) {
	for _, parts := range []map[string]string{docxParts("<w:p><w:t>a</w:t></w:p>"), xlsxParts(), pptxParts()} {
		for _, part := range parts {
			f.Add([]byte(part))
		}
	}
	f.Add([]byte("\xff\xfe" + string(wide("<t>é</t>"))))
	f.Fuzz(func(t *testing.T, part []byte) {
		every := map[string]string{}
		for _, parts := range []map[string]string{docxParts(""), xlsxParts(), pptxParts()} {
			for name, content := range parts {
				every[name] = content
			}
		}
		for name, read := range map[string]func(*source, *writer) error{
			"word/document.xml": docxText, "xl/worksheets/sheet2.xml": xlsxText, "xl/styles.xml": xlsxText,
			"xl/sharedStrings.xml": xlsxText, "xl/_rels/workbook.xml.rels": xlsxText, "ppt/presentation.xml": pptxText,
		} {
			parts := map[string]string{}
			for n, content := range every {
				parts[n] = content
			}
			parts[name] = string(part)
			parts["_rels/.rels"] = rels("a", "officeDocument",
				strings.SplitN(name, "/", 2)[0]+map[string]string{"w": "/document.xml", "x": "/workbook.xml", "p": "/presentation.xml"}[name[:1]])
			checkText(t, func(out *writer) error { return read(input(t, buildZip(t, parts), ""), out) })
		}
	})
}

// FuzzContainer passes files to the functions for each type, as PageImage and Text do. If a library
// panics, the document counts as damaged.
func FuzzContainer(f *testing.F) {
	word, table := wordStreams()
	f.Add(buildOLE(map[string][]byte{"WordDocument": word, "1Table": table}, "WordDocument", "1Table"))
	f.Add(buildOLE(map[string][]byte{"Workbook": xlsStream()}, "Workbook"))
	f.Add(buildZip(f, docxParts("<w:p><w:t>a</w:t></w:p>")))
	f.Add(pngOf(f, image.NewGray(image.Rect(0, 0, 3, 3))))
	f.Fuzz(func(t *testing.T, b []byte) {
		for mime := range handlers {
			if mime == "application/pdf" {
				continue
			}
			_, err := PageSizes(t.Context(), testSource(b, mime), small)
			if _, err2 := PageImage(t.Context(), testSource(b, mime), 1, 50, small); err2 != nil && finding(err2) == nil {
				t.Errorf("PageImage of %s = %v, want an error of the document", mime, err2)
			}
			err2 := Text(t.Context(), testSource(b, mime), small, func(int, string) error { return nil })
			for _, err := range []error{err, err2} {
				if err != nil && finding(err) == nil {
					t.Errorf("PageSizes or Text of %s = %v, want an error of the document", mime, err)
				}
			}
		}
	})
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte("plain\r\n"))
	f.Add([]byte("\xff\xfea\x00\x3d\xd8"))
	f.Add([]byte("\xfe\xff\x00a\x00"))
	f.Add([]byte("caf\xe9 \x93\x94"))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkText(t, func(out *writer) error { return plainText(input(t, b, "text/plain"), out) })
	})
}
