package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
)

const (
	fileChunkSize = 256 << 10
	maxFileBytes  = 4 << 30 // of a file that a worker sends
)

// NumberedWords are the words of one page. Page numbers start at 1.
type NumberedWords struct {
	Number int      `json:"number"`
	Page   ocr.Page `json:"page"`
}

// Searchable writes a PDF of the document to out, with words as invisible text. words contains a
// NumberedWords as JSON for each page that has words, in order, and has wordsSize bytes. If the
// worker is replaced, Searchable writes the file again from its start. It returns the size of the
// file, and the errors of PageImage or out.
func (p *Pool) Searchable(ctx context.Context, r Request, words io.ReaderAt, wordsSize int64, out io.WriterAt,
	lim document.ExtractLimits) (size int64, err error) {
	a := &fileResult{out: out}
	t := task{Task: taskSearchable, Extract: withDefaultLimits(lim), Appended: wordsSize}
	r.Doc, r.Size = joined{r.Doc, r.Size, words}, r.Size+wordsSize
	err = p.run(ctx, r, t, a)
	return a.size, err
}

// joined reads a document of the given size, followed by more data.
type joined struct {
	doc  io.ReaderAt
	size int64
	more io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (j joined) ReadAt(p []byte, off int64) (n int, err error) {
	if off < j.size {
		n, err = j.doc.ReadAt(p[:min(int64(len(p)), j.size-off)], off)
		if n == len(p) || off+int64(n) < j.size {
			return n, err
		}
	}
	more, err := j.more.ReadAt(p[n:], off+int64(n)-j.size)
	return n + more, err
}

// searchable creates the PDF in the worker and sends it.
func (s *session) searchable(ctx context.Context, doc io.ReaderAt, t task) error {
	words := wordsReader{decoder: json.NewDecoder(bufio.NewReader(io.NewSectionReader(doc, t.Size-t.Appended, t.Appended)))}
	out := bufio.NewWriterSize(fileWriter{s}, fileChunkSize)
	if err := document.Searchable(ctx, s.source(doc, t), words.read, out, t.Extract); err != nil {
		return err
	}
	return out.Flush()
}

// fileWriter sends bytes of a file.
type fileWriter struct{ session *session }

func (w fileWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		chunk := p[n:min(n+fileChunkSize, len(p))]
		if err := w.session.write(frameFile, chunk); err != nil {
			return n, err
		}
		n += len(chunk)
	}
	return n, nil
}

// wordsReader reads the words of one page after another.
type wordsReader struct {
	decoder *json.Decoder
	next    NumberedWords // the words that were read last
	ended   bool
}

// read returns the words of a page. Page numbers must ascend.
func (r *wordsReader) read(page int) (ocr.Page, error) {
	for !r.ended && r.next.Number < page {
		r.next = NumberedWords{}
		err := r.decoder.Decode(&r.next)
		if r.ended = errors.Is(err, io.EOF); err != nil && !r.ended {
			return ocr.Page{}, fmt.Errorf("read words before page %d: %w", page, err)
		}
	}
	if r.next.Number != page {
		return ocr.Page{}, nil
	}
	return r.next.Page, nil
}

// fileResult writes a file that a worker sends.
type fileResult struct {
	out  io.WriterAt
	size int64
}

func (f *fileResult) reset() { f.size = 0 }

func (f *fileResult) add(kind byte, content []byte, discard bool) error {
	if kind != frameFile || len(content) == 0 {
		return protocolError("unexpected frame %q of %d bytes while receiving a file", kind, len(content))
	}
	if f.size+int64(len(content)) > maxFileBytes {
		return protocolError("file of more than %d bytes", int64(maxFileBytes))
	}
	if !discard {
		if _, err := f.out.WriteAt(content, f.size); err != nil {
			return &callbackError{err}
		}
	}
	f.size += int64(len(content))
	return nil
}

func (f *fileResult) finish(taskDone) error {
	if f.size == 0 {
		return protocolError("received an empty file")
	}
	return nil
}
