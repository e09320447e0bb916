package document

import (
	"context"
	"errors"
	"fmt"
	"image"

	"deedkeep/app/document/docio"
	"deedkeep/app/pdf"
)

// withPDF opens the document as a PDF, calls work with it, and closes it.
func withPDF(doc *source, work func(PDF) error) (err error) {
	if doc.pdf == nil {
		return &docio.FaultError{Cause: errors.New("PDF engine not available")}
	}
	opened, err := doc.pdf.Open(doc.Context(), doc, doc.Size())
	if err != nil {
		return pdfError(err)
	}
	// If the engine is broken, the next Open fails. Close the document even if the context has
	// ended.
	defer func() { _ = opened.Close(context.WithoutCancel(doc.Context())) }()
	return work(opened)
}

// pdfError translates document errors of package pdf to those of this package. Any other error is
// caused by the engine.
func pdfError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pdf.ErrPassword):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	case errors.Is(err, pdf.ErrUnreadable):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &docio.FaultError{Cause: err}
}

func pdfPage(doc *source, n, width int, _ ExtractLimits) (img image.Image, err error) {
	err = withPDF(doc, func(d PDF) error {
		if n > d.Pages() {
			return ErrNoPage
		}
		img, err = d.Render(doc.Context(), n, width)
		return pdfError(err)
	})
	return img, err
}

// maxPDFReopens is how often a document is reopened after one of its pages broke the engine, to
// read the pages that follow. Each attempt may take seconds.
const maxPDFReopens = 2

// pdfText writes the text of all pages. It skips pages that can't be read. It returns an error only
// if no page can be read.
func pdfText(doc *source, out *docio.TextWriter) error {
	t := pdfTextReader{doc: doc, out: out}
	for range 1 + maxPDFReopens {
		if err := withPDF(doc, t.readPages); err != nil {
			return err
		}
		if t.done {
			break
		}
	}
	if t.pagesRead == 0 && t.firstErr != nil {
		return t.firstErr
	}
	out.Truncated = out.Truncated || !t.done
	return nil
}

// pdfTextReader reads the text of a document. To do so, it may open the document several times.
type pdfTextReader struct {
	doc       *source
	out       *docio.TextWriter
	lastPage  int // last page that it tried to read
	pagesRead int
	firstErr  error // first error of a page
	done      bool
}

// readPages reads the next pages. It stops at the end or when two pages in a row fail, because the
// engine may be broken in that case.
func (t *pdfTextReader) readPages(d PDF) error {
	failed := 0
	last := min(d.Pages(), t.out.Limits.MaxPages)
	for t.lastPage < last && !t.out.Full() {
		if err := t.out.Begin(t.lastPage + 1); err != nil {
			return err
		}
		// Request one byte more than fits, so that the writer notices that text is missing.
		text, err := d.Text(t.doc.Context(), t.lastPage+1, t.out.Free()+1)
		if err = pdfError(err); err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		if err != nil {
			if t.firstErr == nil {
				t.firstErr = err
			}
			if failed++; failed == 2 {
				return nil // the next call reads this page again
			}
		} else {
			failed = 0
			t.pagesRead++
			t.out.WriteText(text)
		}
		t.lastPage++
	}
	t.done = t.lastPage == d.Pages()
	return nil
}
