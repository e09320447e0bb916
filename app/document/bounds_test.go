package document_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"deedkeep/app/document"
)

// countingReader counts the reads of an inspection. Each read may be a round trip to another
// process.
type countingReader struct {
	io.ReaderAt
	reads, bytes int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// TestBounds checks the number of reads and the memory used by documents that are built to require
// as much as possible.
func TestBounds(t *testing.T) {
	const size, block = 6 << 20, 16 << 10
	const reads = 4*(size/block) + 4096
	text := bytes.Repeat([]byte("grantor "), size/8)
	wide := append([]byte("\xff\xfe"), bytes.Repeat([]byte("d\x00"), size/2-1)...)
	for _, row := range []struct {
		name, ext string
		doc       []byte
		reads     int
		memory    uint64
		want      string
	}{
		{"text", "txt", text, size/(64<<10) + 1, 1 << 20, ""},
		{"utf-16", "txt", wide, size/(64<<10) + 1, 1 << 20, ""},
		{"binary text", "txt", append([]byte{0}, text...), 2, 1 << 20, mismatch},
		{"image", "png", append(png(9, 9, 8, 2), text...), 1, 1 << 20, ""},
		{"photograph", "jpg", append(bytes.Clone(samplesByExtension()["jpg"]), text...), 1, 1 << 20, ""},
		{"photograph of fill bytes", "jpg", append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xFF}, size)...), 5, 1 << 20, mismatch},
		{"pdf", "pdf", append([]byte("%PDF-1.7\n"), text...), 1, 1 << 20, ""},
		{"tiff that jumps", "tif", jumpingTIFF(size), reads, 8 << 20, ""},
		{"zip of many entries", "docx", crowdedZip(100_000), 200, 24 << 20, mismatch},
		{"compound file of many entries", "doc",
			buildOLE(append(manyEntries(33_000), stream("WordDocument", fib(0)))...), 300, 16 << 20, mismatch},
		{"mini stream that jumps", "doc", jumpingOLE(size), reads, 16 << 20, mismatch},
	} {
		t.Run(row.name, func(t *testing.T) {
			doc := &countingReader{ReaderAt: bytes.NewReader(row.doc)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			report, err := document.Inspect(t.Context(), doc, int64(len(row.doc)), row.ext, &fakePDF{pages: 1}, document.DefaultInspectLimits())
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatalf("document.Inspect: %v", err)
			}
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d reads, %d bytes read, %d allocated: %q", doc.reads, doc.bytes, allocated, report.Rejection)
			if (report.Rejection != "") != (row.want == mismatch) {
				t.Errorf("rejection %q, want rejected: %v", report.Rejection, row.want == mismatch)
			}
			if doc.reads > row.reads {
				t.Errorf("%d reads, want at most %d", doc.reads, row.reads)
			}
			if allocated > row.memory {
				t.Errorf("%d bytes allocated, want at most %d", allocated, row.memory)
			}
		})
	}
}

// jumpingTIFF returns a TIFF whose directories are in an order that makes every cache useless.
func jumpingTIFF(size int) []byte {
	le, doc := binary.LittleEndian, make([]byte, size)
	copy(doc, "II*\x00")
	at := 4
	const stride = 20 << 10
	for i := 1; i < 200_000; i++ {
		next := 8 + (i*stride)%(size-64)
		le.PutUint32(doc[at:], uint32(next))
		le.PutUint16(doc[next:], 1)
		at = next + 14
	}
	return doc
}

// crowdedZip returns the end record and the directory of a zip file whose entries have empty names.
func crowdedZip(entries int) []byte {
	entry := append([]byte("PK\x01\x02"), make([]byte, 42)...)
	doc := append([]byte("PK\x03\x04"), bytes.Repeat(entry, entries)...)
	end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	binary.LittleEndian.PutUint32(end[12:], uint32(46*entries))
	binary.LittleEndian.PutUint32(end[16:], 4)
	return append(doc, end...)
}

// jumpingOLE returns a compound file with a mini stream whose sector chain jumps across the entire
// FAT.
func jumpingOLE(size int) []byte {
	le := binary.LittleEndian
	doc := buildOLE(stream("WordDocument", fib(0)))
	doc = append(doc, make([]byte, size-len(doc))...)
	sectors := size/512 - 1
	const fatAt = 100 // sector of the new FAT, which follows those written by buildOLE
	fats := min(109, sectors/128)
	for i := range fats {
		le.PutUint32(doc[76+4*i:], uint32(fatAt+i*(sectors-2*fatAt)/fats))
	}
	le.PutUint32(doc[44:], uint32(fats))
	set := func(sector, next uint32) {
		fat := le.Uint32(doc[76+4*(sector/128):])
		le.PutUint32(doc[512*(int(fat)+1)+4*int(sector%128):], next)
	}
	set(2, endOfChain) // the directory
	total := uint32(fats * 128)
	at := uint32(5)
	for range 10_000 {
		next := (at + 131) % total
		if next < 4 {
			next += 4
		}
		set(at, next)
		at = next
	}
	le.PutUint32(doc[60:], 5) // mini FAT
	le.PutUint32(doc[64:], 1)
	le.PutUint32(doc[512*3+116:], 5) // the root's mini stream
	return doc
}
