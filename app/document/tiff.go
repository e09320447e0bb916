package document

import (
	"fmt"
	"image"
	"io"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/document/tiff"
)

// inspectTIFF accepts a TIFF whose first directory is completely within the file. It counts the
// directories of the main chain, as tiffinfo does. A file without a readable first directory
// contains no image and does not count as a TIFF.
func inspectTIFF(doc *docio.Reader, mime string, _ InspectLimits) Report {
	file, err := tiff.Open(doc)
	if err != nil {
		return Report{}
	}
	pages := file.Count()
	if pages == 0 {
		return Report{}
	}
	return Report{MIME: mime, Pages: &pages}
}

// tiffDirectory returns the directory of page n.
func tiffDirectory(doc *source, n int) (*tiff.Directory, error) {
	file, err := tiff.Open(doc.Reader)
	if err != nil {
		return nil, err
	}
	return file.Page(n)
}

func tiffPage(doc *source, n, width int, lim ExtractLimits) (image.Image, error) {
	dir, err := tiffDirectory(doc, n)
	if err != nil {
		return nil, err
	}
	page, err := dir.Image(lim.MaxPixels)
	if err != nil {
		return nil, err
	}
	return render(page.Raster(), width, lim)
}

func tiffPageSize(doc *source, n int, _ ExtractLimits) (PageSize, error) {
	dir, err := tiffDirectory(doc, n)
	if err != nil {
		return PageSize{}, err
	}
	return tiffSize(dir), nil
}

func tiffSizes(doc *source, lim ExtractLimits) ([]PageSize, error) {
	file, err := tiff.Open(doc.Reader)
	if err != nil {
		return nil, err
	}
	var sizes []PageSize
	for dir := range file.Directories(lim.MaxPages) {
		sizes = append(sizes, tiffSize(dir))
	}
	if len(sizes) == 0 {
		return nil, docio.Damaged("missing image directory")
	}
	return sizes, nil
}

func tiffSize(d *tiff.Directory) PageSize {
	w, h, dpi := d.Size()
	points := pointsPerPixel
	if dpi > 0 {
		points = 72 / dpi
	}
	return uprightSize(w, h, points, d.Orientation())
}

// searchableTIFF writes a PDF with the images of a TIFF.
func searchableTIFF(doc *source, words PageWords, w io.Writer, lim ExtractLimits) error {
	file, err := tiff.Open(doc.Reader)
	if err != nil {
		return err
	}
	out := pdfwriter.New(w)
	page := 0
	for dir := range file.Directories(lim.MaxPages + 1) {
		if page++; page > lim.MaxPages {
			return fmt.Errorf("%w: more than %d pages", ErrTooLarge, lim.MaxPages)
		}
		t, err := dir.Image(lim.MaxPixels)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		if err := addPage(out, tiffSize(dir), embeddedTIFF(dir, t), page, words); err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
	}
	if page == 0 {
		return docio.Damaged("missing image directory")
	}
	return out.Close()
}

// embeddedTIFF returns an image of a TIFF for a PDF. Data that a PDF can contain is copied: a fax or
// JPEG image that is one strip. Any other image is compressed again without loss.
func embeddedTIFF(dir *tiff.Directory, t *tiff.Image) *pdfwriter.Image {
	var embeddable *pdfwriter.Image
	if data, k := t.Fax(); data != nil {
		// The samples of a TIFF are black if they are 1, unless 0 is black. In a PDF, it is the other
		// way around.
		embeddable = &pdfwriter.Image{
			Width: t.Width, Height: t.Height, Bits: 1, ColorSpace: deviceGray, Filter: "CCITTFaxDecode",
			Parameters: fmt.Sprintf("/K %d /Columns %d /Rows %d /EndOfBlock false /BlackIs1 %t",
				k, t.Width, t.Height, t.BlackIsZero()),
			Write: func(w io.Writer) error { return copyTo(w, data) },
		}
	} else if stream := t.JPEG(); stream != nil {
		if embeddable = jpegImage(stream); embeddable != nil && (embeddable.Width != t.Width || embeddable.Height != t.Height) {
			embeddable = nil
		}
	}
	if embeddable == nil {
		embeddable = embedded(t.Raster(), t.IsBilevel())
	}
	embeddable.Orientation = dir.Orientation()
	return embeddable
}
