package pdf

import (
	"context"
	"errors"
)

// Numbers of PDFium: kinds of annotations, and of fields that hold words.
const (
	annotFreeText = 3
	annotWidget   = 20

	fieldCombo = 4
	fieldList  = 5
	fieldText  = 6
)

// Bounds of a page's annotations.
const (
	mostAnnotations = 10_000
	longestValue    = 64 << 10 // bytes of UTF-16
)

// readAnnotations returns what was typed onto a page, which is not of its
// content: the values of its form fields and its free text, a line each, up to
// most units (0: no limit).
func (d *Document) readAnnotations(ctx context.Context, page uint32, most int64) ([]uint16, error) {
	count, err := d.in.call(ctx, "FPDFPage_GetAnnotCount", page)
	if err != nil || int32(count) <= 0 {
		return nil, err
	}
	if err := d.openForm(ctx); err != nil {
		return nil, err
	}
	buffer, err := d.in.call(ctx, "malloc", longestValue)
	if err != nil {
		return nil, err
	}
	if buffer == 0 {
		return nil, &faultError{"malloc", errors.New("no memory")}
	}
	var units []uint16
	for i := range min(count, mostAnnotations) {
		if ctx.Err() != nil || most > 0 && int64(len(units)) >= most {
			break
		}
		annotation, err := d.in.call(ctx, "FPDFPage_GetAnnot", page, i)
		if err != nil {
			return nil, err
		}
		if annotation == 0 {
			continue
		}
		if units, err = d.addAnnotation(ctx, units, annotation, buffer); err != nil {
			return nil, err
		}
		if _, err := d.in.call(ctx, "FPDFPage_CloseAnnot", annotation); err != nil {
			return nil, err
		}
	}
	_, err = d.in.call(ctx, "free", buffer)
	return units, err
}

func (d *Document) addAnnotation(ctx context.Context, units []uint16, annotation, buffer uint32) ([]uint16, error) {
	kind, err := d.in.call(ctx, "FPDFAnnot_GetSubtype", annotation)
	if err != nil {
		return nil, err
	}
	var n uint32
	switch {
	case kind == annotFreeText:
		var key uint32
		if key, err = d.in.path("Contents"); err == nil {
			n, err = d.in.call(ctx, "FPDFAnnot_GetStringValue", annotation, key, buffer, longestValue)
		}
	case kind == annotWidget && d.form != 0:
		n, err = d.fieldValue(ctx, annotation, buffer)
	}
	// A value that does not fit is not written; 2 is the closing zero alone.
	if err != nil || n <= 2 || n > longestValue {
		return units, err
	}
	return d.addUnits(append(units, '\n'), buffer, n/2)
}

// fieldValue writes the value of a field that holds words, and returns its
// bytes.
func (d *Document) fieldValue(ctx context.Context, annotation, buffer uint32) (uint32, error) {
	kind, err := d.in.call(ctx, "FPDFAnnot_GetFormFieldType", d.form, annotation)
	if err != nil {
		return 0, err
	}
	switch kind {
	case fieldCombo, fieldList, fieldText:
		return d.in.call(ctx, "FPDFAnnot_GetFormFieldValue", d.form, annotation, buffer, longestValue)
	}
	return 0, nil
}
