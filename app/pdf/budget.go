package pdf

import (
	"errors"
	"io"
)

// errReads reports that PDFium reads too much to open a document.
var errReads = errors.New("opening the document takes too many reads")

// openReads is the number of bytes that PDFium may read to open a document of the given size. If the
// cross-reference table is damaged, PDFium searches the document for objects. That takes a few
// passes, but at each stream that doesn't end, PDFium searches the rest of the document again.
func openReads(size int64) int64 { return 32*size + 64<<20 }

// budgetReader limits how much PDFium reads. Above the limit, it panics, because PDFium would continue
// after an error.
type budgetReader struct {
	io.ReaderAt
	limited bool
	left    int64 // bytes
}

// ReadAt implements io.ReaderAt.
func (r *budgetReader) ReadAt(p []byte, offset int64) (int, error) {
	if r.left -= int64(len(p)); r.limited && r.left < 0 {
		panic(errReads)
	}
	return r.ReaderAt.ReadAt(p, offset)
}
