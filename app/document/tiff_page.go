package document

import (
	"fmt"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// openTIFFPage reads the properties of page n.
func openTIFFPage(doc *source, n int, lim ExtractLimits) (*tiffImage, error) {
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
	return newTIFFImage(doc, dir, lim)
}

func tiffPage(doc *source, n, width int, lim ExtractLimits) (Image, error) {
	page, err := openTIFFPage(doc, n, lim)
	if err != nil {
		return Image{}, err
	}
	img, err := page.raster().render(width, lim)
	if err != nil {
		return Image{}, err
	}
	if page.decoded == 0 {
		return Image{}, page.failed
	}
	return encode(img)
}
