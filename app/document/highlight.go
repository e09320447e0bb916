package document

import (
	"context"
	"fmt"

	"deedkeep/app/pdf"
)

// Rect is a rectangle on an upright page. The coordinates are fractions of the page's width and
// height from 0 to 1, measured from the upper left corner.
type Rect = pdf.Rect

// Highlights returns the places of the spans that find returns for the characters of a PDF page. Page
// numbers start at 1. For each span, in order, it returns one rectangle per line, or none if the span
// isn't visible. It returns ErrUnsupported if the document isn't a PDF, ErrDamaged, or ErrNoPage.
func Highlights(ctx context.Context, src Source, page int, find func(text []rune) []pdf.Span, lim ExtractLimits) ([][]Rect, error) {
	if src.MIME != mimePDF {
		return nil, fmt.Errorf("find marks in %s: %w", src.MIME, ErrUnsupported)
	}
	var rects [][]Rect
	err := withPage(ctx, src, page, lim, func(doc *source, _ ExtractLimits) error {
		return withPDF(doc, func(d PDF) (err error) {
			if page > d.Pages() {
				return ErrNoPage
			}
			rects, err = d.Marks(doc.Context(), page, find)
			return pdfError(err)
		})
	})
	return rects, err
}
