package blobstore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/blobstore"
)

// appendOCR adds one record for each text. The pages count from first.
func appendOCR(t *testing.T, s *blobstore.OCRFiles, first int, texts ...string) {
	t.Helper()
	var pages []blobstore.OCRPage
	for i, text := range texts {
		pages = append(pages, blobstore.OCRPage{Page: first + i, Result: []byte(text)})
	}
	if err := s.Append(digest, pages...); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

// ocrResults returns the results of all pages as "1:text 2:text".
func ocrResults(t *testing.T, s *blobstore.OCRFiles) string {
	t.Helper()
	var list []string
	r, err := s.Open(digest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Open: %v", err)
	}
	if err == nil {
		for _, page := range r.Pages {
			result, err := r.Result(page)
			if err != nil {
				t.Fatalf("Result(%d): %v", page, err)
			}
			list = append(list, fmt.Sprintf("%d:%s", page, result))
		}
		if _, err := r.Result(99); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Result(99) = %v, want fs.ErrNotExist", err)
		}
		if err := r.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	pages, err := s.Pages(digest)
	if err != nil || len(pages) != len(list) {
		t.Fatalf("Pages = %v, %v; want %d pages", pages, err, len(list))
	}
	return strings.Join(list, " ")
}

// ocrHeaderSize is the size of a file without records: the magic, a digest, and a checksum.
const ocrHeaderSize = 15 + 32 + 4

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	return raw
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
}

func ocrPath(dir string) string { return filepath.Join(dir, "text", digest[:2], digest) }

func TestOCRFiles(t *testing.T) {
	dir := t.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	if err := s.Check(digest); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check before Append = %v, want fs.ErrNotExist", err)
	}
	if got := ocrResults(t, s); got != "" {
		t.Errorf("results before Append = %q, want none", got)
	}
	appendOCR(t, s, 3, "c")
	appendOCR(t, s, 1, "a", "")
	appendOCR(t, s, 3, "C") // read again
	if got, want := ocrResults(t, s), "1:a 2: 3:C"; got != want {
		t.Errorf("results = %q, want %q", got, want)
	}
	if err := s.Check(digest); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
	for range 2 {
		if err := s.Remove(digest); err != nil {
			t.Errorf("Remove = %v, want nil", err)
		}
	}
	if got := ocrResults(t, s); got != "" {
		t.Errorf("results after Remove = %q, want none", got)
	}
}

func TestOCRFilesRejectInvalidInput(t *testing.T) {
	s := blobstore.NewOCRFiles(t.TempDir())
	_, openErr := s.Open("..")
	for name, err := range map[string]error{
		"page 0":      s.Append(digest, blobstore.OCRPage{Page: 0}),
		"digest":      s.Append("../../etc/passwd", blobstore.OCRPage{Page: 1}),
		"read digest": openErr,
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// A file that was cut at any byte has exactly the records before the cut. The next page is
// stored after them.
func TestOCRFileCutAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	var intact []byte
	ends := map[int]string{} // length of the file -> results up to there
	for page, text := range []string{"first", "second", "third"} {
		appendOCR(t, s, page+1, text)
		intact = readFile(t, ocrPath(dir))
		ends[len(intact)] = ocrResults(t, s)
	}
	sorted := slices.Sorted(maps.Keys(ends))
	for size := range len(intact) {
		want := ""
		for _, end := range sorted {
			if end <= size {
				want = ends[end]
			}
		}
		writeFile(t, ocrPath(dir), intact[:size])
		if got := ocrResults(t, s); got != want {
			t.Fatalf("results of %d bytes = %q, want %q", size, got, want)
		}
		complete := size == ocrHeaderSize || slices.Contains(sorted, size)
		if err := s.Check(digest); (err == nil) != complete {
			t.Fatalf("Check of %d bytes = %v; the file has only complete records: %t", size, err, complete)
		}
		appendOCR(t, s, 9, "new")
		if got, want := ocrResults(t, s), strings.TrimSpace(want+" 9:new"); got != want {
			t.Fatalf("results of %d bytes and a new page = %q, want %q", size, got, want)
		}
		if err := s.Check(digest); err != nil {
			t.Fatalf("Check of %d bytes and a new page = %v, want nil", size, err)
		}
	}
}

// A flipped bit is found wherever it is. Repair keeps the pages before it.
func TestOCRFileWithFlippedBit(t *testing.T) {
	dir := t.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	appendOCR(t, s, 1, "first")
	before := len(readFile(t, ocrPath(dir)))
	appendOCR(t, s, 2, "second")
	intact := readFile(t, ocrPath(dir))
	for at := range intact {
		damaged := bytes.Clone(intact)
		damaged[at] ^= 0x10
		writeFile(t, ocrPath(dir), damaged)
		want := "1:first"
		if at < before {
			want = ""
		}
		if got := ocrResults(t, s); got != want {
			t.Fatalf("results with byte %d changed = %q, want %q", at, got, want)
		}
		if err := s.Check(digest); !errors.Is(err, blobstore.ErrOCRDamaged) && !errors.Is(err, blobstore.ErrOCRVersion) {
			t.Fatalf("Check with byte %d changed = %v, want damage", at, err)
		}
		if changed, err := s.Repair(digest); !changed || err != nil {
			t.Fatalf("Repair = %v, %v; want true", changed, err)
		}
		if got := ocrResults(t, s); got != want {
			t.Fatalf("results after Repair = %q, want %q", got, want)
		}
		if changed, err := s.Repair(digest); changed || err != nil {
			t.Fatalf("second Repair = %v, %v; want false", changed, err)
		}
	}
}

// A record with a valid checksum that can't be inflated was written by a faulty program. Repair
// removes the file.
func TestOCRRecordThatCanNotBeInflated(t *testing.T) {
	dir := t.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	appendOCR(t, s, 1, "first")
	writeFile(t, ocrPath(dir), append(readFile(t, ocrPath(dir)), ocrRecord(2, []byte("not deflated"))...))
	if err := s.Check(digest); !errors.Is(err, blobstore.ErrOCRDamaged) {
		t.Errorf("Check = %v, want ErrOCRDamaged", err)
	}
	if changed, err := s.Repair(digest); !changed || err != nil {
		t.Errorf("Repair = %v, %v; want true", changed, err)
	}
	if _, err := os.Stat(ocrPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file after Repair: %v, want fs.ErrNotExist", err)
	}
}

// ocrRecord returns a record as ocr_file.go describes it.
func ocrRecord(page uint32, body []byte) []byte {
	header := binary.BigEndian.AppendUint32(nil, page)
	header = binary.BigEndian.AppendUint32(header, uint32(len(body)))
	sum := crc32.Checksum(append(bytes.Clone(header), body...), crc32.MakeTable(crc32.Castagnoli))
	return append(binary.BigEndian.AppendUint32(header, sum), body...)
}

func TestOCRFileOfOtherVersionOrDocument(t *testing.T) {
	dir := t.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	appendOCR(t, s, 1, "first")
	intact := readFile(t, ocrPath(dir))
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"newer version":  {bytes.Replace(intact, []byte("ocr-1\n"), []byte("ocr-2\n"), 1), blobstore.ErrOCRVersion},
		"other document": {bytes.Replace(intact, []byte{0xab}, []byte{0xac}, 1), blobstore.ErrOCRDamaged},
		"empty":          {nil, blobstore.ErrOCRDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, ocrPath(dir), c.content)
			if err := s.Check(digest); !errors.Is(err, c.want) || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Check = %v, want %v", err, c.want)
			}
			appendOCR(t, s, 2, "second")
			if got := ocrResults(t, s); got != "2:second" {
				t.Errorf("results = %q, want only the new page", got)
			}
		})
	}
}

