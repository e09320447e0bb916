package ocr

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"deedkeep/app/wasm"
	"deedkeep/web"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The names of imported and exported functions are minified, so they are valid only for this build
// of Tesseract.
func TestNamesAreOfThisBuild(t *testing.T) {
	const known = "34e8d50cac216427d86bf397d610fdd9f49492539bbcdfbfccc4eda20c810bea"
	code, err := web.Tesseract()
	if err != nil {
		t.Fatalf("web.Tesseract: %v", err)
	}
	sum := sha256.Sum256(code)
	if got := hex.EncodeToString(sum[:]); got != known {
		t.Errorf("Tesseract's SHA-256 is %s, want %s: compare the names in exports, hostFuncs, and invokeFuncs "+
			"with tesseract-core-simd-lstm.js in web/node_modules, then change this test", got, known)
	}
}

// onePageOfMemory is a WebAssembly module that has only a memory with one page.
const onePageOfMemory = "\x00asm\x01\x00\x00\x00" + "\x05\x04\x01\x01\x01\x01"

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
func callHost(do hostFunc, in *instance, m api.Memory, args ...uint64) (result int32, panicked error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = r.(error)
		}
	}()
	return int32(uint32(do(in, m, args))), nil
}

func TestHostFiles(t *testing.T) {
	m := newMemory(t)
	in := &instance{files: map[string][]byte{"/eng.traineddata": []byte("0123456789")}}
	m.WriteString(0, "/eng.traineddata\x00")
	m.WriteString(100, "/etc/passwd\x00")
	const buffer, vector, sum = 2000, 3000, 4000
	m.WriteUint32Le(vector, buffer)
	m.WriteUint32Le(vector+4, 4)
	m.WriteUint32Le(vector+8, 1<<31) // beyond the end of the memory
	m.WriteUint32Le(vector+12, 4)
	minus := func(n int64) uint64 { return uint64(-n) }
	for _, c := range []struct {
		name     string
		do       hostFunc
		args     []uint64
		want     int32
		panicked error
	}{
		{"open another path", openat, []uint64{0, 100, 0, 0}, -wasm.ErrnoNoEnt, nil},
		{"open for writing", openat, []uint64{0, 0, 1, 0}, -wasm.ErrnoROFS, nil},
		{"open beyond the memory", openat, []uint64{0, 1 << 30, 0, 0}, 0, wasm.ErrOutOfBounds},
		{"open", openat, []uint64{0, 0, 0, 0}, firstFD, nil},
		{"stat another path", statat, []uint64{0, 100, buffer, 0}, -wasm.ErrnoNoEnt, nil},
		{"stat", statat, []uint64{0, 0, buffer, 0}, 0, nil},
		{"fstat of no file", fstat, []uint64{9, buffer}, -wasm.ErrnoBadFD, nil},
		{"fstat", fstat, []uint64{firstFD, buffer}, 0, nil},
		{"seek to the last byte", fdSeek, []uint64{firstFD, minus(1), 2, sum}, 0, nil},
		{"seek back", fdSeek, []uint64{firstFD, minus(2), 1, sum}, 0, nil},
		{"seek before the start", fdSeek, []uint64{firstFD, minus(1), 0, sum}, wasm.ErrnoInval, nil},
		{"seek far away", fdSeek, []uint64{firstFD, 1 << 62, 1, sum}, wasm.ErrnoInval, nil},
		{"seek from nowhere", fdSeek, []uint64{firstFD, 0, 3, sum}, wasm.ErrnoInval, nil},
		{"seek in no file", fdSeek, []uint64{minus(1), 0, 0, sum}, wasm.ErrnoBadFD, nil},
		{"read", fdRead, []uint64{firstFD, vector, 1, sum}, 0, nil},
		{"read beyond the memory", fdRead, []uint64{firstFD, vector, 2, sum}, 0, wasm.ErrOutOfBounds},
		{"read no file", fdRead, []uint64{2, vector, 1, sum}, wasm.ErrnoBadFD, nil},
		{"write a message", fdWrite, []uint64{2, vector, 1, sum}, 0, nil},
		{"write too many vectors", fdWrite, []uint64{2, vector, 1 << 29, sum}, 0, wasm.ErrOutOfBounds},
		{"close", fdClose, []uint64{firstFD}, 0, nil},
		{"close again", fdClose, []uint64{firstFD}, wasm.ErrnoBadFD, nil},
		{"abort", abort, nil, 0, errAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, panicked := callHost(c.do, in, m, c.args...)
			if got != c.want || !errors.Is(panicked, c.panicked) {
				t.Errorf("result %d, panic %v, want %d, %v", got, panicked, c.want, c.panicked)
			}
			if c.name == "read" {
				n, _ := m.ReadUint32Le(sum)
				if b, _ := m.Read(buffer, n); string(b) != "789" {
					t.Errorf("read %q, want %q", b, "789")
				}
			}
		})
	}
}

// FuzzHost calls the host functions as an instance under the control of a malicious page might.
// Each function must return or panic with one of the expected errors.
func FuzzHost(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), []byte("/eng.traineddata\x00"))
	f.Add(uint64(3), uint64(8), uint64(1), uint64(16), []byte("/eng.traineddata\x00\x00\x20\x00\x00\x00\xff\x00\x00\x00"))
	f.Add(uint64(3), uint64(0xffffffffffffffff), uint64(2), uint64(0xfffffffc), []byte{})
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, a, b, c, d uint64, memory []byte) {
		m.Write(0, memory[:min(len(memory), wasm.PageSize)])
		in := &instance{files: map[string][]byte{"/eng.traineddata": make([]byte, 1000)}}
		in.handles = []*handle{{content: make([]byte, 1000)}}
		for name, do := range hostFuncs {
			_, panicked := callHost(do, in, m, a, b, c, d, 0, 0)
			if panicked != nil && !errors.Is(panicked, errLongjmp) && !errors.Is(panicked, wasm.ErrOutOfBounds) {
				t.Errorf("%s: got %v, want no panic, or one that the engine expects", name, panicked)
			}
		}
	})
}
