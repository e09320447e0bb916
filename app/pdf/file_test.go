package pdf

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"deedkeep/app/wasm"
)

func TestHandle(t *testing.T) {
	fs := newFiles()
	f := fs.add(bytes.NewReader([]byte("0123456789")), 10)
	if fd := fs.open("/etc/passwd"); fd != -wasm.ErrnoNoEnt {
		t.Errorf("open of another path = %d, want %d", fd, -wasm.ErrnoNoEnt)
	}
	h := fs.handles[fs.open(f.path)]
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
	fs.remove(f)
	if len(fs.handles) != 0 || fs.open(f.path) != -wasm.ErrnoNoEnt {
		t.Error("the file exists after remove, want it gone")
	}
}

func TestHandleShortFile(t *testing.T) {
	fs := newFiles()
	f := fs.add(bytes.NewReader([]byte("0123")), 10)
	h := fs.handles[fs.open(f.path)]
	if _, err := h.read(make([]byte, 10)); !errors.Is(err, io.ErrUnexpectedEOF) || f.err == nil {
		t.Errorf("read: error %v, file error %v, want %v", err, f.err, io.ErrUnexpectedEOF)
	}
}

func TestEvenly(t *testing.T) {
	for _, c := range []struct{ pages, n int }{{1, 1}, {2, 2}, {20, 20}, {21, 20}, {301, 20}, {1 << 30, 20}} {
		list := evenly(c.pages, maxSampled)
		if len(list) != c.n || list[0] != 1 || list[len(list)-1] != c.pages {
			t.Errorf("evenly(%d) = %v, want %d numbers from 1 to %d", c.pages, list, c.n, c.pages)
		}
	}
}
