package document

import (
	"context"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/pdf"
)

// Errors that a document is to blame for. Every other error of this package is
// the machine's or the caller's.
var (
	// ErrUnsupported says that what was asked for cannot be had of this kind of
	// document, or of this variant of it.
	ErrUnsupported = errors.New("not supported for this document")
	// ErrTooLarge says that it would take more than Limits allow.
	ErrTooLarge = errors.New("document is beyond the limits")
	// ErrDamaged says that the document could not be made sense of.
	ErrDamaged = errors.New("document is damaged")
	// ErrNoPage says that the document has no such page.
	ErrNoPage = errors.New("document has no such page")
)

// PDF opens PDF documents; *pdf.Engine does. Its errors are those of package
// pdf.
type PDF interface {
	Open(ctx context.Context, doc io.ReaderAt, size int64) (*pdf.Document, error)
}

// Source is a document that package inspect has accepted.
type Source struct {
	Doc  io.ReaderAt
	Size int64  // bytes of Doc
	MIME string // what the content is, as inspect.Report says it
	PDF  PDF    // may be nil where the document is no PDF
}

// Image is one page as an encoded image.
type Image struct {
	Width, Height int    // pixels
	Bytes         []byte // PNG or JPEG
	MIME          string // image/png or image/jpeg
}

// PageCount returns how many pages Page or Text may give, at least 1 and at most
// lim.Pages. It returns ErrUnsupported for a kind that is not accepted, and
// ErrDamaged.
func PageCount(ctx context.Context, src Source, lim ExtractLimits) (int, error) {
	h, ok := handlers[src.MIME]
	if !ok {
		return 0, fmt.Errorf("%w: %s", ErrUnsupported, src.MIME)
	}
	lim = lim.complete()
	n := 0
	err := guard(ctx, src, func(doc *source) (err error) {
		n, err = h.pages(doc, lim)
		return err
	})
	if err != nil {
		return 0, err
	}
	return min(max(n, 1), lim.MaxPages), nil
}

// PageImage returns page n, from 1, as a picture width pixels wide, upright, on
// white. It is narrower where the limits say so, where the page is very long,
// and where the document is itself a picture of less than that width.
// It returns ErrUnsupported, ErrTooLarge, ErrDamaged or ErrNoPage.
func PageImage(ctx context.Context, src Source, n, width int, lim ExtractLimits) (Image, error) {
	h, ok := handlers[src.MIME]
	if !ok || h.page == nil {
		return Image{}, fmt.Errorf("picture of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.complete()
	if n < 1 || n > lim.MaxPages {
		return Image{}, fmt.Errorf("page %d: %w", n, ErrNoPage)
	}
	var picture Image
	err := guard(ctx, src, func(doc *source) (err error) {
		picture, err = h.page(doc, n, min(max(width, 1), lim.MaxWidth), lim)
		return err
	})
	if err != nil {
		return Image{}, fmt.Errorf("page %d: %w", n, err)
	}
	return picture, nil
}

// Text calls emit with the text of each page that has any, in order, as UTF-8
// with lines ended by "\n" and without control characters but "\t". A document
// without pages is page 1, which lim.MaxPageTextBytes does not bound. It ends with the first error of emit. It returns
// ErrUnsupported, ErrTooLarge where lim cut the text off, or ErrDamaged; what
// was emitted until then is good.
func Text(ctx context.Context, src Source, lim ExtractLimits, emit func(page int, text string) error) error {
	h, ok := handlers[src.MIME]
	if !ok || h.text == nil {
		return fmt.Errorf("text of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.complete()
	return guard(ctx, src, func(doc *source) error {
		out := &writer{lim: lim, left: lim.MaxTextBytes, emit: emit}
		err := h.text(doc, out)
		if doc.err != nil {
			return doc.err
		}
		// What was had of a damaged document is worth finding.
		if ended := out.end(); err == nil || !errors.Is(ended, ErrTooLarge) && ended != nil {
			return ended
		}
		return err
	})
}

// handler is what can be had of one kind; a nil function cannot.
type handler struct {
	pages func(doc *source, lim ExtractLimits) (int, error)
	page  func(doc *source, n, width int, lim ExtractLimits) (Image, error)
	text  func(doc *source, out *writer) error
	sizes func(doc *source, lim ExtractLimits) ([]PageSize, error)
}

const ooxml = "application/vnd.openxmlformats-officedocument."

var handlers = map[string]handler{
	"application/pdf":                     {pdfPages, pdfPage, pdfText, pdfSizes},
	"image/tiff":                          {tiffPages, tiffPage, nil, tiffSizes},
	"image/png":                           {onePage, imagePage, nil, imageSizes},
	"image/jpeg":                          {onePage, imagePage, nil, imageSizes},
	"image/gif":                           {onePage, imagePage, nil, imageSizes},
	"image/bmp":                           {onePage, imagePage, nil, imageSizes},
	"image/webp":                          {onePage, imagePage, nil, imageSizes},
	"text/plain":                          {onePage, nil, plainText, nil},
	ooxml + "wordprocessingml.document":   {onePage, nil, docxText, nil},
	ooxml + "spreadsheetml.sheet":         {xlsxPages, nil, xlsxText, nil},
	ooxml + "presentationml.presentation": {pptxPages, nil, pptxText, nil},
	"application/msword":                  {onePage, nil, docText, nil},
	"application/vnd.ms-excel":            {xlsPages, nil, xlsText, nil},
	"application/vnd.ms-powerpoint":       {pptPages, nil, pptText, nil},
}

func onePage(*source, ExtractLimits) (int, error) { return 1, nil }

// ExtractLimits bound what one call may take; a zero field means its default.
type ExtractLimits struct {
	MaxPixels        int64 `json:"pixels"`     // of a picture as it is stored; 80 million
	MaxWidth         int   `json:"width"`      // pixels of a picture that is made; 5,100
	MaxTextBytes     int64 `json:"text_bytes"` // of all text of a document; 32 MiB
	MaxPageTextBytes int64 `json:"page_text"`  // bytes of the text of a page; 1 MiB
	MaxPages         int   `json:"pages"`      // that are looked at; 1,000
	MaxUnpackedBytes int64 `json:"unpacked"`   // bytes of one part of a zip, or of an OLE stream; 64 MiB
}

// DefaultExtractLimits returns the defaults.
func DefaultExtractLimits() ExtractLimits {
	return ExtractLimits{
		MaxPixels: 80_000_000, MaxWidth: 5100, MaxTextBytes: 32 << 20,
		MaxPageTextBytes: 1 << 20, MaxPages: 1000, MaxUnpackedBytes: 64 << 20,
	}
}

func (l ExtractLimits) complete() ExtractLimits {
	d := DefaultExtractLimits()
	return ExtractLimits{
		MaxPixels: or(l.MaxPixels, d.MaxPixels), MaxWidth: or(l.MaxWidth, d.MaxWidth),
		MaxTextBytes: or(l.MaxTextBytes, d.MaxTextBytes), MaxPageTextBytes: or(l.MaxPageTextBytes, d.MaxPageTextBytes),
		MaxPages: or(l.MaxPages, d.MaxPages), MaxUnpackedBytes: or(l.MaxUnpackedBytes, d.MaxUnpackedBytes),
	}
}

func or[N int | int64](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}
