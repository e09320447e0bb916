package document

import (
	"context"
	"fmt"

	"deedkeep/app/document/phrase"
	"deedkeep/app/pdf"
)

// Rect is a rectangle on a page as it is to be looked at: in fractions of its
// width and height, from 0 to 1, from the upper left corner.
type Rect = pdf.Rect

// MaxHighlights is how many places of a phrase on a page are marked.
const MaxHighlights = 200

// Highlights returns where on page n, from 1, the phrase stands: for each place of it,
// in order, its rectangles, one for each line; none for a place that is not to be
// seen. It returns ErrUnsupported for what is no PDF, ErrDamaged or ErrNoPage.
func Highlights(ctx context.Context, src Source, n int, typed string, lim ExtractLimits) ([][]Rect, error) {
	if src.MIME != "application/pdf" {
		return nil, fmt.Errorf("marks of %s: %w", src.MIME, ErrUnsupported)
	}
	if lim = lim.complete(); n < 1 || n > lim.MaxPages {
		return nil, fmt.Errorf("page %d: %w", n, ErrNoPage)
	}
	phrase := phrase.New(typed)
	var marks [][]Rect
	err := guard(ctx, src, func(doc *source) error {
		return withPDF(doc, func(d *pdf.Document) (err error) {
			if n > d.Pages() {
				return ErrNoPage
			}
			marks, err = d.Marks(doc.ctx, n, func(text []rune) (spans []pdf.Span) {
				for _, s := range phrase.Find(text, MaxHighlights) {
					spans = append(spans, pdf.Span(s))
				}
				return spans
			})
			return pdfVerdict(err)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", n, err)
	}
	return marks, nil
}
