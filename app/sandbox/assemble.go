package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
)

// Part is a document and the pages of it that a new document gets. Page numbers start at 1.
type Part struct {
	Doc   io.ReaderAt
	Size  int64  // of Doc in bytes
	MIME  string // media type, as in document.Report
	Pages []pdf.PageTurn
}

// taskPart describes a part to the worker. The documents follow one another.
type taskPart struct {
	Size  int64          `json:"size"`
	MIME  string         `json:"mime"`
	Pages []pdf.PageTurn `json:"pages"`
}

// Maximum number of pages and parts of a new document. Their description must fit into a frame.
const (
	maxTaskPages = 10_000
	maxTaskParts = 2_000
)

// Assemble writes a PDF with the pages of the parts to out. Doc, Size, MIME, and Ext of r are ignored. If the
// worker is replaced, Assemble writes the file again from its start. It returns the size of the file, and
// the errors of PageImage or out.
func (p *Pool) Assemble(ctx context.Context, r Request, parts []Part, out io.WriterAt, lim document.ExtractLimits) (size int64, err error) {
	t, docs := task{Task: taskAssemble, Extract: withDefaultLimits(lim)}, concatenated{}
	r.Size, r.MIME, r.Ext = 0, "", ""
	pages := 0
	for _, part := range parts {
		if pages += len(part.Pages); pages > maxTaskPages || len(t.Parts) == maxTaskParts {
			return 0, document.ErrTooLarge
		}
		t.Parts = append(t.Parts, taskPart{part.Size, part.MIME, part.Pages})
		docs = append(docs, section{r.Size, part})
		r.Size += part.Size
	}
	r.Doc = docs
	a := &fileResult{out: out}
	err = p.run(ctx, r, t, a)
	return a.size, err
}

// section is a document at an offset.
type section struct {
	offset int64
	Part
}

// concatenated reads documents that follow one another.
type concatenated []section

// ReadAt implements io.ReaderAt.
func (c concatenated) ReadAt(p []byte, off int64) (n int, err error) {
	at, found := slices.BinarySearchFunc(c, off, func(s section, off int64) int {
		if off < s.offset {
			return 1
		}
		if off >= s.offset+s.Size {
			return -1
		}
		return 0
	})
	if !found {
		return 0, io.EOF
	}
	for n < len(p) && at < len(c) {
		s := c[at]
		in := off + int64(n) - s.offset
		size := int(min(int64(len(p)-n), s.Size-in))
		k, err := s.Doc.ReadAt(p[n:n+size], in)
		if n += k; k < size {
			return n, err
		}
		at++
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// assemble creates the PDF in the worker and sends it.
func (s *session) assemble(ctx context.Context, doc io.ReaderAt, t task) error {
	var parts []document.Part
	offset := int64(0)
	for _, part := range t.Parts {
		if part.Size < 0 || offset+part.Size > t.Size {
			return fmt.Errorf("part of %d bytes at %d of %d", part.Size, offset, t.Size)
		}
		src := document.Source{Doc: io.NewSectionReader(doc, offset, part.Size), Size: part.Size, MIME: part.MIME, PDF: s.engine}
		parts = append(parts, document.Part{Source: src, Pages: part.Pages})
		offset += part.Size
	}
	out := bufio.NewWriterSize(fileWriter{s}, fileChunkSize)
	if err := document.Assemble(ctx, s.engine, parts, out, t.Extract); err != nil {
		return err
	}
	return out.Flush()
}
