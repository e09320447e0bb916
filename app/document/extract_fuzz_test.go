package document

import (
	"encoding/binary"
	"image"
	"strings"
	"testing"
	"unicode/utf8"

	"deedkeep/app/document/tiff"
	"deedkeep/app/vaulttest/tifffile"
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
	f.Add(tifffile.Build(binary.LittleEndian, false, tiffTags(tifffile.Tags{tiff.TagOrientation: 5})))
	f.Fuzz(func(t *testing.T, b []byte) {
		for mime := range handlers {
			if mime == "application/pdf" {
				continue
			}
			_, err := PageSizes(t.Context(), testSource(b, mime), small)
			img, err2 := PageImage(t.Context(), testSource(b, mime), 1, 50, small)
			if err2 != nil && finding(err2) == nil {
				t.Errorf("PageImage of %s = %v, want an error of the document", mime, err2)
			}
			if img.Width > small.MaxWidth || img.Height > maxHeightFactor*small.MaxWidth {
				t.Errorf("PageImage of %s has %d x %d pixels, want an image within the limits", mime, img.Width, img.Height)
			}
			err2 = Text(t.Context(), testSource(b, mime), small, func(int, string) error { return nil })
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
