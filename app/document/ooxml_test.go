package document_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/document"
)

func TestOOXML(t *testing.T) {
	doc := part("word/document.xml")
	types := func(contentType string) zipPart { return contentTypes(override("/word/document.xml", contentType)) }
	word := buildZip(types(wordMain), doc)
	both := contentTypes(override("/word/document.xml", wordMain),
		override("/word/macros.xml", "application/vnd.ms-word.document.macroEnabled.main+xml"))
	const office = "application/vnd.openxmlformats-officedocument."
	rows := []row{
		{"word", "docx", word, ""},
		{"manifest last", "docx", buildZip(doc, part("word/styles.xml"), types(wordMain)), ""},
		{"main part of another name", "docx", buildZip(contentTypes(override("/deed.xml", wordMain)), part("deed.xml")), ""},
		{"main part by extension", "docx", buildZip(contentTypes(byDefault("xml", wordMain)), doc), ""},
		{"type in other case, with parameter", "docx", buildZip(types(strings.ToUpper(wordMain)+"; charset=utf-8"), doc), ""},
		{"backslashes", "docx", buildZip(types(wordMain), part(`word\document.xml`)), ""},
		{"escaped name", "docx", buildZip(contentTypes(override("/word/the%20deed.xml", wordMain)), part("word/the deed.xml")), ""},
		{"manifest in lower case", "docx", buildZip(zipPart{"[content_types].xml", types(wordMain).body}, doc), ""},
		{"manifest in Windows-1252", "docx",
			buildZip(zipPart{"[Content_Types].xml", strings.Replace(types(wordMain).body, "UTF-8", "Windows-1252", 1)}, doc), ""},
		{"manifest with mark", "docx", buildZip(zipPart{"[Content_Types].xml", "\ufeff" + types(wordMain).body}, doc), ""},
		{"word embedded in a workbook", "xlsx",
			buildZip(contentTypes(override("/xl/workbook.xml", sheetMain), byDefault("docx", office+"wordprocessingml.document")),
				part("xl/workbook.xml"), part("xl/embeddings/a.docx")), ""},
		{"bytes before", "docx", append([]byte("some junk\r\n"), word...), ""},
		{"bytes after", "docx", append(bytes.Clone(word), "some junk"...), ""},
		{"absent main part declared besides the real one", "docx", buildZip(both, doc), ""},

		{"word named xlsx", "xlsx", word, mismatch},
		{"two main parts", "docx", buildZip(both, doc, part("word/macros.xml")), mismatch},
		{"main part absent", "docx", buildZip(types(wordMain), part("word/other.xml")), mismatch},
		{"no manifest", "docx", buildZip(doc), mismatch},
		{"two manifests", "docx", buildZip(types(wordMain), types(wordMain), doc), mismatch},
		{"manifest that isn't XML", "docx", buildZip(zipPart{"[Content_Types].xml", "\x00<"}, doc), mismatch},
		{"manifest too deep", "docx", buildZip(contentTypes(override("/word/document.xml", wordMain), strings.Repeat("<a>", 8),
			strings.Repeat("</a>", 8)), doc), mismatch},
		{"element too long", "docx", buildZip(contentTypes(override("/word/document.xml", wordMain),
			override("/"+strings.Repeat("x", 70_000), "x")), doc), mismatch},
		{"web page before", "docx", append([]byte("<html><script>1</script>"), word...), mismatch},
		{"program before", "docx", append([]byte("MZE\x00\x01\x00\x00\x00"), word...), mismatch},
		{"pdf before", "docx", append([]byte("%PDF-1.7\n"), word...), mismatch},
		{"truncated", "docx", word[:len(word)-30], mismatch},
	}
	for _, other := range []string{
		"application/vnd.ms-word.document.macroEnabled.main+xml", "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
		office + "wordprocessingml.template.main+xml", office + "spreadsheetml.template.main+xml",
		office + "presentationml.template.main+xml", office + "presentationml.slideshow.main+xml",
		"application/vnd.ms-excel.sheet.macroEnabled.main+xml", "application/vnd.ms-excel.sheet.binary.macroEnabled.main",
		"application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", "application/vnd.ms-visio.drawing.main+xml",
		office + "wordprocessingml.document", "application/xml",
	} {
		for _, ext := range []string{"docx", "xlsx", "pptx"} {
			rows = append(rows, row{other + " named " + ext, ext, buildZip(types(other), doc), mismatch})
		}
	}
	checkInspections(t, rows)
}

// TestZipEntries checks that the number of entries is limited and that a directory with more
// entries isn't read to its end.
func TestZipEntries(t *testing.T) {
	parts := []zipPart{contentTypes(override("/word/document.xml", wordMain)), part("word/document.xml")}
	for i := range 5000 {
		parts = append(parts, part(fmt.Sprintf("word/media/%d.xml", i)))
	}
	for _, row := range []struct {
		name  string
		parts int
		want  string
	}{
		{"at the limit", 100, ""},
		{"over the limit", 101, document.ReasonMismatch("docx")},
		{"far over the limit", len(parts), document.ReasonMismatch("docx")},
	} {
		doc := buildZip(parts[:row.parts]...)
		lim := document.InspectLimits{MaxZipEntries: 100}
		report, err := document.Inspect(t.Context(), bytes.NewReader(doc), int64(len(doc)), "docx", &fakePDF{}, lim)
		if err != nil || report.Rejection != row.want {
			t.Errorf("%s: rejection %q, %v, want %q", row.name, report.Rejection, err, row.want)
		}
	}
}

// TestContentTypesBomb checks that a content types part is not unpacked beyond its maximum size and
// compression ratio, and that no other part is unpacked.
func TestContentTypesBomb(t *testing.T) {
	main, doc := override("/word/document.xml", wordMain), part("word/document.xml")
	blanks, short := strings.Repeat(" ", 2<<20), strings.Repeat(strings.Repeat(" ", 1000)+"<a/>", 2200)
	var images strings.Builder
	for i := range 3000 {
		images.WriteString(override(fmt.Sprintf("/word/media/image%d.png", i), "image/png"))
	}
	broken := buildZip(contentTypes(main), doc, part("word/media/a.xml"))
	broken = bytes.ReplaceAll(broken, []byte("<x/>"), []byte("<y/>"))
	checkInspections(t, []row{
		{"large manifest", "docx", buildPacked(zip.Deflate, contentTypes(images.String(), main), doc), ""},
		{"manifest over 8 MB", "docx", buildZip(contentTypes(main, strings.Repeat(short, 4)), doc), mismatch},
		{"manifest of one long blank", "docx", buildZip(contentTypes(main, blanks), doc), mismatch},
		{"manifest of short blanks", "docx", buildZip(contentTypes(main, short), doc), ""},
		{"manifest of short blanks, packed", "docx", buildPacked(zip.Deflate, contentTypes(main, short), doc), mismatch},
		{"other parts damaged", "docx", broken, ""},
	})
}
