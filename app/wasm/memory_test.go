package wasm

import (
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func TestMemory(t *testing.T) {
	m := reserve.Allocate(0, 1<<20)
	b := m.Reallocate(PageSize)
	if len(b) != PageSize {
		t.Fatalf("Reallocate: %d bytes, want %d", len(b), PageSize)
	}
	b[0], b[PageSize-1] = 1, 2
	grown := m.Reallocate(1 << 20)
	if len(grown) != 1<<20 || grown[0] != 1 || grown[PageSize-1] != 2 || &grown[0] != &b[0] {
		t.Error("Reallocate moved the memory or changed its content, want both kept")
	}
	grown[1<<20-1] = 3
	if m.Reallocate(1<<20+1) != nil {
		t.Error("Reallocate beyond the maximum size succeeded, want nil")
	}
	m.Free()
	m.Free()
}

// onePageOfMemory is a WebAssembly module that has only a memory. It starts with one page and can
// grow to two.
const onePageOfMemory = "\x00asm\x01\x00\x00\x00" + "\x05\x04\x01\x01\x01\x02"

func newMemory(t testing.TB) api.Memory {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() {
		if err := r.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	m, err := r.Instantiate(t.Context(), []byte(onePageOfMemory))
	if err != nil {
		t.Fatalf("Instantiate: %v", err)
	}
	return m.Memory()
}

func TestResizeHeap(t *testing.T) {
	m := newMemory(t)
	for _, c := range []struct {
		want uint32
		ok   bool
		size uint32
	}{
		{10, true, PageSize},
		{PageSize + 1, true, 2 * PageSize},
		{3 * PageSize, false, 2 * PageSize},
		{0xffffffff, false, 2 * PageSize},
	} {
		if ok := ResizeHeap(m, []uint64{uint64(c.want)}) == 1; ok != c.ok || m.Size() != c.size {
			t.Errorf("ResizeHeap(%d) = %v, size %d, want %v, size %d", c.want, ok, m.Size(), c.ok, c.size)
		}
	}
}
