package document

import (
	"context"
	"errors"
	"fmt"
)

// ExtractLimits limits the work and the memory of one call. A zero field means the default, given
// in parentheses.
type ExtractLimits struct {
	MaxPixels        int64 `json:"pixels"`     // in a stored image (80 million)
	MaxWidth         int   `json:"width"`      // of a page image, in pixels (5,100)
	MaxTextBytes     int64 `json:"text_bytes"` // for the whole document (32 MiB)
	MaxPageTextBytes int64 `json:"page_text"`  // for one page (1 MiB)
	MaxPages         int   `json:"pages"`      // to read (1,000)
	MaxUnpackedBytes int64 `json:"unpacked"`   // in one part of a zip or in an OLE stream (64 MiB)
}

// DefaultExtractLimits returns the defaults.
func DefaultExtractLimits() ExtractLimits {
	return ExtractLimits{
		MaxPixels: 80_000_000, MaxWidth: 5100, MaxTextBytes: 32 << 20,
		MaxPageTextBytes: 1 << 20, MaxPages: 1000, MaxUnpackedBytes: 64 << 20,
	}
}

// withDefaults returns the limits with defaults in place of zero fields.
func (l ExtractLimits) withDefaults() ExtractLimits {
	d := DefaultExtractLimits()
	return ExtractLimits{
		MaxPixels: positiveOr(l.MaxPixels, d.MaxPixels), MaxWidth: positiveOr(l.MaxWidth, d.MaxWidth),
		MaxTextBytes: positiveOr(l.MaxTextBytes, d.MaxTextBytes), MaxPageTextBytes: positiveOr(l.MaxPageTextBytes, d.MaxPageTextBytes),
		MaxPages: positiveOr(l.MaxPages, d.MaxPages), MaxUnpackedBytes: positiveOr(l.MaxUnpackedBytes, d.MaxUnpackedBytes),
	}
}

// positiveOr returns n, or fallback if n isn't positive.
func positiveOr[N int | int64](n, fallback N) N {
	if n <= 0 {
		return fallback
	}
	return n
}

// Image is an encoded page image.
type Image struct {
	Width, Height int    // in pixels
	Bytes         []byte // PNG or JPEG
	MIME          string // image/png or image/jpeg
}

// PageCount returns the number of pages that PageImage or Text can return. It is at least 1 and at
// most lim.MaxPages. PageCount returns ErrUnsupported for types that aren't accepted, and
// ErrDamaged for documents that can't be read.
func PageCount(ctx context.Context, src Source, lim ExtractLimits) (int, error) {
	h, ok := handlers[src.MIME]
	if !ok {
		return 0, fmt.Errorf("%w: %s", ErrUnsupported, src.MIME)
	}
	lim = lim.withDefaults()
	n := 0
	err := withSource(ctx, src, func(doc *source) (err error) {
		n, err = h.pages(doc, lim)
		return err
	})
	if err != nil {
		return 0, err
	}
	return min(max(n, 1), lim.MaxPages), nil
}

// PageImage renders page n upright on a white background. Page numbers start at 1. The image is
// width pixels wide, or narrower if the limits require it, if the page is very long, or if the
// document is an image that is narrower than width. PageImage returns ErrUnsupported, ErrTooLarge,
// ErrDamaged, or ErrNoPage.
func PageImage(ctx context.Context, src Source, n, width int, lim ExtractLimits) (Image, error) {
	h, ok := handlers[src.MIME]
	if !ok || h.image == nil {
		return Image{}, fmt.Errorf("picture of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.withDefaults()
	if n < 1 || n > lim.MaxPages {
		return Image{}, fmt.Errorf("page %d: %w", n, ErrNoPage)
	}
	var img Image
	err := withSource(ctx, src, func(doc *source) (err error) {
		img, err = h.image(doc, n, min(max(width, 1), lim.MaxWidth), lim)
		return err
	})
	if err != nil {
		return Image{}, fmt.Errorf("page %d: %w", n, err)
	}
	return img, nil
}

// Text calls emit for each page that has text, in order. The text is UTF-8 without control
// characters other than "\t" and "\n", and lines end in "\n". A document without pages counts as
// page 1, and lim.MaxPageTextBytes doesn't apply to it. If emit returns an error, Text stops and
// returns it. Text also returns ErrUnsupported, ErrTooLarge if the limits cut the text off, or
// ErrDamaged. Text emitted before an error is valid.
func Text(ctx context.Context, src Source, lim ExtractLimits, emit func(page int, text string) error) error {
	h, ok := handlers[src.MIME]
	if !ok || h.text == nil {
		return fmt.Errorf("text of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.withDefaults()
	return withSource(ctx, src, func(doc *source) error {
		out := &writer{lim: lim, left: lim.MaxTextBytes, emit: emit}
		err := h.text(doc, out)
		if doc.Err() != nil {
			return doc.Err()
		}
		// Emit the text before the damage, too, so that users can search for it.
		if ended := out.end(); err == nil || !errors.Is(ended, ErrTooLarge) && ended != nil {
			return ended
		}
		return err
	})
}

// handler holds the functions for one type of document. A nil function means that the type doesn't
// support the operation.
type handler struct {
	pages func(doc *source, lim ExtractLimits) (int, error)
	image func(doc *source, n, width int, lim ExtractLimits) (Image, error)
	text  func(doc *source, out *writer) error
	sizes func(doc *source, lim ExtractLimits) ([]PageSize, error)
}

var handlers = map[string]handler{
	mimePDF:  {pdfPages, pdfPage, pdfText, pdfSizes},
	mimeTIFF: {tiffPages, tiffPage, nil, tiffSizes},
	mimePNG:  {onePage, imagePage, nil, imageSizes},
	mimeJPEG: {onePage, imagePage, nil, imageSizes},
	mimeGIF:  {onePage, imagePage, nil, imageSizes},
	mimeBMP:  {onePage, imagePage, nil, imageSizes},
	mimeWEBP: {onePage, imagePage, nil, imageSizes},
	mimeText: {onePage, nil, plainText, nil},
	mimeDOCX: {onePage, nil, docxText, nil},
	mimeXLSX: {xlsxPages, nil, xlsxText, nil},
	mimePPTX: {pptxPages, nil, pptxText, nil},
	mimeDOC:  {onePage, nil, docText, nil},
	mimeXLS:  {xlsPages, nil, xlsText, nil},
	mimePPT:  {pptPages, nil, pptText, nil},
}

func onePage(*source, ExtractLimits) (int, error) { return 1, nil }
