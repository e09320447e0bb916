package document

import (
	"fmt"

	"deedkeep/app/document/tiff"
)

// eachTIFFDirectory calls visit for each directory, but for no more than n directories.
func eachTIFFDirectory(doc *source, n int, visit func(*tiff.Directory)) error {
	file, err := tiff.Open(doc.Reader)
	if err != nil {
		return err
	}
	return file.Each(n, visit)
}

func tiffPage(doc *source, n, width int, lim ExtractLimits) (Image, error) {
	var dir *tiff.Directory
	found := 0
	err := eachTIFFDirectory(doc, n, func(d *tiff.Directory) {
		dir = d
		found++
	})
	if err != nil {
		return Image{}, err
	}
	if found < n {
		return Image{}, fmt.Errorf("%w: it has %d", ErrNoPage, found)
	}
	page, err := newTIFFImage(doc, dir, lim)
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