func TestWalkOCRFiles(t *testing.T) {
	dir := t.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	var found, strays []string
	walk := func() {
		t.Helper()
		found, strays = nil, nil
		err := s.Walk(context.Background(), func(e blobstore.Entry) error { found = append(found, e.Digest.String()); return nil },
			func(path string) error { strays = append(strays, filepath.Base(path)); return nil })
		if err != nil {
			t.Fatalf("Walk: %v", err)
		}
	}
	if walk(); found != nil {
		t.Errorf("Walk without a directory found %v", found)
	}
	appendOCR(t, s, 1, "first")
	writeFile(t, filepath.Join(dir, "text", "note.txt"), []byte("x"))
	if walk(); !slices.Equal(found, []string{digest}) || !slices.Equal(strays, []string{"note.txt"}) {
		t.Errorf("Walk = %v and strays %v, want %s and note.txt", found, strays, digest)
	}
}

// FuzzOCRFile checks that any file can be read, repaired, and appended to.
func FuzzOCRFile(f *testing.F) {
	dir := f.TempDir()
	s := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	for page, text := range []string{"first", strings.Repeat("second ", 200)} {
		if err := s.Append(digest, blobstore.OCRPage{Page: page + 1, Result: []byte(text)}); err != nil {
			f.Fatalf("Append: %v", err)
		}
		raw, err := os.ReadFile(ocrPath(dir))
		if err != nil {
			f.Fatalf("read file: %v", err)
		}
		f.Add(raw)
		f.Add(append(raw, ocrRecord(7, []byte("x"))...))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		writeFile(t, ocrPath(dir), raw)
		intact := s.Check(digest)
		before, err := s.Pages(digest)
		if err != nil {
			t.Fatalf("Pages: %v", err)
		}
		changed, err := s.Repair(digest)
		if err != nil || changed != (intact != nil) {
			t.Fatalf("Repair = %t, %v; Check returned %v", changed, err, intact)
		}
		after, err := s.Pages(digest)
		if err != nil || len(after) != len(before) && len(after) > 0 {
			t.Fatalf("Pages after Repair = %v, %v; before it %v", after, err, before)
		}
		if err := s.Append(digest, blobstore.OCRPage{Page: 5, Result: []byte("new")}); err != nil {
			t.Fatalf("Append: %v", err)
		}
		r, err := s.Open(digest)
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		if got, err := r.Result(5); err != nil || string(got) != "new" {
			t.Errorf("Result = %q, %v; want new", got, err)
		}
		if err := r.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	})
}
