package document

import (
	"context"
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
	pdf PDFEngine
	docType
}

// withSource runs work on src as docio.Read does.
func withSource(ctx context.Context, src Source, work func(*source) error) error {
	return docio.Read(ctx, src.Doc, src.Size, func(doc *docio.Reader) error {
		return work(&source{doc, src.PDF, typeOf(src.MIME)})
	})
}

// withPages runs work on src with the complete limits. It returns ErrUnsupported for a document
// without page images.
func withPages(ctx context.Context, src Source, lim ExtractLimits, work func(*source, ExtractLimits) error) error {
	return withSource(ctx, src, func(doc *source) error {
		if doc.pages == nil {
			return fmt.Errorf("%w: %s", ErrUnsupported, src.MIME)
		}
		return work(doc, lim.WithDefaults())
	})
}

// withPage runs work on src for page n, as withPages does.
func withPage(ctx context.Context, src Source, n int, lim ExtractLimits, work func(*source, ExtractLimits) error) error {
	err := withPages(ctx, src, lim, func(doc *source, lim ExtractLimits) error {
		if n < 1 || n > lim.MaxPages {
			return ErrNoPage
		}
		return work(doc, lim)
	})
	if err != nil {
		return fmt.Errorf("page %d: %w", n, err)
	}
	return nil
}
