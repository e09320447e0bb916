package office

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"deedkeep/app/document/docio"
)

// le encodes numbers and texts in little-endian order, one after another.
func le(parts ...any) []byte {
	var b []byte
	for _, part := range parts {
		switch v := part.(type) {
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		default:
			b, _ = binary.Append(b, binary.LittleEndian, v) // can't fail, because v has a fixed size
		}
	}
	return b
}

// wide encodes a text as UTF-16.
func wide(s string) []byte { return le(utf16.Encode([]rune(s))) }

// buildOLE returns a compound file with streams in its root ([MS-CFB]). Sector 0 is the FAT, sector
// 1 is the directory, and the streams follow. Each stream must have at least 4096 bytes, so that
// none is stored in the mini stream. buildOLE supports up to three streams and 127 sectors.
func buildOLE(streams map[string][]byte, names ...string) []byte {
	const size, end, free = 512, 0xFFFFFFFE, 0xFFFFFFFF
	fat := []uint32{0xFFFFFFFD, end}
	entry := func(name string, kind byte, right, child, start uint32, length int) []byte {
		e := make([]byte, 128)
		copy(e, wide(name))
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66], e[67] = kind, 1
		copy(e[68:], le(uint32(free), right, child))
		copy(e[116:], le(start, uint64(length)))
		return e
	}
	directory := entry("Root Entry", 5, free, 1, end, 0)
	var body []byte
	for i, name := range names {
		content := streams[name]
		for len(content) < 4096 || len(content)%size != 0 {
			content = append(content, 0)
		}
		right := uint32(free)
		if i+1 < len(names) {
			right = uint32(i + 2)
		}
		directory = append(directory, entry(name, 2, right, free, uint32(len(fat)), len(content))...)
		for n := len(content) / size; n > 0; n-- {
			next := uint32(len(fat) + 1)
			if n == 1 {
				next = end
			}
			fat = append(fat, next)
		}
		body = append(body, content...)
	}
	for len(fat) < size/4 {
		fat = append(fat, free)
	}
	header := make([]byte, size)
	copy(header, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	copy(header[24:], le(uint16(0x3E), uint16(3), uint16(0xFFFE), uint16(9), uint16(6)))
	copy(header[44:], le(uint32(1), uint32(1), uint32(0), uint32(4096), uint32(end), uint32(0), uint32(end), uint32(0), uint32(0)))
	for at := 80; at < size; at += 4 {
		binary.LittleEndian.PutUint32(header[at:], free)
	}
	for len(directory) < size {
		directory = append(directory, make([]byte, 128)...)
	}
	return le(header, fat, directory[:size], body)
}

func buildZip(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, content := range parts {
		head := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if content == "" {
			head.Method = zip.Store // a compressor would use a megabyte
		}
		f, err := w.CreateHeader(head)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatalf("Write: %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return buf.Bytes()
}

// rels returns a relationships part. list contains the ID, type, and target of each relationship.
func rels(list ...string) string {
	var b strings.Builder
	b.WriteString(`<Relationships>`)
	for i := 0; i < len(list); i += 3 {
		b.WriteString(`<Relationship Id="` + list[i] + `" Type="http://x/` + list[i+1] + `" Target="` + list[i+2] + `"/>`)
	}
	b.WriteString(`</Relationships>`)
	return b.String()
}

// texts has the function for each type.
var texts = map[string]func(*docio.Reader, *docio.TextWriter) error{
	MIMEDOC: DOC, MIMEXLS: XLS, MIMEPPT: PPT, MIMEDOCX: DOCX, MIMEXLSX: XLSX, MIMEPPTX: PPTX,
}

// collect returns the text of all pages in the form "1: text\n".
func collect(t testing.TB, content []byte, mime string, lim docio.ExtractLimits) (string, error) {
	t.Helper()
	var b strings.Builder
	err := docio.Read(t.Context(), bytes.NewReader(content), int64(len(content)), func(doc *docio.Reader) error {
		return doc.ReadText(lim, func(page int, text string) error {
			b.WriteString(string(rune('0'+page%10)) + ": " + strings.TrimSpace(text) + "\n")
			return nil
		}, func(out *docio.TextWriter) error { return texts[mime](doc, out) })
	})
	return b.String(), err
}
