package pdf

import (
	"context"
	"errors"
)

// Constants of PDFium: types of annotations, and types of form fields that contain text.
const (
	annotFreeText = 3
	annotWidget   = 20

	fieldCombo = 4
	fieldList  = 5
	fieldText  = 6
)

// Limits on the annotations of a page.
const (
	maxAnnotations = 10_000
	maxValueBytes  = 64 << 10 // size of a value in UTF-16
)

// readAnnotations returns the text of form fields and free-text annotations, which isn't part of
// the page's content. Each text is on its own line. It stops after maxUnits UTF-16 units (0: no
// limit).
func (d *Document) readAnnotations(ctx context.Context, page uint32, maxUnits int64) ([]uint16, error) {
	count, err := d.in.call(ctx, "FPDFPage_GetAnnotCount", page)
	if err != nil || int32(count) <= 0 {
		return nil, err
	}
	if err := d.openForm(ctx); err != nil {
		return nil, err
	}
	buffer, err := d.in.call(ctx, "malloc", maxValueBytes)
	if err != nil {
		return nil, err
	}
	if buffer == 0 {
		return nil, &faultError{"malloc", errors.New("no memory")}
	}
	var units []uint16
	for i := range min(count, maxAnnotations) {
		if ctx.Err() != nil || maxUnits > 0 && int64(len(units)) >= maxUnits {
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

// addAnnotation appends the text of an annotation to units, on its own line, and returns the
// result.
func (d *Document) addAnnotation(ctx context.Context, units []uint16, annotation, buffer uint32) ([]uint16, error) {
	subtype, err := d.in.call(ctx, "FPDFAnnot_GetSubtype", annotation)
	if err != nil {
		return nil, err
	}
	var n uint32
	switch {
	case subtype == annotFreeText:
		var key uint32
		if key, err = d.in.path("Contents"); err == nil {
			n, err = d.in.call(ctx, "FPDFAnnot_GetStringValue", annotation, key, buffer, maxValueBytes)
		}
	case subtype == annotWidget && d.form != 0:
		n, err = d.fieldValue(ctx, annotation, buffer)
	}
	// PDFium doesn't write a value that is too long. A value of 2 bytes is only the terminating
	// zero.
	if err != nil || n <= 2 || n > maxValueBytes {
		return units, err
	}
	return d.addUnits(append(units, '\n'), buffer, n/2)
}

// fieldValue writes the value of a form field to buffer and returns its length in bytes. It returns
// 0 for fields that don't contain text.
func (d *Document) fieldValue(ctx context.Context, annotation, buffer uint32) (uint32, error) {
	fieldType, err := d.in.call(ctx, "FPDFAnnot_GetFormFieldType", d.form, annotation)
	if err != nil {
		return 0, err
	}
	switch fieldType {
	case fieldCombo, fieldList, fieldText:
		return d.in.call(ctx, "FPDFAnnot_GetFormFieldValue", d.form, annotation, buffer, maxValueBytes)
	}
	return 0, nil
}
