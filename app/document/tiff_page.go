package document

import (
	"fmt"
	"image"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// openTIFFPage reads the properties of page n.
func openTIFFPage(doc *source, n int, lim ExtractLimits) (*tiffImage, error) {
	dir, err := tiffDirectory(doc, n)
	if err != nil {
		return nil, err
	}
	return newTIFFImage(doc, dir, lim)
}

// tiffDirectory returns the directory of page n.
func tiffDirectory(doc *source, n int) (*tiff.Directory, error) {
	file, err := tiff.Open(doc.Reader)
	if err != nil {
		return nil, err
	}
	var dir *tiff.Directory
	found := 0
	for dir = range file.Directories(n) {
		found++
	}
	switch {
	case found == 0:
		return nil, docio.Damaged("missing image directory")
	case found < n:
		return nil, fmt.Errorf("%w: the document has %d", ErrNoPage, found)
	}
	return dir, nil
}

func tiffPage(doc *source, n, width int, lim ExtractLimits) (image.Image, error) {
	page, err := openTIFFPage(doc, n, lim)
	if err != nil {
		return nil, err
	}
	img, err := page.raster().render(width, lim)
	if err != nil {
		return nil, err
	}
	if page.decoded == 0 {
		return nil, page.failed
	}
	return img, nil
}
