package vaulttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
	"deedkeep/app/runsheet"
	"deedkeep/app/sandbox"
)

// Reader inspects documents in the test process. Instead of PDFium, it uses a fake engine that only supports documents
// created by the function PDF. It doesn't render pages, and it extracts text only from text files.
type Reader struct{}

// PageImage returns ErrUnsupported.
func (Reader) PageImage(context.Context, sandbox.Request, int, int, document.ExtractLimits) (document.Image, error) {
	return document.Image{}, document.ErrUnsupported
}

// Sizes returns the letter size for every page of a document created by the function PDF.
func (Reader) Sizes(_ context.Context, r sandbox.Request, _ document.ExtractLimits) ([]document.PageSize, error) {
	head := make([]byte, min(r.Size, 1024))
	if _, err := r.Doc.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	found := fakePages.FindSubmatch(head)
	if found == nil {
		return nil, document.ErrUnsupported
	}
	pages, err := strconv.Atoi(string(found[1]))
	return slices.Repeat([]document.PageSize{document.USLetter}, pages), err
}

// Marks returns ErrUnsupported.
func (Reader) Marks(context.Context, sandbox.Request, int, string, bool, document.ExtractLimits) ([][]document.Rect, error) {
	return nil, document.ErrUnsupported
}

// Words returns ErrUnsupported.
func (Reader) Words(context.Context, sandbox.Request, int, document.ExtractLimits) (ocr.Page, error) {
	return ocr.Page{}, document.ErrUnsupported
}

// Searchable writes a file that starts like a PDF and then contains the words, as JSON.
func (Reader) Searchable(_ context.Context, _ sandbox.Request, words io.ReaderAt, wordsSize int64, out io.WriterAt,
	_ document.ExtractLimits) (int64, error) {
	file := []byte("%PDF-1.7\n")
	text, err := io.ReadAll(io.NewSectionReader(words, 0, wordsSize))
	if err != nil {
		return 0, err
	}
	n, err := out.WriteAt(append(file, text...), 0)
	return int64(n), err
}

// Assemble writes a document as the function PDF creates it, with the pages of the parts. The salt lists the pages.
func (Reader) Assemble(_ context.Context, _ sandbox.Request, parts []sandbox.Part, out io.WriterAt,
	_ document.ExtractLimits) (int64, error) {
	pages, salt := 0, ""
	for _, part := range parts {
		pages += len(part.Pages)
		salt += fmt.Sprint(part.Size, part.Pages)
	}
	n, err := out.WriteAt(PDF(pages, salt), 0)
	return int64(n), err
}

// Runsheet reads a runsheet file in the test process.
func (Reader) Runsheet(_ context.Context, doc io.ReaderAt, size int64, lim runsheet.Limits) (runsheet.Table, error) {
	raw, err := io.ReadAll(io.NewSectionReader(doc, 0, size))
	if err != nil {
		return runsheet.Table{}, err
	}
	return runsheet.Read(raw, lim)
}

// Text returns the content of a text file.
func (Reader) Text(_ context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	if r.MIME != "text/plain" {
		return document.ErrUnsupported
	}
	text, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	if err != nil {
		return err
	}
	return emit(1, string(text))
}

// Inspect inspects a document with the fake PDF engine.
func (Reader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	return document.Inspect(ctx, doc, size, ext, fakePDFium{}, lim)
}

// HookedReader is a Reader that calls a hook before each inspection.
type HookedReader struct {
	Reader
	hook func(ctx context.Context, ext string) error
}

// NewHookedReader returns a reader that calls hook with the filename extension before each inspection. If hook returns
// an error, the inspection fails with it.
func NewHookedReader(hook func(ctx context.Context, ext string) error) HookedReader {
	return HookedReader{hook: hook}
}

// Inspect calls the hook and inspects a document.
func (h HookedReader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string,
	lim document.InspectLimits) (document.Report, error) {
	if err := h.hook(ctx, ext); err != nil {
		return document.Report{}, err
	}
	return h.Reader.Inspect(ctx, doc, size, ext, lim)
}

// PDF returns a document with the given number of pages that Reader can inspect. Different salts result in different
// contents.
func PDF(pages int, salt string) []byte {
	return []byte("%PDF-1.7\n%toy pages=" + strconv.Itoa(pages) + " " + salt + "\n%%EOF\n")
}

var fakePages = regexp.MustCompile(`%toy pages=(\d+)`)

// fakePDFium is a PDF engine for documents created by the function PDF.
type fakePDFium struct{}

func (fakePDFium) Open(_ context.Context, doc io.ReaderAt, size int64) (document.PDF, error) {
	head := make([]byte, min(size, 1024))
	if _, err := doc.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	found := fakePages.FindSubmatch(head)
	switch {
	case bytes.Contains(head, []byte("/Encrypt")):
		return nil, pdf.ErrPassword
	case found == nil:
		return nil, pdf.ErrUnreadable
	}
	pages, err := strconv.Atoi(string(found[1]))
	if err != nil || pages == 0 {
		return nil, pdf.ErrUnreadable
	}
	return fakeDocument{pages: pages}, nil
}

type fakeDocument struct {
	document.PDF // nil, because its methods are not called
	pages        int
}

func (d fakeDocument) Pages() int                               { return d.pages }
func (d fakeDocument) ImageHeavy(context.Context) (bool, error) { return false, nil }
func (d fakeDocument) Close(context.Context) error              { return nil }
