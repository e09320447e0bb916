package pdf

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/tetratelabs/wazero/api"

	"deedkeep/app/wasm"
)

// scratchSize is the size, in bytes, of the memory that each instance reserves for paths and small
// results.
const scratchSize = 64

// instance is a running instance of PDFium.
type instance struct {
	*wasm.Instance
	files   wasm.Files // only the open documents
	added   int        // number of files that were added
	scratch uint32     // address of scratchSize bytes
	dead    bool

	callback  api.Module  // instance of callbackModule; nil until enableSaving
	fileWrite uint32      // address of the FPDF_FILEWRITE; 0 until enableSaving
	output    *outputFile // nil unless a copy is being saved
}

// start instantiates PDFium and stores the instance in e.live. It does so before the first call
// because the host functions use e.live.
func start(ctx context.Context, e *Engine) (*instance, error) {
	module, err := e.code.Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	in := &instance{Instance: module}
	e.live = in
	return in, wasm.CatchFault(func() error {
		for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors", "FPDF_InitLibrary"} {
			in.Call(ctx, name)
		}
		in.scratch = in.Alloc(ctx, scratchSize)
		return nil
	})
}

// addFile adds a file of size bytes under a new path.
func (in *instance) addFile(r io.ReaderAt, size int64) *wasm.File {
	in.added++
	return in.files.Add(fmt.Sprintf("/%d.pdf", in.added), r, size)
}

// cString writes a short string and a terminating zero to the scratch memory and returns its
// address.
func (in *instance) cString(s string) uint32 {
	copy(in.Read(in.scratch, scratchSize), s+"\x00")
	return in.scratch
}

// floats reads n 32-bit floats from the scratch memory.
func (in *instance) floats(n int) []float64 {
	values, raw := make([]float64, n), in.Read(in.scratch, uint32(4*n))
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return values
}

// doubles reads n 64-bit floats from the scratch memory.
func (in *instance) doubles(n int) []float64 {
	values, raw := make([]float64, n), in.Read(in.scratch, uint32(8*n))
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return values
}
