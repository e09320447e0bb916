package office

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"deedkeep/app/document/docio"
)

// small holds limits that are low enough for fuzzing to be fast.
var small = docio.ExtractLimits{
	MaxTextBytes: 1 << 12, MaxPageTextBytes: 1 << 10, MaxPages: 20, MaxUnpackedBytes: 1 << 16,
}.WithDefaults()

// checkText calls read with a document and checks that the text and the error are valid.
func checkText(t *testing.T, content []byte, read func(*docio.Reader, *docio.TextWriter) error) {
	t.Helper()
	all, before := int64(0), 0
	doc := docio.NewReader(t.Context(), bytes.NewReader(content), int64(len(content)))
	err := doc.ReadText(small, func(page int, text string) error {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\x1b\x7f") {
			t.Errorf("text of page %d = %q, want UTF-8 without control characters", page, text)
		}
		if page <= before {
			t.Errorf("got page %d after page %d, want ascending numbers", page, before)
		}
		all, before = all+int64(len(text)), page
		return nil
	}, func(out *docio.TextWriter) error { return read(doc, out) })
	if err != nil && !errors.Is(err, docio.ErrDamaged) && !errors.Is(err, docio.ErrTooLarge) && !errors.Is(err, docio.ErrUnsupported) {
		t.Errorf("error %v, want an error of the document", err)
	}
	if all > small.MaxTextBytes {
		t.Errorf("got %d bytes of text, want at most %d", all, small.MaxTextBytes)
	}
}

func FuzzDoc(f *testing.F) {
	stream, table := wordStreams()
	f.Add(stream, table)
	f.Fuzz(func(t *testing.T, stream, table []byte) {
		checkText(t, nil, func(_ *docio.Reader, out *docio.TextWriter) error {
			return readWord(stream, out, func(string) ([]byte, error) { return table, nil })
		})
	})
}

func FuzzXLS(f *testing.F) {
	f.Add(xlsStream())
	f.Fuzz(func(t *testing.T, stream []byte) {
		checkText(t, nil, func(_ *docio.Reader, out *docio.TextWriter) error { return readBook(stream, out) })
	})
}

func FuzzPPT(f *testing.F) {
	stream, user := pptStreams()
	f.Add(stream, user)
	f.Fuzz(func(t *testing.T, stream, user []byte) {
		checkText(t, nil, func(_ *docio.Reader, out *docio.TextWriter) error { return readShow(stream, user, small).text(out) })
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
		for name, read := range map[string]func(*docio.Reader, *docio.TextWriter) error{
			"word/document.xml": DOCX, "xl/worksheets/sheet2.xml": XLSX, "xl/styles.xml": XLSX,
			"xl/sharedStrings.xml": XLSX, "xl/_rels/workbook.xml.rels": XLSX, "ppt/presentation.xml": PPTX,
		} {
			parts := map[string]string{}
			for n, content := range every {
				parts[n] = content
			}
			parts[name] = string(part)
			parts["_rels/.rels"] = rels("a", "officeDocument",
				strings.SplitN(name, "/", 2)[0]+
					map[string]string{"w": "/document.xml", "x": "/workbook.xml", "p": "/presentation.xml"}[name[:1]])
			checkText(t, buildZip(t, parts), read)
		}
	})
}
