package document_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"deedkeep/app/vaulttest/tifffile"
)

// samplesByExtension returns a small accepted document for each extension.
func samplesByExtension() map[string][]byte {
	jpeg := []byte("\xff\xd8\xff\xe0\x00\x04JF\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00\xff\xd9")
	tiff := tifffile.Build(binary.LittleEndian, false, tifffile.Tags{256: 1}, tifffile.Tags{256: 1})
	return map[string][]byte{
		"pdf":  []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
		"docx": buildZip(contentTypes(override("/word/document.xml", wordMain)), part("word/document.xml")),
		"xlsx": buildZip(contentTypes(override("/xl/workbook.xml", sheetMain)), part("xl/workbook.xml")),
		"pptx": buildZip(contentTypes(override("/ppt/presentation.xml", slidesMain)), part("ppt/presentation.xml")),
		"doc":  buildOLE(stream("WordDocument", fib(0))),
		"xls":  buildOLE(stream("Workbook", biff(record{0x0809, bof}, record{0x000A, nil}))),
		"ppt":  buildOLE(stream("PowerPoint Document", nil), stream("Current User", currentUser(0xE391C05F))),
		"txt":  []byte("Know all men by these presents\r\n"),
		"png":  png(1, 1, 8, 2),
		"jpg":  jpeg,
		"jpeg": jpeg,
		"tif":  tiff,
		"tiff": tiff,
		"gif":  []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"),
		"bmp":  bmp(40, 1, 24),
		"webp": []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"),
	}
}

func png(width, height uint32, depth, color byte) []byte {
	p := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	p = binary.BigEndian.AppendUint32(p, width)
	p = binary.BigEndian.AppendUint32(p, height)
	return append(p, depth, color, 0, 0, 0, 'C', 'R', 'C', '!')
}

func bmp(header uint32, planes, bits uint16) []byte {
	p := []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00")
	p = binary.LittleEndian.AppendUint32(p, header)
	if header == 12 {
		p = append(p, 1, 0, 1, 0)
	} else {
		p = append(p, 1, 0, 0, 0, 1, 0, 0, 0)
	}
	p = binary.LittleEndian.AppendUint16(p, planes)
	p = binary.LittleEndian.AppendUint16(p, bits)
	return append(p, make([]byte, 60)...)
}

const (
	wordMain   = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
	sheetMain  = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
	slidesMain = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
)

type zipPart struct{ name, body string }

func part(name string) zipPart { return zipPart{name, "<x/>"} }

func contentTypes(elements ...string) zipPart {
	return zipPart{"[Content_Types].xml", `<?xml version="1.0" encoding="UTF-8"?>` +
		`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` + strings.Join(elements, "") + `</Types>`}
}

func override(name, contentType string) string {
	return fmt.Sprintf(`<Override PartName=%q ContentType=%q/>`, name, contentType)
}

func byDefault(ext, contentType string) string {
	return fmt.Sprintf(`<Default Extension=%q ContentType=%q/>`, ext, contentType)
}

func buildZip(parts ...zipPart) []byte { return buildPacked(zip.Store, parts...) }

func buildPacked(method uint16, parts ...zipPart) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, part := range parts {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: part.name, Method: method})
		if err == nil {
			_, err = w.Write([]byte(part.body))
		}
		if err != nil {
			panic(err) // a bytes.Buffer never returns an error
		}
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// oleEntry is a storage if it has children, else a stream.
type oleEntry struct {
	name     string
	data     []byte
	children []oleEntry
}

// stream returns a stream that is padded so that it is not stored in the mini stream.
func stream(name string, data []byte) oleEntry {
	return oleEntry{name: name, data: append(bytes.Clone(data), make([]byte, 4096)...)}
}

func storage(name string, children ...oleEntry) oleEntry {
	return oleEntry{name: name, children: children}
}

const (
	noStream   = 0xFFFFFFFF
	endOfChain = 0xFFFFFFFE
)

// oleWriter writes a version 3 compound file in this order: header, FAT, directory, streams.
type oleWriter struct {
	directory []byte
	streams   []byte
	starts    []int // first sector of each stream, relative to the first stream
	lengths   []int
	patches   []int // offset in directory of each stream's first sector
}

