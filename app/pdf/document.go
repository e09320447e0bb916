package pdf

import (
	"context"
	"errors"
	"fmt"

	"deedkeep/app/wasm"
)

// Document is an open document. It belongs to the instance of PDFium that opened it. If that
// instance breaks, every method returns ErrUnreadable.
type Document struct {
	engine *Engine
	in     *instance
	file   *wasm.File
	handle uint32 // FPDF_DOCUMENT; 0 after Close
	pages  int

	formChecked bool
	formInfo    uint32 // FPDF_FORMFILLINFO; 0 if there is no form
	form        uint32 // FPDF_FORMHANDLE; 0 if there is no form
}

// needsPassword is PDFium's error code FPDF_ERR_PASSWORD.
const needsPassword = 4

// load opens f in the live instance. It returns ErrPassword or ErrUnreadable.
func load(ctx context.Context, e *Engine, in *instance, f *wasm.File) (*Document, error) {
	handle := in.Call(ctx, "FPDF_LoadDocument", in.cString(f.Path), 0)
	if handle == 0 {
		code := in.Call(ctx, "FPDF_GetLastError")
		if code == needsPassword {
			return nil, ErrPassword
		}
		return nil, fmt.Errorf("%w: PDFium error %d", ErrUnreadable, code)
	}
	d := &Document{engine: e, in: in, file: f, handle: handle}
	if err := d.count(ctx); err != nil {
		in.Call(ctx, "FPDF_CloseDocument", handle)
		return nil, err
	}
	return d, nil
}

// count sets d.pages. PDFium trusts /Count even if it is wrong, so count also asks for the last
// page. It asks for the page's size because then PDFium reads only the page's dictionary. The
// page's content may be a gigabyte.
func (d *Document) count(ctx context.Context) error {
	n := d.in.Call(ctx, "FPDF_GetPageCount", d.handle)
	if int32(n) <= 0 {
		return fmt.Errorf("%w: document has no pages", ErrUnreadable)
	}
	if d.in.Call(ctx, "FPDF_GetPageSizeByIndexF", d.handle, n-1, d.in.scratch) == 0 {
		return fmt.Errorf("%w: the last of %d pages is missing", ErrUnreadable, n)
	}
	d.pages = int(n)
	return nil
}

// Pages returns the number of pages. It is at least 1.
func (d *Document) Pages() int { return d.pages }

// Close frees the memory that PDFium uses for the document. It may be called more than once.
func (d *Document) Close(ctx context.Context) error {
	err := d.do(ctx, func() error {
		handle := d.handle
		d.handle = 0
		d.in.Files.Remove(d.file)
		d.closeForm(ctx)
		d.in.Call(ctx, "FPDF_CloseDocument", handle)
		return nil
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

var errClosed = fmt.Errorf("%w: the document is closed", ErrUnreadable)

// do runs work while it holds the engine's lock. It passes the error through classify and returns
// it. If the document has been closed or its instance is gone, it returns errClosed.
func (d *Document) do(ctx context.Context, work func() error) error {
	d.engine.Lock()
	defer d.engine.Unlock()
	if d.handle == 0 || d.in.Closed {
		return errClosed
	}
	err := d.engine.Run(ctx, work)
	if err == nil && d.file.Err == nil {
		return nil
	}
	// PDFium replaces bytes that it can't read, so a call may succeed even though a read failed.
	return classify(d.file, err)
}

// page loads a page, calls work with it, and closes it. It returns ErrUnreadable if the page is
// missing or can't be loaded.
func (d *Document) page(ctx context.Context, page int, work func(page uint32) error) error {
	if page < 1 || page > d.pages {
		return fmt.Errorf("%w: page %d of %d not found", ErrUnreadable, page, d.pages)
	}
	loaded, err := d.tryPage(ctx, page, work)
	if err == nil && !loaded {
		err = fmt.Errorf("%w: can't load page %d", ErrUnreadable, page)
	}
	return err
}

// tryPage is like page, but reports whether PDFium can load the page.
func (d *Document) tryPage(ctx context.Context, page int, work func(page uint32) error) (loaded bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	handle := d.in.Call(ctx, "FPDF_LoadPage", d.handle, uint32(page-1))
	if handle == 0 {
		return false, nil
	}
	err = work(handle)
	d.in.Call(ctx, "FPDF_ClosePage", handle)
	return true, err
}
