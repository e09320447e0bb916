package document

import (
	"context"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/ocr"
)

// PageWords returns the words to add to a page, or a page without words if there are none. Page
// numbers start at 1.
type PageWords func(page int) (ocr.Page, error)

// Searchable writes a PDF to w: the pages of the document with words as invisible text. It calls
// words for each page, in order. The images of the pages keep their pixels, and those that a PDF can
// contain keep their bytes. It returns ErrUnsupported if the document isn't shown as page images,
// ErrTooLarge if it has more than lim.MaxPages pages, ErrDamaged, or an error of w or words.
func Searchable(ctx context.Context, src Source, words PageWords, w io.Writer, lim ExtractLimits) error {
	return withPages(ctx, src, lim, func(doc *source, lim ExtractLimits) error {
		return doc.pages.searchable(doc, func(page int) (ocr.Page, error) {
			found, err := words(page)
			if err != nil {
				return found, &docio.FaultError{Cause: err}
			}
			return found, doc.Context().Err()
		}, output{w}, lim)
	})
}

// output marks the errors of a writer as errors that the document didn't cause.
type output struct{ w io.Writer }

func (o output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		err = &docio.FaultError{Cause: err}
	}
	return n, err
}

// searchablePDF adds the words to a copy of the document.
func searchablePDF(doc *source, words PageWords, w io.Writer, lim ExtractLimits) error {
	return withPDF(doc, func(d PDF) error {
		if d.Pages() > lim.MaxPages {
			return fmt.Errorf("%w: %d pages", ErrTooLarge, d.Pages())
		}
		update := pdfwriter.NewUpdate(w)
		if err := d.Save(doc.Context(), update); err != nil {
			return pdfError(err)
		}
		for page := 1; page <= d.Pages(); page++ {
			found, err := words(page)
			if err != nil {
				return err
			}
			if len(found.Words) == 0 {
				continue
			}
			place, err := d.PagePlace(doc.Context(), page)
			switch err = pdfError(err); {
			case errors.Is(err, ErrDamaged):
				continue // no reader shows this page
			case err != nil:
				return err
			}
			if err := update.AddText(place, found); err != nil {
				return err
			}
		}
		return update.Close()
	})
}

// searchableImage writes a PDF with an image.
func searchableImage(doc *source, words PageWords, w io.Writer, lim ExtractLimits) error {
	size, err := imagePageSize(doc, 1, lim)
	if err != nil {
		return err
	}
	image, err := embeddedImage(doc, lim)
	if err != nil {
		return err
	}
	out := pdfwriter.New(w)
	if err := addPage(out, size, image, 1, words); err != nil {
		return err
	}
	return out.Close()
}

func addPage(out *pdfwriter.Writer, size PageSize, image *pdfwriter.Image, page int, words PageWords) error {
	found, err := words(page)
	if err != nil {
		return err
	}
	if !size.Valid() {
		size = USLetter
	}
	return out.Page(size.Width, size.Height, image, found)
}
