package document

import (
	"context"
	"fmt"

	"deedkeep/app/document/docio"
)

// ExtractLimits limits the work and the memory of one call.
type ExtractLimits = docio.ExtractLimits

// MaxPages is the default of ExtractLimits.MaxPages.
const MaxPages = docio.MaxPages

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
	var img Image
	err := withPage(ctx, src, n, lim, func(doc *source, lim ExtractLimits) error {
		drawn, err := doc.pages.image(doc, n, min(max(width, 1), lim.MaxWidth), lim)
		if err != nil {
			return err
		}
		img, err = encode(drawn)
		return err
	})
	return img, err
}

// Text calls emit for each page that has text, in order. The text is UTF-8 without control
// characters other than "\t" and "\n", and lines end in "\n". A document without pages counts as
// page 1, and lim.MaxPageTextBytes doesn't apply to it. If emit returns an error, Text stops and
// returns it. Text also returns ErrUnsupported, ErrTooLarge if the limits cut the text off, or
// ErrDamaged. Text emitted before an error is valid.
func Text(ctx context.Context, src Source, lim ExtractLimits, emit func(page int, text string) error) error {
	if typeOf(src.MIME).text == nil {
		return fmt.Errorf("extract text of %s: %w", src.MIME, ErrUnsupported)
	}
	return withSource(ctx, src, func(doc *source) error {
		return doc.ReadText(lim, emit, func(out *docio.TextWriter) error { return doc.text(doc, out) })
	})
}