func buildOLE(children ...oleEntry) []byte {
	w := &oleWriter{}
	w.add("Root Entry", 5, 1, noStream, nil)
	w.siblings(children)
	for len(w.directory)%512 != 0 {
		w.directory = append(w.directory, 0)
	}
	le := binary.LittleEndian
	dirSectors, fatSectors := len(w.directory)/512, 2
	for fatSectors*128 < fatSectors+dirSectors+len(w.streams)/512 {
		fatSectors++
	}
	fat := slices.Repeat([]uint32{0xFFFFFFFD}, fatSectors)
	chain := func(sectors int) {
		for range sectors - 1 {
			fat = append(fat, uint32(len(fat)+1))
		}
		fat = append(fat, endOfChain)
	}
	chain(dirSectors)
	for i, start := range w.starts {
		le.PutUint32(w.directory[w.patches[i]:], uint32(fatSectors+dirSectors+start))
		chain(w.lengths[i])
	}
	header := make([]byte, 512)
	copy(header, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	le.PutUint16(header[24:], 0x3E)
	le.PutUint16(header[26:], 3)
	le.PutUint16(header[28:], 0xFFFE)
	le.PutUint16(header[30:], 9)
	le.PutUint16(header[32:], 6)
	le.PutUint32(header[44:], uint32(fatSectors))
	le.PutUint32(header[48:], uint32(fatSectors))
	le.PutUint32(header[56:], 4096)
	le.PutUint32(header[60:], endOfChain)
	le.PutUint32(header[68:], endOfChain)
	for at := 76; at < 512; at += 4 {
		le.PutUint32(header[at:], noStream)
	}
	for i := range fatSectors {
		le.PutUint32(header[76+4*i:], uint32(i))
	}
	out := header
	for len(fat) < fatSectors*128 {
		fat = append(fat, noStream)
	}
	for _, sector := range fat {
		out = le.AppendUint32(out, sector)
	}
	out = append(out, w.directory...)
	return append(out, w.streams...)
}

// siblings writes entries as a list in which each entry is the right sibling of the previous one.
// Each entry precedes its children.
func (w *oleWriter) siblings(entries []oleEntry) {
	le := binary.LittleEndian
	for i, entry := range entries {
		at := len(w.directory)
		if entry.children == nil {
			w.add(entry.name, 2, noStream, noStream, entry.data)
		} else {
			w.add(entry.name, 1, uint32(at/128+1), noStream, nil)
			w.siblings(entry.children)
		}
		if i+1 < len(entries) {
			le.PutUint32(w.directory[at+72:], uint32(len(w.directory)/128))
		}
	}
}

func (w *oleWriter) add(name string, kind byte, child, right uint32, data []byte) {
	le := binary.LittleEndian
	entry := make([]byte, 128)
	units := utf16.Encode([]rune(name))
	for i, unit := range units {
		le.PutUint16(entry[2*i:], unit)
	}
	le.PutUint16(entry[64:], uint16(2*len(units)+2))
	entry[66], entry[67] = kind, 1
	le.PutUint32(entry[68:], noStream)
	le.PutUint32(entry[72:], right)
	le.PutUint32(entry[76:], child)
	le.PutUint32(entry[116:], endOfChain)
	le.PutUint32(entry[120:], uint32(len(data)))
	if len(data) > 0 {
		w.patches = append(w.patches, len(w.directory)+116)
		w.starts = append(w.starts, len(w.streams)/512)
		sectors := (len(data) + 511) / 512
		w.lengths = append(w.lengths, sectors)
		w.streams = append(w.streams, append(bytes.Clone(data), make([]byte, sectors*512-len(data))...)...)
	}
	w.directory = append(w.directory, entry...)
}

var bof = []byte{0x00, 0x06, 0x05, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

type record struct {
	recordType uint16
	data       []byte
}

func biff(records ...record) (p []byte) {
	for _, r := range records {
		p = binary.LittleEndian.AppendUint16(p, r.recordType)
		p = binary.LittleEndian.AppendUint16(p, uint16(len(r.data)))
		p = append(p, r.data...)
	}
	return p
}

func fib(flags uint16) []byte {
	p := []byte{0xEC, 0xA5, 0xC1, 0, 0, 0, 0, 0, 0, 0}
	return binary.LittleEndian.AppendUint16(p, flags)
}

func currentUser(token uint32) []byte {
	p := []byte{0, 0, 0xF6, 0x0F, 20, 0, 0, 0, 20, 0, 0, 0}
	return binary.LittleEndian.AppendUint32(p, token)
}

// TestBuilders checks that each small document is accepted only with its own extension.
func TestBuilders(t *testing.T) {
	for ext, doc := range samplesByExtension() {
		for under, other := range samplesByExtension() {
			same := bytes.Equal(doc, other)
			if got := inspect(t, under, doc).Rejection == ""; got != same {
				t.Errorf("a .%s named .%s: accepted = %v, want %v", ext, under, got, same)
			}
		}
	}
}
