package pdf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"deedkeep/app/wasm"
)

// scratchSize is the size, in bytes, of the memory that each instance reserves for paths and small
// results.
const scratchSize = 64

// instance is a running instance of PDFium.
type instance struct {
	*wasm.Instance
	added   int    // number of files that were added, one for each document
	scratch uint32 // address of scratchSize bytes

	fileWrite uint32      // address of the FPDF_FILEWRITE; 0 until enableSaving
	output    *outputFile // nil unless a copy is being saved
}

// addFile adds a file of size bytes under a new path.
func (in *instance) addFile(r io.ReaderAt, size int64) *wasm.File {
	in.added++
	return in.Files.Add(fmt.Sprintf("/%d.pdf", in.added), r, size)
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
