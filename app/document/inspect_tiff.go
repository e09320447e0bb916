package document

import (
	"deedkeep/app/document/docio"
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
