package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// callHost calls a host function. If the function panics, callHost returns the error that it
// panicked with.
func callHost(do HostFunc, m api.Memory, args ...uint32) (result int32, panicked error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = r.(error)
		}
	}()
	stack := make([]uint64, len(args))
	for i, arg := range args {
		stack[i] = uint64(arg)
	}
	return do(m, stack), nil
}

func TestFiles(t *testing.T) {
	m := newMemory(t)
	var fs Files
	f := fs.Add("/1.pdf", bytes.NewReader([]byte("0123456789")), 10)
	m.WriteString(0, f.Path+"\x00")
	m.WriteString(100, "/etc/passwd\x00")
	m.Write(200, bytes.Repeat([]byte{'a'}, 1000)) // string without a terminating zero
	const fd, buffer, vector, sum = 3, 2000, 3000, 4000
	m.WriteUint32Le(vector, buffer)
	m.WriteUint32Le(vector+4, 4)
	m.WriteUint32Le(vector+8, 1<<31) // beyond the end of the memory
	m.WriteUint32Le(vector+12, 4)
	for _, c := range []struct {
		name     string
		do       HostFunc
		args     []uint32
		want     int32
		panicked error
	}{
		{"open another path", fs.OpenAt, []uint32{0, 100, 0, 0}, -ErrnoNoEnt, nil},
		{"open a path without end", fs.OpenAt, []uint32{0, 200, 0, 0}, -ErrnoNoEnt, nil},
		{"open beyond the memory", fs.OpenAt, []uint32{0, 1 << 30, 0, 0}, 0, ErrOutOfBounds},
		{"open for writing", fs.OpenAt, []uint32{0, 0, 1, 0}, -ErrnoROFS, nil},
		{"open", fs.OpenAt, []uint32{0, 0, 0, 0}, fd, nil},
		{"stat", fs.Stat, []uint32{0, buffer}, 0, nil},
		{"stat another path", fs.Stat, []uint32{100, buffer}, -ErrnoNoEnt, nil},
		{"statat", fs.StatAt, []uint32{0, 0, buffer, 0}, 0, nil},
		{"fstat over the end of memory", fs.FStat, []uint32{fd, PageSize - 95}, 0, ErrOutOfBounds},
		{"fstat of no file", fs.FStat, []uint32{9, buffer}, -ErrnoBadFD, nil},
		{"fstat", fs.FStat, []uint32{fd, buffer}, 0, nil},
		{"seek", fs.SeekSplit, []uint32{fd, 0xffffffff, 0xffffffff, 2, sum}, 0, nil},
		{"seek before the start", fs.SeekSplit, []uint32{fd, 0xffffffff, 0xffffffff, 0, sum}, errnoInval, nil},
		{"seek in no file", fs.SeekSplit, []uint32{9, 0, 0, 0, sum}, ErrnoBadFD, nil},
		{"read", fs.Read, []uint32{fd, vector, 1, sum}, 0, nil},
		{"read beyond the memory", fs.Read, []uint32{fd, vector, 2, sum}, 0, ErrOutOfBounds},
		{"read too many vectors", fs.Read, []uint32{fd, vector, 1 << 29, sum}, 0, ErrOutOfBounds},
		{"read no file", fs.Read, []uint32{9, vector, 1, sum}, ErrnoBadFD, nil},
		{"write the file", fs.Write, []uint32{fd, vector, 1, sum}, ErrnoBadFD, nil},
		{"write a message", fs.Write, []uint32{2, vector, 1, sum}, 0, nil},
		{"seek from nowhere", fs.SeekSplit, []uint32{fd, 0, 0, 3, sum}, errnoInval, nil},
		{"close", fs.Close, []uint32{fd}, 0, nil},
		{"close again", fs.Close, []uint32{fd}, ErrnoBadFD, nil},
		{"abort", Abort, nil, 0, ErrAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, panicked := callHost(c.do, m, c.args...)
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
	again, _ := callHost(fs.OpenAt, m, 0, 0, 0, 0)
	fs.Remove(f)
	if got, _ := callHost(fs.OpenAt, m, 0, 0, 0, 0); got != -ErrnoNoEnt {
		t.Errorf("open after Remove = %d, want %d", got, -ErrnoNoEnt)
	}
	if got, _ := callHost(fs.FStat, m, uint32(again), buffer); got != -ErrnoBadFD {
		t.Errorf("fstat after Remove = %d, want %d", got, -ErrnoBadFD)
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
		m.Write(0, memory[:min(len(memory), PageSize)])
		var fs Files
		doc := fs.Add("/1.pdf", bytes.NewReader(make([]byte, 1000)), 1000)
		fs.handles[firstFD] = &handle{file: doc}
		for name, do := range map[string]HostFunc{
			"OpenAt": fs.OpenAt, "FStat": fs.FStat, "Stat": fs.Stat, "StatAt": fs.StatAt, "Read": fs.Read, "Write": fs.Write,
			"Seek": fs.Seek, "SeekSplit": fs.SeekSplit, "Close": fs.Close, "Abort": Abort, "Memcpy": Memcpy,
			"ResizeHeap": ResizeHeap, "EnvironSizes": EnvironSizes, "UTC": UTC, "Epoch": Epoch(2), "Clock": Clock,
		} {
			_, panicked := callHost(do, m, a, b, c, d, e)
			if panicked != nil && panicked != ErrAborted && panicked != ErrOutOfBounds {
				t.Errorf("%s: got %v, want no panic, or one that the engine expects", name, panicked)
			}
		}
	})
}
