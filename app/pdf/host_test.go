package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

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

// callHost calls a host function. If the function panics, callHost returns the error that it
// panicked with.
func callHost(do hostFunc, in *instance, m api.Memory, args ...uint32) (result int32, panicked error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = r.(error)
		}
	}()
	stack := make([]uint64, len(args))
	for i, arg := range args {
		stack[i] = uint64(arg)
	}
	return do(in, m, stack), nil
}

func TestHostFiles(t *testing.T) {
	m := newMemory(t)
	in := &instance{files: newFiles()}
	f := in.files.add(bytes.NewReader([]byte("0123456789")), 10)
	m.WriteString(0, f.path+"\x00")
	m.WriteString(100, "/etc/passwd\x00")
	m.Write(200, bytes.Repeat([]byte{'a'}, 1000)) // string without a terminating zero
	const fd, buffer, vector, sum = 3, 2000, 3000, 4000
	m.WriteUint32Le(vector, buffer)
	m.WriteUint32Le(vector+4, 4)
	m.WriteUint32Le(vector+8, 1<<31) // beyond the end of the memory
	m.WriteUint32Le(vector+12, 4)
	for _, c := range []struct {
		name     string
		do       hostFunc
		args     []uint32
		want     int32
		panicked error
	}{
		{"open another path", openat, []uint32{0, 100, 0, 0}, -wasm.ErrnoNoEnt, nil},
		{"open a path without end", openat, []uint32{0, 200, 0, 0}, -wasm.ErrnoNoEnt, nil},
		{"open beyond the memory", openat, []uint32{0, 1 << 30, 0, 0}, 0, wasm.ErrOutOfBounds},
		{"open for writing", openat, []uint32{0, 0, 1, 0}, -wasm.ErrnoROFS, nil},
		{"open", openat, []uint32{0, 0, 0, 0}, fd, nil},
		{"stat", stat, []uint32{0, buffer}, 0, nil},
		{"stat another path", stat, []uint32{100, buffer}, -wasm.ErrnoNoEnt, nil},
		{"statat", statat, []uint32{0, 0, buffer, 0}, 0, nil},
		{"fstat over the end of memory", fstat, []uint32{fd, wasm.PageSize - 95}, 0, wasm.ErrOutOfBounds},
		{"fstat of no file", fstat, []uint32{9, buffer}, -wasm.ErrnoBadFD, nil},
		{"fstat", fstat, []uint32{fd, buffer}, 0, nil},
		{"seek", fdSeek, []uint32{fd, 0xffffffff, 0xffffffff, 2, sum}, 0, nil},
		{"seek before the start", fdSeek, []uint32{fd, 0xffffffff, 0xffffffff, 0, sum}, wasm.ErrnoInval, nil},
		{"seek in no file", fdSeek, []uint32{9, 0, 0, 0, sum}, wasm.ErrnoBadFD, nil},
		{"read", fdRead, []uint32{fd, vector, 1, sum}, 0, nil},
		{"read beyond the memory", fdRead, []uint32{fd, vector, 2, sum}, 0, wasm.ErrOutOfBounds},
		{"read too many vectors", fdRead, []uint32{fd, vector, 1 << 29, sum}, 0, wasm.ErrOutOfBounds},
		{"read no file", fdRead, []uint32{9, vector, 1, sum}, wasm.ErrnoBadFD, nil},
		{"write the file", fdWrite, []uint32{fd, vector, 1, sum}, wasm.ErrnoBadFD, nil},
		{"write a message", fdWrite, []uint32{2, vector, 1, sum}, 0, nil},
		{"close", fdClose, []uint32{fd}, 0, nil},
		{"close again", fdClose, []uint32{fd}, wasm.ErrnoBadFD, nil},
		{"abort", abort, nil, 0, errAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, panicked := callHost(c.do, in, m, c.args...)
			if got != c.want || !errors.Is(panicked, c.panicked) {
				t.Errorf("result %d, panic %v, want %d, %v", got, panicked, c.want, c.panicked)
			}
			switch c.name {
			case "stat", "statat", "fstat":
				b, _ := m.Read(buffer, 96)
				if size := binary.LittleEndian.Uint64(b[24:]); size != 10 {
					t.Errorf("size %d, want 10", size)
				}
			case "seek":
				if pos, _ := m.ReadUint64Le(sum); pos != 9 {
					t.Errorf("position %d, want 9", pos)
				}
			case "read":
				n, _ := m.ReadUint32Le(sum)
				if b, _ := m.Read(buffer, n); string(b) != "9" {
					t.Errorf("read %q, want %q", b, "9")
				}
			}
		})
	}
}

func TestResizeHeap(t *testing.T) {
	m := newMemory(t)
	for _, c := range []struct{ want, result, size uint32 }{
		{10, 1, wasm.PageSize},
		{wasm.PageSize + 1, 1, 2 * wasm.PageSize},
		{3 * wasm.PageSize, 0, 2 * wasm.PageSize},
		{0xffffffff, 0, 2 * wasm.PageSize},
	} {
		got, panicked := callHost(resizeHeap, nil, m, c.want)
		if uint32(got) != c.result || m.Size() != c.size || panicked != nil {
			t.Errorf("resizeHeap(%d) = %d, size %d, panic %v, want %d, size %d", c.want, got, m.Size(), panicked, c.result, c.size)
		}
	}
}

// FuzzHost calls the host functions as an instance under the control of a malicious document might.
// Each function must return or panic with one of the two expected errors.
func FuzzHost(f *testing.F) {
	f.Add(uint32(0), uint32(0), uint32(0), uint32(0), uint32(0), []byte("/1.pdf\x00"))
	f.Add(uint32(3), uint32(8), uint32(1), uint32(16), uint32(0), []byte("/1.pdf\x00\x00\x20\x00\x00\x00\xff\x00\x00\x00"))
	f.Add(uint32(3), uint32(0xffffffff), uint32(0xffffffff), uint32(2), uint32(0xfffffffc), []byte{})
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, a, b, c, d, e uint32, memory []byte) {
		m.Write(0, memory[:min(len(memory), wasm.PageSize)])
		in := &instance{files: newFiles()}
		doc := in.files.add(bytes.NewReader(make([]byte, 1000)), 1000)
		in.files.open(doc.path)
		for _, module := range hostFuncs {
			for name, do := range module {
				_, panicked := callHost(do, in, m, a, b, c, d, e)
				if panicked != nil && panicked != errAborted && panicked != wasm.ErrOutOfBounds {
					t.Errorf("%s: got %v, want no panic, or one that the engine expects", name, panicked)
				}
			}
		}
	})
}
