package pdf

import "context"

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
func (d *Document) readAnnotations(ctx context.Context, page uint32, maxUnits int64) (units []uint16) {
	count := d.in.Call(ctx, "FPDFPage_GetAnnotCount", page)
	if int32(count) <= 0 {
		return nil
	}
	d.openForm(ctx)
	buffer := d.in.Alloc(ctx, maxValueBytes)
	for i := range min(count, maxAnnotations) {
		if ctx.Err() != nil || maxUnits > 0 && int64(len(units)) >= maxUnits {
			break
		}
		annotation := d.in.Call(ctx, "FPDFPage_GetAnnot", page, i)
		if annotation == 0 {
			continue
		}
		// PDFium doesn't write a value that is too long. A value of 2 bytes is only the terminating
		// zero.
		if n := d.readAnnotation(ctx, annotation, buffer); n > 2 && n <= maxValueBytes {
			units = d.in.appendUnits(append(units, '\n'), buffer, n/2)
		}
		d.in.Call(ctx, "FPDFPage_CloseAnnot", annotation)
	}
	d.in.Call(ctx, "free", buffer)
	return units
}

// readAnnotation writes the text of an annotation to buffer and returns its length in bytes. It
// returns 0 for annotations and form fields that don't contain text.
func (d *Document) readAnnotation(ctx context.Context, annotation, buffer uint32) uint32 {
	switch subtype := d.in.Call(ctx, "FPDFAnnot_GetSubtype", annotation); {
	case subtype == annotFreeText:
		return d.in.Call(ctx, "FPDFAnnot_GetStringValue", annotation, d.in.cString("Contents"), buffer, maxValueBytes)
	case subtype == annotWidget && d.form != 0:
		switch d.in.Call(ctx, "FPDFAnnot_GetFormFieldType", d.form, annotation) {
		case fieldCombo, fieldList, fieldText:
			return d.in.Call(ctx, "FPDFAnnot_GetFormFieldValue", d.form, annotation, buffer, maxValueBytes)
		}
	}
	return 0
}
