package pdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/wasm"
)

// ErrTooLarge reports that the pages of a new document don't fit into the memory of PDFium.
var ErrTooLarge = errors.New("PDF is too large")

// PageTurn is a page, and by how many quarter turns clockwise to rotate it. Page numbers start at 1.
type PageTurn struct {
	Page  int `json:"page"`
	Turns int `json:"turns,omitempty"`
}

// Part is a document and the pages of it that a new document gets.
type Part struct {
	Doc   io.ReaderAt
	Size  int64 // of Doc in bytes
	Pages []PageTurn
}

// Assemble writes a new document to w: the pages of the parts, in order, with what is on them, except
// links to pages that it doesn't have. It has no outline and no form, so the fields of a form keep only
// their appearance. The same parts always give the same bytes. next returns the next part, or io.EOF.
// PDFium keeps the new document in its memory until it is written. Assemble returns the errors of Open,
// next, and w, ErrUnreadable if a page is missing or can't be copied, and ErrTooLarge.
func (e *Engine) Assemble(ctx context.Context, next func() (Part, error), w io.Writer) (err error) {
	d, err := e.create(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(context.WithoutCancel(ctx))) }()
	for {
		part, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = e.addPart(ctx, d, part)
		}
		if err != nil {
			return err
		}
	}
	if d.pages == 0 {
		return fmt.Errorf("%w: no pages", ErrUnreadable)
	}
	return d.Save(ctx, w)
}

// create returns a document without pages. Its creation date and its creator aren't stored, because they
// aren't those of its pages.
func (e *Engine) create(ctx context.Context) (*Document, error) {
	e.Lock()
	defer e.Unlock()
	// The ID that PDFium writes depends on what the instance did before.
	if err := e.Drop(ctx); err != nil {
		return nil, err
	}
	in, err := e.instance(ctx)
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	d := &Document{engine: e, in: in, file: in.addFile(bytes.NewReader(nil), 0)}
	err = e.Run(ctx, func() error {
		if d.handle = in.Call(ctx, "FPDF_CreateNewDocument"); d.handle == 0 {
			return fmt.Errorf("%w: can't create a document", ErrUnreadable)
		}
		for _, key := range []string{"CreationDate", "Creator"} {
			in.Call(ctx, "EPDF_SetMetaText", d.handle, in.cString(key), 0)
		}
		return nil
	})
	return d, classify(d.file, err)
}

// addPart appends the pages of a part.
func (e *Engine) addPart(ctx context.Context, d *Document, part Part) (err error) {
	src, err := e.Open(ctx, part.Doc, part.Size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close(context.WithoutCancel(ctx))) }()
	if src.in != d.in {
		return fmt.Errorf("%w: PDFium crashed", ErrUnreadable)
	}
	for _, p := range part.Pages {
		if p.Page < 1 || p.Page > src.pages {
			return fmt.Errorf("%w: page %d of %d not found", ErrUnreadable, p.Page, src.pages)
		}
	}
	memory := e.Memory()
	err = src.do(ctx, func() error { return d.importPages(ctx, src, part.Pages) })
	var fault *wasm.FaultError
	if errors.As(err, &fault) && memory+part.Size > maxAssembled {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}

// maxAssembled is the memory, in bytes, that an instance of PDFium can use in any case.
const maxAssembled = 128 << 20

// importPages appends pages of src. The caller holds the engine's lock.
func (d *Document) importPages(ctx context.Context, src *Document, pages []PageTurn) error {
	list := d.in.Alloc(ctx, 4*len(pages))
	defer d.in.Call(ctx, "free", list)
	raw := d.in.Read(list, uint32(4*len(pages)))
	for i, p := range pages {
		binary.LittleEndian.PutUint32(raw[4*i:], uint32(p.Page-1))
	}
	first := d.pages
	if d.in.Call(ctx, "FPDF_ImportPagesByIndex", d.handle, src.handle, list, uint32(len(pages)), uint32(first)) == 0 {
		return fmt.Errorf("%w: can't copy pages", ErrUnreadable)
	}
	d.pages += len(pages)
	for i, p := range pages {
		if p.Turns%4 == 0 {
			continue
		}
		err := d.page(ctx, first+i+1, func(page uint32) error {
			turns := d.in.Call(ctx, "FPDFPage_GetRotation", page) + uint32(p.Turns)
			d.in.Call(ctx, "FPDFPage_SetRotation", page, turns%4)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
