package pdf

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"deedkeep/app/wasm"
)

// MaxPixels is the maximum number of pixels of a rendered page. That many pixels use 64 MB of the
// engine's memory and are enough for a letter page at 400 dots per inch.
const MaxPixels = 16 << 20

// Constants of PDFium. bitmapBGRx means 4 bytes per pixel, the last of which is unused. The flags
// draw annotations and write pixels as red, green, blue instead of the reverse.
const (
	bitmapBGRx       = 3
	drawAnnotations  = 0x01
	reverseByteOrder = 0x10
)

// PageSize returns the size of a page after applying /Rotate, in points of 1/72 inch. It returns
// ErrUnreadable if the page is missing.
func (d *Document) PageSize(ctx context.Context, page int) (width, height float64, err error) {
	err = d.do(ctx, func() (err error) {
		width, height, err = d.size(ctx, page)
		return err
	})
	return width, height, err
}

func (d *Document) size(ctx context.Context, page int) (width, height float64, err error) {
	if page < 1 || page > d.pages {
		return 0, 0, fmt.Errorf("%w: page %d of %d not found", ErrUnreadable, page, d.pages)
	}
	ok := d.in.Call(ctx, "FPDF_GetPageSizeByIndexF", d.handle, uint32(page-1), d.in.scratch)
	sides := d.in.floats(2)
	if ok == 0 || !(sides[0] > 0) || !(sides[1] > 0) || math.IsInf(sides[0]*sides[1], 0) {
		return 0, 0, fmt.Errorf("%w: page %d has no size", ErrUnreadable, page)
	}
	return sides[0], sides[1], nil
}

// Render returns an image of a page that is width pixels wide. It applies /Rotate and draws
// annotations and the contents of form fields. The background is white. If the page is so long that
// the image would have more than MaxPixels pixels, the image is smaller. The image is an
// *image.Gray if the page has no colors, else an opaque *image.RGBA. Render returns ErrUnreadable
// if the page can't be rendered.
func (d *Document) Render(ctx context.Context, page, width int) (image.Image, error) {
	var img image.Image
	err := d.do(ctx, func() error {
		pw, ph, err := d.size(ctx, page)
		if err != nil {
			return err
		}
		w, h := fit(pw, ph, width)
		d.openForm(ctx)
		return d.page(ctx, page, func(handle uint32) (err error) {
			img, err = d.draw(ctx, handle, w, h)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return img, nil
}

// fit returns the width and height of the image of a page. The image is width pixels wide, or
// smaller if it would have more than MaxPixels pixels.
func fit(pageWidth, pageHeight float64, width int) (w, h int) {
	fw := max(float64(width), 1)
	fh := fw * pageHeight / pageWidth
	if fw*fh > MaxPixels {
		shrink := math.Sqrt(MaxPixels / (fw * fh))
		fw, fh = fw*shrink, fh*shrink
	}
	w, h = max(int(math.Round(min(fw, MaxPixels))), 1), max(int(math.Round(min(fh, MaxPixels))), 1)
	// On a very long and thin page, one side is rounded up to a pixel, so the other side must be
	// shorter.
	return min(w, max(MaxPixels/h, 1)), min(h, max(MaxPixels/w, 1))
}

// draw renders a loaded page to a PDFium bitmap and returns a copy of it.
func (d *Document) draw(ctx context.Context, page uint32, w, h int) (image.Image, error) {
	width, height := uint32(w), uint32(h)
	bitmap := d.in.Call(ctx, "FPDFBitmap_CreateEx", width, height, bitmapBGRx, 0, 0)
	if bitmap == 0 {
		return nil, fmt.Errorf("%w: not enough memory for %d x %d pixels", ErrUnreadable, w, h)
	}
	const white, flags = 0xFFFFFFFF, drawAnnotations | reverseByteOrder
	d.in.Call(ctx, "FPDFBitmap_FillRect", bitmap, 0, 0, width, height, white)
	d.in.Call(ctx, "FPDF_RenderPageBitmap", bitmap, page, 0, 0, width, height, 0, flags)
	if d.form != 0 {
		d.in.Call(ctx, "FORM_OnAfterLoadPage", page, d.form)
		d.in.Call(ctx, "FPDF_FFLDraw", d.form, bitmap, page, 0, 0, width, height, 0, flags)
		d.in.Call(ctx, "FORM_OnBeforeClosePage", page, d.form)
	}
	img := d.copyBitmap(ctx, bitmap, w, h)
	d.in.Call(ctx, "FPDFBitmap_Destroy", bitmap)
	return img, nil
}

// copyBitmap returns a copy of a bitmap in the engine's memory. It makes all pixels opaque.
func (d *Document) copyBitmap(ctx context.Context, bitmap uint32, w, h int) image.Image {
	buffer := d.in.Call(ctx, "FPDFBitmap_GetBuffer", bitmap)
	if stride := d.in.Call(ctx, "FPDFBitmap_GetStride", bitmap); stride != uint32(4*w) {
		panic(&wasm.FaultError{Call: "FPDFBitmap_GetStride", Cause: errors.New("unexpected bitmap format")})
	}
	pixels := d.in.Read(buffer, uint32(4*w*h))
	if gray := grayOf(pixels, w, h); gray != nil {
		return gray
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	copy(img.Pix, pixels)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0xFF
	}
	return img
}

// grayOf returns pixels of four bytes as a gray image, or nil if they contain colors. Most pages
// have no colors, and a gray image is the fastest to create and the smallest to store.
func grayOf(pixels []byte, w, h int) *image.Gray {
	gray := image.NewGray(image.Rect(0, 0, w, h))
	for i := range gray.Pix {
		p := pixels[4*i:][:3:3]
		if p[0] != p[1] || p[1] != p[2] {
			return nil
		}
		gray.Pix[i] = p[0]
	}
	return gray
}

// openForm creates the form environment, which is required to render form fields. It does so only
// once, and only if the document has a form. Scripts and actions of the form don't run.
func (d *Document) openForm(ctx context.Context) {
	if d.formChecked {
		return
	}
	d.formChecked = true
	if d.in.Call(ctx, "FPDF_GetFormType", d.handle) != 0 {
		d.formInfo = d.in.Call(ctx, "PDFiumExt_OpenFormFillInfo")
		d.form = d.in.Call(ctx, "PDFiumExt_InitFormFillEnvironment", d.handle, d.formInfo)
	}
}

// closeForm frees the form environment. The document must still be open.
func (d *Document) closeForm(ctx context.Context) {
	if d.form != 0 {
		d.in.Call(ctx, "PDFiumExt_ExitFormFillEnvironment", d.form)
	}
	if d.formInfo != 0 {
		d.in.Call(ctx, "PDFiumExt_CloseFormFillInfo", d.formInfo)
	}
}
