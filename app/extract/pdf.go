package extract

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

func pdfPages(doc *source, _ Limits) (n int, err error) {
	err = withPDF(doc, func(d *pdf.Document) error {
		n = d.Pages()
		return nil
	})
	return n, err
}

func pdfPage(doc *source, n, width int, _ Limits) (picture Picture, err error) {
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

// pdfText leaves pages out that cannot be read while others can: half of a
// deed is worth finding.
func pdfText(doc *source, out *writer) error {
	return withPDF(doc, func(d *pdf.Document) error {
		var first error
		read := 0
		pages := min(d.Pages(), out.lim.Pages)
		for n := 1; n <= pages && !out.full(); n++ {
			if err := out.begin(n); err != nil {
				return err
			}
			// One byte more, so that the writer sees that something was cut off.
			text, err := d.Text(doc.ctx, n, out.room()+1)
			if err != nil {
				if err = pdfVerdict(err); !errors.Is(err, ErrDamaged) {
					return err
				}
				if first == nil {
					first = err
				}
				continue
			}
			read++
			out.text(text)
		}
		if read == 0 && first != nil {
			return first
		}
		out.cut = out.cut || pages < d.Pages()
		return nil
	})
}
