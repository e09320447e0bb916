//go:build harness && linux

package cmd_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// bombs returns small files that take a lot of memory or time to open, by name. The server
// may accept or reject each of them but must finish processing it.
func bombs(t *testing.T) map[string][]byte {
	t.Helper()
	spaces := bytes.Repeat([]byte("q "), 20<<20)
	return map[string][]byte{
		"deep-page-tree.pdf":     deepTree(50_000),
		"forms-in-a-ring.pdf":    pdfOf(page("/X5 Do"), form("/X5 Do", 5)),
		"forms-that-double.pdf":  pdfOf(append([]string{page("/X5 Do")}, doublingForms(5, 40)...)...),
		"states-without-end.pdf": pdfOf(page("%"), stream("/Filter /FlateDecode", deflated(t, spaces))),
		"thrice-deflated.pdf": pdfOf(page("%"), stream("/Filter [/FlateDecode /FlateDecode /FlateDecode]",
			deflated(t, deflated(t, deflated(t, make([]byte, 256<<20)))))),
		"image-of-gigabytes.pdf": pdfOf(page("600 0 0 600 0 0 cm /X5 Do"), stream("/Type /XObject /Subtype /Image /Width 40000 /Height 40000 "+
			"/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode", deflated(t, make([]byte, 64<<20)))),
		"wide.png":          hugePNG(t, 100_000, 100_000),
		"pages-in-ring.tif": cyclicTIFF(60_000),
		"letter.docx": officeBomb(t, "word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
			`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>`,
			"deed ", 60<<20, `</w:t></w:r></w:p></w:body></w:document>`),
		"laughs.xlsx": officeBomb(t, "xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
			billionLaughs()+`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheets>`,
			`<sheet name="&j;" sheetId="1"/>`, 1<<20, `</sheets></workbook>`),
	}
}

// pdfOf returns a one-page PDF. The first element of objects is the result of page (objects
// 3 and 4). The others become objects 5 and up.
func pdfOf(objects ...string) []byte {
	all := append([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"},
		strings.Split(objects[0], "\x00")...)
	return pdfFile(append(all, objects[1:]...))
}

// pdfFile returns a PDF that consists of objects. The first one is the catalog.
func pdfFile(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	offsets := make([]int, 0, len(objects))
	for n, object := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.Bytes()
}

// page returns a page object and its content stream, separated by a zero byte. If content
// is "%", object 5 is used as the content stream instead.
func page(content string) string {
	contents := 4
	if content == "%" {
		contents = 5
	}
	return fmt.Sprintf(
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /XObject << /X5 5 0 R >> >> >>\x00%s",
		contents, stream("", []byte(content)))
}

// stream returns a stream object with additional dictionary entries.
func stream(entries string, content []byte) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

// form returns a form XObject whose content can draw the object with number draws.
func form(content string, draws int) string {
	const entries = "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X%d %[1]d 0 R >> >>"
	return stream(fmt.Sprintf(entries, draws), []byte(content))
}

// doublingForms returns forms with object numbers starting at from. Each form draws the
// next one twice.
func doublingForms(from, levels int) (list []string) {
	for n := from; n < from+levels; n++ {
		list = append(list, form(fmt.Sprintf("/X%d Do /X%[1]d Do", n+1), n+1))
	}
	return append(list, stream("/Type /XObject /Subtype /Form /BBox [0 0 612 792]", []byte("0 0 9 9 re f")))
}

// deepTree returns a PDF whose page tree has the given number of levels.
func deepTree(levels int) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>"}
	for n := 2; n < levels; n++ {
		objects = append(objects, fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", n+1))
	}
	return pdfFile(append(objects, fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 612 792] >>", levels-1)))
}

// deflated returns content compressed with zlib.
func deflated(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatalf("compress: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("finish compressing: %v", err)
	}
	return b.Bytes()
}

// hugePNG returns a PNG whose header declares the given size but which contains few pixels.
func hugePNG(t *testing.T, width, height uint32) []byte {
	t.Helper()
	b := bytes.NewBufferString("\x89PNG\r\n\x1a\n")
	chunk := func(name string, content []byte) {
		_ = binary.Write(b, binary.BigEndian, uint32(len(content))) // writes to a buffer don't fail
		b.WriteString(name)
		b.Write(content)
		_ = binary.Write(b, binary.BigEndian, crc32.ChecksumIEEE(append([]byte(name), content...)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(head, 8, 6, 0, 0, 0))
	chunk("IDAT", deflated(t, make([]byte, 1<<20)))
	chunk("IEND", nil)
	return b.Bytes()
}

// cyclicTIFF returns a TIFF with the given number of pages, the last of which links to the
// first.
func cyclicTIFF(pages int) []byte {
	const size = 2 + 3*12 + 4
	b := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8)
	for n := range pages {
		b = binary.LittleEndian.AppendUint16(b, 3)
		for _, tag := range []uint16{256, 257, 277} {
			b = binary.LittleEndian.AppendUint16(b, tag)
			b = binary.LittleEndian.AppendUint16(b, 4)
			b = binary.LittleEndian.AppendUint32(b, 1)
			b = binary.LittleEndian.AppendUint32(b, 1_000_000)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(8+(n+1)%pages*size))
	}
	return b
}

// billionLaughs returns an XML document type declaration whose entity j expands to a
// billion words.
func billionLaughs() string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE w [<!ENTITY a "ha">`)
	for c := 'b'; c <= 'j'; c++ {
		fmt.Fprintf(&b, `<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	return b.String() + "]>"
}

// officeBomb returns an Office document whose main part is head, body repeated until the
// part has size bytes, and tail.
func officeBomb(t *testing.T, main, contentType, head, body string, size int, tail string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/` + main + `" ContentType="` + contentType + `"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="` + main + `"/></Relationships>`},
		{main, head + strings.Repeat(body, size/len(body)) + tail},
	} {
		w, err := z.Create(part[0])
		if err != nil {
			t.Fatalf("create ZIP entry: %v", err)
		}
		if _, err := io.WriteString(w, part[1]); err != nil {
			t.Fatalf("write ZIP entry: %v", err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatalf("close ZIP: %v", err)
	}
	return b.Bytes()
}
