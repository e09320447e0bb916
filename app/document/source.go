package document

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"

	"deedkeep/app/document/docio"
	"deedkeep/app/pdf"
)

// Errors that a document causes. Any other error of this package is caused by the server or the
// caller, and a retry may succeed.
var (
	// ErrUnsupported reports that this document type, or this variant of it, doesn't support the
	// operation.
	ErrUnsupported = docio.ErrUnsupported
	// ErrTooLarge reports that the operation would exceed the ExtractLimits.
	ErrTooLarge = docio.ErrTooLarge
	// ErrDamaged reports that the document violates its format.
	ErrDamaged = docio.ErrDamaged
	// ErrNoPage reports that the document has no page with that number.
	ErrNoPage = docio.ErrNoPage
)

// Source is a document that Inspect has accepted.
type Source struct {
	Doc  io.ReaderAt
	Size int64     // size of Doc in bytes
	MIME string    // as in Report.MIME
	PDF  PDFEngine // may be nil if the document isn't a PDF
}

// PDFEngine opens PDF documents. Open returns pdf.ErrPassword, pdf.ErrUnreadable, or an error that
// the document didn't cause.
type PDFEngine interface {
	Open(ctx context.Context, doc io.ReaderAt, size int64) (PDF, error)
}

// PDF is an open PDF document, such as *pdf.Document. Page numbers start at 1.
type PDF interface {
	// Pages returns the number of pages. A document with 0 pages counts as unreadable.
	Pages() int
	// ImageHeavy reports whether most pages are scans. It may take seconds.
	ImageHeavy(ctx context.Context) (bool, error)
	PageSize(ctx context.Context, page int) (width, height float64, err error)
	Render(ctx context.Context, page, width int) (image.Image, error)
	Text(ctx context.Context, page int, maxBytes int64) (string, error)
	Marks(ctx context.Context, page int, find func(text []rune) []pdf.Span) ([][]pdf.Rect, error)
	PagePlace(ctx context.Context, page int) (pdf.PagePlace, error)
	Save(ctx context.Context, w io.Writer) error
	Close(ctx context.Context) error
}

// source is the document that one call works on.
type source struct {
	*docio.Reader
	mime string
	pdf  PDFEngine
}

func newSource(ctx context.Context, src Source) *source {
	return &source{Reader: docio.NewReader(ctx, src.Doc, src.Size), mime: src.MIME, pdf: src.PDF}
}

// withSource runs work on src and returns the most relevant error. Errors from reading and from the
// context come first, then the document errors of this package. Any other error becomes ErrDamaged.
// If a decoder panics, the document counts as damaged, and the process continues.
func withSource(ctx context.Context, src Source, work func(*source) error) (err error) {
	doc := newSource(ctx, src)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder panic: %v", ErrDamaged, p)
		}
		if doc.Err() != nil {
			err = doc.Err()
		}
	}()
	err = work(doc)
	var fault *faultError
	switch {
	case err == nil, errors.As(err, &fault):
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrTooLarge), errors.Is(err, ErrDamaged), errors.Is(err, ErrNoPage):
	default:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// faultError marks an error of the caller's emit function or of the PDF engine. It is never a
// document error, even if it wraps one.
type faultError struct{ cause error }

func (e *faultError) Error() string { return e.cause.Error() }
func (e *faultError) Unwrap() error { return e.cause }
