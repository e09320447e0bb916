package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
)

// ExtractLimits limits the work and the memory of one call. A zero field means the default, given
// in parentheses.
type ExtractLimits struct {
	MaxPixels        int64 `json:"max_pixels"`          // in a stored image (80 million)
	MaxWidth         int   `json:"max_width"`           // of a page image, in pixels (5,100)
	MaxTextBytes     int64 `json:"max_text_bytes"`      // for the whole document (32 MiB)
	MaxPageTextBytes int64 `json:"max_page_text_bytes"` // for one page (1 MiB)
	MaxPages         int   `json:"max_pages"`           // to read (1,000)
	MaxUnpackedBytes int64 `json:"max_unpacked_bytes"`  // in one part of a zip or in an OLE stream (64 MiB)
}

// MaxPages is the default maximum number of pages of a document that can be shown and read. A TIFF of
// 1 MB may claim to have 65,535.
const MaxPages = 1000

// DefaultExtractLimits returns the defaults.
func DefaultExtractLimits() ExtractLimits {
	return ExtractLimits{
		MaxPixels: 80_000_000, MaxWidth: 5100, MaxTextBytes: 32 << 20,
		MaxPageTextBytes: 1 << 20, MaxPages: MaxPages, MaxUnpackedBytes: 64 << 20,
	}
}

// WithDefaults returns the limits with defaults in place of zero fields.
func (l ExtractLimits) WithDefaults() ExtractLimits {
	d := DefaultExtractLimits()
	return ExtractLimits{
		MaxPixels: cmp.Or(l.MaxPixels, d.MaxPixels), MaxWidth: cmp.Or(l.MaxWidth, d.MaxWidth),
		MaxTextBytes: cmp.Or(l.MaxTextBytes, d.MaxTextBytes), MaxPageTextBytes: cmp.Or(l.MaxPageTextBytes, d.MaxPageTextBytes),
		MaxPages: cmp.Or(l.MaxPages, d.MaxPages), MaxUnpackedBytes: cmp.Or(l.MaxUnpackedBytes, d.MaxUnpackedBytes),
	}
}

// Image is an encoded page image.
type Image struct {
	Width, Height int    // in pixels
	Bytes         []byte // PNG or JPEG
	MIME          string // image/png or image/jpeg
}

// PageImage renders page n upright on a white background. Page numbers start at 1. The image is
// width pixels wide, or narrower if the limits require it, if the page is very long, or if the
// document is an image that is narrower than width. PageImage returns ErrUnsupported, ErrTooLarge,
// ErrDamaged, or ErrNoPage.
func PageImage(ctx context.Context, src Source, n, width int, lim ExtractLimits) (Image, error) {
	h, ok := handlers[src.MIME]
	if !ok || h.image == nil {
		return Image{}, fmt.Errorf("render page image of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.WithDefaults()
	if n < 1 || n > lim.MaxPages {
		return Image{}, fmt.Errorf("page %d: %w", n, ErrNoPage)
	}
	var img Image
	err := withSource(ctx, src, func(doc *source) error {
		drawn, err := h.image(doc, n, min(max(width, 1), lim.MaxWidth), lim)
		if err != nil {
			return err
		}
		img, err = encode(drawn)
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
		return fmt.Errorf("extract text of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.WithDefaults()
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
	image func(doc *source, n, width int, lim ExtractLimits) (image.Image, error)
	text  func(doc *source, out *writer) error
	sizes func(doc *source, lim ExtractLimits) ([]PageSize, error)
	size  func(doc *source, n int, lim ExtractLimits) (PageSize, error) // of one page

	searchable func(doc *source, words PageWords, w io.Writer, lim ExtractLimits) error
}

var handlers = map[string]handler{
	mimePDF:  {pdfPage, pdfText, pdfSizes, pdfSize, searchablePDF},
	mimeTIFF: {tiffPage, nil, tiffSizes, tiffPageSize, searchableTIFF},
	mimePNG:  {imagePage, nil, imageSizes, imagePageSize, searchableImage},
	mimeJPEG: {imagePage, nil, imageSizes, imagePageSize, searchableImage},
	mimeGIF:  {imagePage, nil, imageSizes, imagePageSize, searchableImage},
	mimeBMP:  {imagePage, nil, imageSizes, imagePageSize, searchableImage},
	mimeWEBP: {imagePage, nil, imageSizes, imagePageSize, searchableImage},
	mimeText: {text: plainText},
	mimeDOCX: {text: docxText},
	mimeXLSX: {text: xlsxText},
	mimePPTX: {text: pptxText},
	mimeDOC:  {text: docText},
	mimeXLS:  {text: xlsText},
	mimePPT:  {text: pptText},
}
