package pdf

import (
	"context"
	"errors"
	"fmt"
)

// Document is an open document. It belongs to the instance of PDFium that opened it. If that
// instance breaks, every method returns ErrUnreadable.
type Document struct {
	engine *Engine
	in     *instance
	file   *file
	handle uint32 // FPDF_DOCUMENT; 0 after Close
	pages  int

	formChecked bool
	formInfo    uint32 // FPDF_FORMFILLINFO; 0 if there is no form
	form        uint32 // FPDF_FORMHANDLE; 0 if there is no form
}

// needsPassword is PDFium's error code FPDF_ERR_PASSWORD.
const needsPassword = 4

// load opens f in the live instance. If the error is not a *faultError, it wraps ErrPassword or
// ErrUnreadable, and the instance can still be used.
func load(ctx context.Context, e *Engine, in *instance, f *file) (*Document, error) {
	path, err := in.path(f.path)
	if err != nil {
		return nil, err
	}
	handle, err := in.call(ctx, "FPDF_LoadDocument", path, 0)
	if err != nil {
		return nil, err
	}
	if handle == 0 {
		return nil, in.lastError(ctx)
	}
	d := &Document{engine: e, in: in, file: f, handle: handle}
	if err := d.count(ctx); err != nil {
		if _, failed := in.call(ctx, "FPDF_CloseDocument", handle); failed != nil {
			err = failed
		}
		return nil, err
	}
	return d, nil
}

// lastError returns the reason why PDFium couldn't open a document.
func (in *instance) lastError(ctx context.Context) error {
	code, err := in.call(ctx, "FPDF_GetLastError")
	if err != nil {
		return err
	}
	if code == needsPassword {
		return ErrPassword
	}
	return fmt.Errorf("%w: PDFium error %d", ErrUnreadable, code)
}

// count sets d.pages. PDFium trusts /Count even if it is wrong, so count also asks for the last
// page. It asks for the page's size because then PDFium reads only the page's dictionary. The
// page's content may be a gigabyte.
func (d *Document) count(ctx context.Context) error {
	n, err := d.in.call(ctx, "FPDF_GetPageCount", d.handle)
	if err != nil {
		return err
	}
	if int32(n) <= 0 {
		return fmt.Errorf("%w: no pages", ErrUnreadable)
	}
	ok, err := d.in.call(ctx, "FPDF_GetPageSizeByIndexF", d.handle, n-1, d.in.scratch)
	if err != nil {
		return err
	}
	if ok == 0 {
		return fmt.Errorf("%w: the last of %d pages is missing", ErrUnreadable, n)
	}
	d.pages = int(n)
	return nil
}

// Pages returns the number of pages. It is at least 1.
func (d *Document) Pages() int { return d.pages }

// Close frees the memory that PDFium uses for the document. It may be called more than once.
func (d *Document) Close(ctx context.Context) error {
	return d.do(ctx, func() error {
		handle := d.handle
		d.handle = 0
		d.in.files.remove(d.file)
		if err := d.closeForm(ctx); err != nil {
			return err
		}
		_, err := d.in.call(ctx, "FPDF_CloseDocument", handle)
		return err
	}, func() error { return nil })
}

var errClosed = fmt.Errorf("%w: the document is not open any more", ErrUnreadable)

// do runs work while it holds the engine's lock. If the document has been closed or its instance is
// gone, it runs closed instead. It passes the error through classify and returns it.
func (d *Document) do(ctx context.Context, work, closed func() error) error {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	if d.handle == 0 || d.in.dead {
		return closed()
	}
	err := work()
	if err == nil && d.file.err == nil {
		return nil
	}
	// PDFium replaces bytes that it can't read, so a call may succeed even though a read failed.
	return d.engine.classify(ctx, d.in, d.file, err)
}

// page opens page i, calls work with it, and closes it. Page numbers start at 0. If PDFium can't
// load the page, work isn't called.
func (d *Document) page(ctx context.Context, i int, work func(page uint32) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	page, err := d.in.call(ctx, "FPDF_LoadPage", d.handle, uint32(i))
	if err != nil || page == 0 {
		return err
	}
	err = work(page)
	var fault *faultError
	if errors.As(err, &fault) {
		return err
	}
	_, failed := d.in.call(ctx, "FPDF_ClosePage", page)
	return errors.Join(err, failed)
}
