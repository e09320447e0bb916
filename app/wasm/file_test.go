package wasm

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestHandle(t *testing.T) {
	h := &handle{file: &File{r: bytes.NewReader([]byte("0123456789")), size: 10}}
	for _, step := range []struct {
		name   string
		offset int64
		whence uint32
		ok     bool
		read   int
		want   string
	}{
		{"start", 2, io.SeekStart, true, 3, "234"},
		{"current", -1, io.SeekCurrent, true, 2, "45"},
		{"end", -2, io.SeekEnd, true, 9, "89"},
		{"at the end", 0, io.SeekEnd, true, 4, ""},
		{"beyond the end", 1 << 40, io.SeekStart, true, 4, ""},
		{"far beyond the end", 1 << 62, io.SeekCurrent, true, 4, ""},
		{"beyond all positions", 1 << 62, io.SeekCurrent, false, 4, ""},
		{"before the start", -11, io.SeekEnd, false, 0, ""},
		{"unknown origin", 0, 9, false, 0, ""},
	} {
		t.Run(step.name, func(t *testing.T) {
			if _, ok := h.seek(step.offset, step.whence); ok != step.ok {
				t.Fatalf("seek: ok = %v, want %v", ok, step.ok)
			}
			p := make([]byte, step.read)
			n, err := h.read(p)
			if err != nil || string(p[:n]) != step.want {
				t.Errorf("read = %q, %v, want %q", p[:n], err, step.want)
			}
		})
	}
}

func TestHandleShortFile(t *testing.T) {
	f := &File{r: bytes.NewReader([]byte("0123")), size: 10}
	h := &handle{file: f}
	if _, err := h.read(make([]byte, 10)); !errors.Is(err, io.ErrUnexpectedEOF) || f.Err == nil {
		t.Errorf("read: error %v, file error %v, want %v", err, f.Err, io.ErrUnexpectedEOF)
	}
}
