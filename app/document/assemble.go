package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
)

// Part is a document and the pages of it that a new document gets.
type Part struct {
	Source
	Pages []pdf.PageTurn
}

// Assembler creates PDF documents of pages, as pdf.Engine does. next returns io.EOF after the last part.
type Assembler interface {
	Assemble(ctx context.Context, next func() (pdf.Part, error), w io.Writer) error
}

// maxImagePages is the maximum number of images that are passed to PDFium at a time. They are in memory.
const maxImagePages = 10

// Assemble writes a PDF with the pages of the parts, in order, to w. Pages of a PDF keep what is on them.
// Images keep their pixels, and those that a PDF can contain keep their bytes. The same parts always give
// the same bytes. Assemble returns ErrUnsupported for a document that isn't shown as page images, ErrNoPage,
// ErrTooLarge, ErrDamaged, or an error of w.
func Assemble(ctx context.Context, engine Assembler, parts []Part, w io.Writer, lim ExtractLimits) error {
	a := assembler{ctx: ctx, parts: parts, lim: lim}
	err := engine.Assemble(ctx, a.next, output{w})
	if fault := (*docio.FaultError)(nil); errors.As(err, &fault) {
		return fault.Cause
	}
	switch {
	case errors.Is(err, pdf.ErrTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case errors.Is(err, pdf.ErrPassword):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	case errors.Is(err, pdf.ErrUnreadable):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// assembler converts parts for PDFium, which reads only PDF documents.
type assembler struct {
	ctx   context.Context
	parts []Part // that follow
	lim   ExtractLimits
}

// next returns the next part as a PDF, or io.EOF.
func (a *assembler) next() (pdf.Part, error) {
	if err := a.ctx.Err(); err != nil {
		return pdf.Part{}, err
	}
	for len(a.parts) > 0 && len(a.parts[0].Pages) == 0 {
		a.parts = a.parts[1:]
	}
	if len(a.parts) == 0 {
		return pdf.Part{}, io.EOF
	}
	part := &a.parts[0]
	pages := part.Pages
	if part.MIME == mimePDF {
		part.Pages = nil
		return pdf.Part{Doc: part.Doc, Size: part.Size, Pages: pages}, nil
	}
	pages = pages[:min(len(pages), maxImagePages)]
	part.Pages = part.Pages[len(pages):]
	var converted bytes.Buffer
	err := withPages(a.ctx, part.Source, a.lim, func(doc *source, lim ExtractLimits) error {
		out := pdfwriter.New(&converted)
		for _, p := range pages {
			if err := addImage(out, doc, p.Page, lim); err != nil {
				return fmt.Errorf("page %d: %w", p.Page, err)
			}
		}
		return out.Close()
	})
	images := pdf.Part{Doc: bytes.NewReader(converted.Bytes()), Size: int64(converted.Len())}
	for i, p := range pages {
		images.Pages = append(images.Pages, pdf.PageTurn{Page: i + 1, Turns: p.Turns})
	}
	return images, err
}

// addImage adds a page of a TIFF or another image.
func addImage(out *pdfwriter.Writer, doc *source, page int, lim ExtractLimits) error {
	noWords := func(int) (ocr.Page, error) { return ocr.Page{}, doc.Context().Err() }
	if doc.pages == tiffPages {
		dir, err := tiffDirectory(doc, page)
		if err != nil {
			return err
		}
		t, err := dir.Image(lim.MaxPixels)
		if err != nil {
			return err
		}
		return addPage(out, tiffSize(dir), embeddedTIFF(dir, t), page, noWords)
	}
	if page != 1 {
		return ErrNoPage
	}
	size, err := imagePageSize(doc, 1, lim)
	if err != nil {
		return err
	}
	image, err := embeddedImage(doc, lim)
	if err != nil {
		return err
	}
	return addPage(out, size, image, 1, noWords)
}
