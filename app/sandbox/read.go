package sandbox

import (
	"context"
	"io"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
)

// ReadPage reads the words on the image of a page with Tesseract. Page numbers start at 1. It
// returns the same errors as PageImage, and ocr.ErrUnreadable, which is a document error.
//
// It takes seconds and a lot of memory, so it should have its own Pool.
func (p *Pool) ReadPage(ctx context.Context, r Request, page int, lim document.ExtractLimits) (ocr.Page, error) {
	a := &wordsResult{}
	if err := p.run(ctx, r, task{Task: taskOCR, Extract: withDefaultLimits(lim), Page: page}, a); err != nil {
		return ocr.Page{}, err
	}
	return ocr.Page{Words: a.words, Rotation: a.rotation}, nil
}

// read reads the words in the worker and sends them.
func (s *session) read(ctx context.Context, doc io.ReaderAt, t task) (taskDone, error) {
	reader, err := s.engine.loadOCR(ctx)
	if err != nil {
		return taskDone{}, err
	}
	scan, dpi, err := document.Scan(ctx, s.source(doc, t), t.Page, t.Extract)
	if err != nil {
		return taskDone{}, err
	}
	page, err := reader.Read(ctx, scan, dpi)
	if err != nil {
		return taskDone{}, err
	}
	return taskDone{Rotation: page.Rotation}, s.sendWords(page.Words)
}
