package pdf

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero/api"

	"deedkeep/app/wasm"
)

// removeSecurity is PDFium's flag FPDF_REMOVE_SECURITY: write the complete document, without
// encryption and without the parts that it no longer uses.
const removeSecurity = 3

// PagePlace says where a page is in the document and how points on the upright page become points
// of its content.
type PagePlace struct {
	Object        int        // number of the page object, the same as in a copy
	Width, Height float64    // of the upright page in points
	Matrix        [6]float64 // from the upright page, starting at its lower left corner, to the content
}

// PagePlace returns the place of a page. It returns ErrUnreadable if the page is missing or can't be
// loaded.
func (d *Document) PagePlace(ctx context.Context, page int) (place PagePlace, err error) {
	err = d.do(ctx, func() (err error) {
		if place.Width, place.Height, err = d.size(ctx, page); err != nil {
			return err
		}
		place.Object = int(d.in.Call(ctx, "EPDFDoc_GetPageObjectNumberByIndex", d.handle, uint32(page-1)))
		return d.page(ctx, page, func(handle uint32) error {
			origin, right, up := d.toPage(ctx, handle, 0, 1), d.toPage(ctx, handle, 1, 1), d.toPage(ctx, handle, 0, 0)
			place.Matrix = [6]float64{
				(right[0] - origin[0]) / place.Width, (right[1] - origin[1]) / place.Width,
				(up[0] - origin[0]) / place.Height, (up[1] - origin[1]) / place.Height, origin[0], origin[1],
			}
			return nil
		})
	})
	return place, err
}

// toPage converts fractions of the width and height of the upright page, from its upper left corner,
// to a point in page coordinates.
func (d *Document) toPage(ctx context.Context, page, x, y uint32) [2]float64 {
	at := d.in.scratch
	d.in.Call(ctx, "FPDF_DeviceToPage", page, 0, 0, devicePage, devicePage, 0, x*devicePage, y*devicePage, at, at+8)
	return [2]float64(d.in.doubles(2))
}

// Save writes a copy of the document to w: a complete file with a table of all objects, none of
// which is encrypted or in an object stream. The numbers and contents of the objects stay as they
// are. It returns ErrUnreadable if the document can't be saved, or an error of w.
func (d *Document) Save(ctx context.Context, w io.Writer) error {
	return d.do(ctx, func() error { return d.save(ctx, w) })
}

func (d *Document) save(ctx context.Context, w io.Writer) error {
	if err := d.in.enableSaving(ctx, d.engine); err != nil {
		return err
	}
	d.in.output = &outputFile{w: w, ctx: ctx}
	defer func() { d.in.output = nil }()
	ok := d.in.Call(ctx, "FPDF_SaveAsCopy", d.handle, d.in.fileWrite, removeSecurity)
	if d.in.output.err != nil {
		return d.in.output.err
	}
	if ok == 0 {
		return fmt.Errorf("%w: can't save a copy", ErrUnreadable)
	}
	return nil
}

// outputFile is the file that PDFium writes.
type outputFile struct {
	w   io.Writer
	ctx context.Context // of the call that saves; PDFium doesn't pass it on
	err error           // first error of w or ctx
}

// callbackModule is a WebAssembly module that makes a host function callable for PDFium, which needs
// a function pointer: an index in its table of functions. Only WebAssembly code can add to a table.
//
//	(module
//	  (import "pdfium" "__indirect_function_table" (table 1 funcref))
//	  (import "host" "write" (func $write (param $file i32) (param $data i32) (param $size i32) (result i32)))
//	  (func (export "add") (result i32) (table.grow 0 (ref.func $write) (i32.const 1)))
//	  (elem declare func $write))
const callbackModule = "\x00asm\x01\x00\x00\x00" +
	"\x01\x0C\x02\x60\x03\x7F\x7F\x7F\x01\x7F\x60\x00\x01\x7F" +
	"\x02\x33\x02\x06pdfium\x19__indirect_function_table\x01\x70\x00\x01\x04host\x05write\x00\x00" +
	"\x03\x02\x01\x01" +
	"\x07\x07\x01\x03add\x00\x01" +
	"\x09\x05\x01\x03\x00\x01\x00" +
	"\x0A\x0B\x01\x09\x00\xD2\x00\x41\x01\xFC\x0F\x00\x0B"

// Modules that callbackModule imports.
const (
	hostModule   = "host"
	pdfiumModule = "pdfium"
)

// compileCallback compiles callbackModule and instantiates the host function that it imports. An
// engine can't do that later, because its process may not be allowed to open the cache.
func (e *Engine) compileCallback(ctx context.Context) (err error) {
	if e.callback, err = e.Runtime.CompileModule(ctx, []byte(callbackModule)); err != nil {
		return err
	}
	_, err = e.Runtime.NewHostModuleBuilder(hostModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
			stack[0] = uint64(writeBlock(e.current, stack[1], stack[2]))
		}), []api.ValueType{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).
		Export("write").Instantiate(ctx)
	return err
}

// writeBlock writes what PDFium passes to WriteBlock of a FPDF_FILEWRITE. It returns 1, or 0 to make
// PDFium stop.
func writeBlock(in *instance, address, length uint64) uint32 {
	out := in.output
	if out == nil || out.err != nil {
		return 0
	}
	if out.err = out.ctx.Err(); out.err == nil {
		_, out.err = out.w.Write(wasm.Bytes(in.Memory, address, length))
	}
	if out.err != nil {
		return 0
	}
	return 1
}

// enableSaving creates the FPDF_FILEWRITE of the instance: a version, and a pointer to writeBlock.
func (in *instance) enableSaving(ctx context.Context, e *Engine) error {
	if in.fileWrite != 0 {
		return nil
	}
	callback, err := e.Link(ctx, e.callback, pdfiumModule)
	if err != nil {
		return fmt.Errorf("start the callback of PDFium: %w", err)
	}
	index, err := callback.ExportedFunction("add").Call(ctx)
	if err != nil {
		return fmt.Errorf("add the callback of PDFium: %w", err)
	}
	const version = 1
	address := in.Alloc(ctx, 8)
	raw := in.Read(address, 8)
	binary.LittleEndian.PutUint32(raw, version)
	binary.LittleEndian.PutUint32(raw[4:], uint32(index[0]))
	in.fileWrite = address
	return nil
}
