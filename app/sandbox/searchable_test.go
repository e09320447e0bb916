package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"deedkeep/app/ocr"
)

// memoryFile is a file in memory.
type memoryFile struct{ content []byte }

func (f *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	f.content = append(f.content[:off], p...)
	return len(p), nil
}

// A file is written again from its start if the worker is replaced, and only with frames of a file.
func TestFileResult(t *testing.T) {
	out := &memoryFile{}
	a := &fileResult{out: out}
	for range 2 {
		a.reset()
		for _, part := range []string{"ab", "c"} {
			if err := a.add(frameFile, []byte(part), false); err != nil {
				t.Fatalf("add: %v", err)
			}
		}
	}
	if err := a.finish(taskDone{}); err != nil || string(out.content) != "abc" || a.size != 3 {
		t.Errorf("finish = %v with %q and size %d, want \"abc\"", err, out.content, a.size)
	}
	for name, err := range map[string]error{
		"other frame": a.add(frameText, []byte("x"), false), "empty frame": a.add(frameFile, nil, false),
		"empty file": (&fileResult{}).finish(taskDone{}), "large file": (&fileResult{out: out, size: maxFileBytes}).add(frameFile, []byte("x"), false),
	} {
		if !errors.Is(err, errProtocol) {
			t.Errorf("%s: error %v, want a protocol violation", name, err)
		}
	}
}

func TestJoined(t *testing.T) {
	j := joined{bytes.NewReader([]byte("document")), 8, bytes.NewReader([]byte("words"))}
	for off := range int64(13) {
		for n := range 13 - off + 1 {
			got := make([]byte, n)
			if k, err := j.ReadAt(got, off); int64(k) != n || string(got) != "documentwords"[off:off+n] || err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("ReadAt(%d, %d) = %q, %v", off, n, got[:k], err)
			}
		}
	}
	if _, err := j.ReadAt(make([]byte, 1), 13); !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt the end = %v, want EOF", err)
	}
}

func TestWordsReader(t *testing.T) {
	var list bytes.Buffer
	for _, page := range []int{2, 3, 7} {
		words := NumberedWords{page, ocr.Page{Words: []ocr.Word{{Text: string(rune('a' + page))}}}}
		if err := json.NewEncoder(&list).Encode(words); err != nil {
			t.Fatalf("encode: %v", err)
		}
	}
	r := wordsReader{decoder: json.NewDecoder(&list)}
	for page := 1; page <= 8; page++ {
		got, err := r.read(page)
		if want := map[int]string{2: "c", 3: "d", 7: "h"}[page]; err != nil || got.Text() != want {
			t.Errorf("words of page %d = %q, %v; want %q", page, got.Text(), err, want)
		}
	}
	if _, err := (&wordsReader{decoder: json.NewDecoder(bytes.NewReader([]byte("{")))}).read(1); err == nil {
		t.Error("words that are cut off: no error")
	}
}
