package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// onePageOfMemory is a WebAssembly module that has a memory of one page, at
// most two, and nothing else.
const onePageOfMemory = "\x00asm\x01\x00\x00\x00" + "\x05\x04\x01\x01\x01\x02"

func newMemory(t testing.TB) api.Memory {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	m, err := r.Instantiate(t.Context(), []byte(onePageOfMemory))
	if err != nil {
		t.Fatal(err)
	}
	return m.Memory()
}

// ask calls a host function, and returns what it panicked with instead of a
// result.
func ask(do hostFunc, in *instance, m api.Memory, args ...uint32) (result int32, panicked error) {
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
	m.Write(200, bytes.Repeat([]byte{'a'}, 1000)) // no end of text
	const fd, buffer, vector, sum = 3, 2000, 3000, 4000
	m.WriteUint32Le(vector, buffer)
	m.WriteUint32Le(vector+4, 4)
	m.WriteUint32Le(vector+8, 1<<31) // beyond the memory
	m.WriteUint32Le(vector+12, 4)
	for _, c := range []struct {
		name     string
		do       hostFunc
		args     []uint32
		want     int32
		panicked error
	}{
		{"open another path", openat, []uint32{0, 100, 0, 0}, -errnoNoEnt, nil},
		{"open a path without end", openat, []uint32{0, 200, 0, 0}, -errnoNoEnt, nil},
		{"open beyond the memory", openat, []uint32{0, 1 << 30, 0, 0}, 0, errOutOfBounds},
		{"open for writing", openat, []uint32{0, 0, 1, 0}, -errnoROFS, nil},
		{"open", openat, []uint32{0, 0, 0, 0}, fd, nil},
		{"stat", stat, []uint32{0, buffer}, 0, nil},
		{"stat another path", stat, []uint32{100, buffer}, -errnoNoEnt, nil},
		{"statat", statat, []uint32{0, 0, buffer, 0}, 0, nil},
		{"fstat over the end of memory", fstat, []uint32{fd, wasmPage - 95}, 0, errOutOfBounds},
		{"fstat of no file", fstat, []uint32{9, buffer}, -errnoBadFD, nil},
		{"fstat", fstat, []uint32{fd, buffer}, 0, nil},
		{"seek", fdSeek, []uint32{fd, 0xffffffff, 0xffffffff, 2, sum}, 0, nil},
		{"seek before the start", fdSeek, []uint32{fd, 0xffffffff, 0xffffffff, 0, sum}, errnoInval, nil},
		{"seek in no file", fdSeek, []uint32{9, 0, 0, 0, sum}, errnoBadFD, nil},
		{"read", fdRead, []uint32{fd, vector, 1, sum}, 0, nil},
		{"read beyond the memory", fdRead, []uint32{fd, vector, 2, sum}, 0, errOutOfBounds},
		{"read too many vectors", fdRead, []uint32{fd, vector, 1 << 29, sum}, 0, errOutOfBounds},
		{"read no file", fdRead, []uint32{9, vector, 1, sum}, errnoBadFD, nil},
		{"write the file", fdWrite, []uint32{fd, vector, 1, sum}, errnoBadFD, nil},
		{"write a message", fdWrite, []uint32{2, vector, 1, sum}, 0, nil},
		{"close", fdClose, []uint32{fd}, 0, nil},
		{"close again", fdClose, []uint32{fd}, errnoBadFD, nil},
		{"abort", abort, nil, 0, errAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, panicked := ask(c.do, in, m, c.args...)
			if got != c.want || !errors.Is(panicked, c.panicked) {
				t.Errorf("%d, %v; want %d, %v", got, panicked, c.want, c.panicked)
			}
			switch c.name {
			case "stat", "statat", "fstat":
				b, _ := m.Read(buffer, 96)
				if size := binary.LittleEndian.Uint64(b[24:]); size != 10 {
					t.Errorf("size %d", size)
				}
			case "seek":
				if pos, _ := m.ReadUint64Le(sum); pos != 9 {
					t.Errorf("position %d", pos)
				}
			case "read":
				n, _ := m.ReadUint32Le(sum)
				if b, _ := m.Read(buffer, n); string(b) != "9" {
					t.Errorf("read %q", b)
				}
			}
		})
	}
}

func TestResizeHeap(t *testing.T) {
	m := newMemory(t)
	for _, c := range []struct{ want, answer, size uint32 }{
		{10, 1, wasmPage},
		{wasmPage + 1, 1, 2 * wasmPage},
		{3 * wasmPage, 0, 2 * wasmPage},
		{0xffffffff, 0, 2 * wasmPage},
	} {
		got, panicked := ask(resizeHeap, nil, m, c.want)
		if uint32(got) != c.answer || m.Size() != c.size || panicked != nil {
			t.Errorf("%d bytes: %d, size %d, %v", c.want, got, m.Size(), panicked)
		}
	}
}

// FuzzHost calls the host functions as an instance would that a document has
// taken over: each ends with a result or with one of our two panics.
func FuzzHost(f *testing.F) {
	f.Add(uint32(0), uint32(0), uint32(0), uint32(0), uint32(0), []byte("/1.pdf\x00"))
	f.Add(uint32(3), uint32(8), uint32(1), uint32(16), uint32(0), []byte("/1.pdf\x00\x00\x20\x00\x00\x00\xff\x00\x00\x00"))
	f.Add(uint32(3), uint32(0xffffffff), uint32(0xffffffff), uint32(2), uint32(0xfffffffc), []byte{})
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, a, b, c, d, e uint32, memory []byte) {
		m.Write(0, memory[:min(len(memory), wasmPage)])
		in := &instance{files: newFiles()}
		doc := in.files.add(bytes.NewReader(make([]byte, 1000)), 1000)
		in.files.open(doc.path)
		for _, module := range hostFuncs {
			for name, do := range module {
				_, panicked := ask(do, in, m, a, b, c, d, e)
				if panicked != nil && panicked != errAborted && panicked != errOutOfBounds {
					t.Errorf("%s: %v", name, panicked)
				}
			}
		}
	})
}
