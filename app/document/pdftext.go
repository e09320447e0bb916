package document

import (
	"context"
	"errors"
	"fmt"

	"deedkeep/app/pdf"
)

// withPDF opens the document, lets work see it and closes it.
func withPDF(doc *source, work func(*pdf.Document) error) (err error) {
	if doc.PDF == nil {
		return &faultError{errors.New("no engine for PDF was handed in")}
	}
	opened, err := doc.PDF.Open(doc.ctx, doc, doc.Size)
	if err != nil {
		return pdfVerdict(err)
	}
	// An engine that breaks while closing shows it on the next Open; a context
	// that has ended must not keep the document open.
	defer func() { _ = opened.Close(context.WithoutCancel(doc.ctx)) }()
	return work(opened)
}

// pdfVerdict gives the findings of package pdf our names.
func pdfVerdict(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pdf.ErrPassword):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	case errors.Is(err, pdf.ErrUnreadable):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &faultError{err}
}

func pdfPages(doc *source, _ ExtractLimits) (n int, err error) {
	err = withPDF(doc, func(d *pdf.Document) error {
		n = d.Pages()
		return nil
	})
	return n, err
}

func pdfPage(doc *source, n, width int, _ ExtractLimits) (picture Image, err error) {
	err = withPDF(doc, func(d *pdf.Document) error {
		if n > d.Pages() {
			return ErrNoPage
		}
		drawn, err := d.Render(doc.ctx, n, width)
		if err != nil {
			return pdfVerdict(err)
		}
		picture, err = encode(drawn)
		return err
	})
	return picture, err
}

// pdfBreaks is how many times a document that broke the engine over one page is
// opened again for the pages behind it; each may take seconds.
const pdfBreaks = 2

// pdfText leaves pages out that cannot be read while others can: half of a
// deed is worth finding.
func pdfText(doc *source, out *writer) error {
	t := pdfReading{doc: doc, out: out}
	for range 1 + pdfBreaks {
		if err := withPDF(doc, t.pages); err != nil {
			return err
		}
		if t.done {
			break
		}
	}
	if t.read == 0 && t.first != nil {
		return t.first
	}
	out.cut = out.cut || !t.done
	return nil
}

// pdfReading is how far the text of a document has been read.
type pdfReading struct {
	doc   *source
	out   *writer
	page  int // the last one that was tried
	read  int
	first error
	done  bool
}

// pages reads on until the end, or until two pages in turn fail: then it may be
// the engine that broke.
func (t *pdfReading) pages(d *pdf.Document) error {
	failed := 0
	last := min(d.Pages(), t.out.lim.MaxPages)
	for t.page < last && !t.out.full() {
		if err := t.out.begin(t.page + 1); err != nil {
			return err
		}
		// One byte more, so that the writer sees that something was cut off.
		text, err := d.Text(t.doc.ctx, t.page+1, t.out.room()+1)
		if err = pdfVerdict(err); err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		if err != nil {
			if t.first == nil {
				t.first = err
			}
			if failed++; failed == 2 {
				return nil // and read this page once more
			}
		} else {
			failed = 0
			t.read++
			t.out.text(text)
		}
		t.page++
	}
	t.done = t.page == d.Pages()
	return nil
}
