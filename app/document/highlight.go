package document

import (
	"context"
	"fmt"

	"deedkeep/app/document/phrase"
	"deedkeep/app/pdf"
)

// Rect is a rectangle on an upright page. The coordinates are fractions of the page's width and
// height from 0 to 1, measured from the upper left corner.
type Rect = pdf.Rect

// MaxHighlights is the maximum number of matches per page that Highlights returns.
const MaxHighlights = 200

// Highlights returns the places on a PDF page that match the phrase a user typed. Page numbers
// start at 1. For each match, in order, it returns one rectangle per line, or none if the match
// isn't visible. It returns ErrUnsupported if the document isn't a PDF, ErrDamaged, or ErrNoPage.
func Highlights(ctx context.Context, src Source, page int, typed string, lim ExtractLimits) ([][]Rect, error) {
	if src.MIME != mimePDF {
		return nil, fmt.Errorf("marks of %s: %w", src.MIME, ErrUnsupported)
	}
	if lim = lim.withDefaults(); page < 1 || page > lim.MaxPages {
		return nil, fmt.Errorf("page %d: %w", page, ErrNoPage)
	}
	search := phrase.New(typed)
	var rects [][]Rect
	err := withSource(ctx, src, func(doc *source) error {
		return withPDF(doc, func(d PDF) (err error) {
			if page > d.Pages() {
				return ErrNoPage
			}
			rects, err = d.Marks(doc.Context(), page, func(text []rune) (spans []pdf.Span) {
				for _, s := range search.Find(text, MaxHighlights) {
					spans = append(spans, pdf.Span(s))
				}
				return spans
			})
			return pdfError(err)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", page, err)
	}
	return rects, nil
}
