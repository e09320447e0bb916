package document

import (
	"bytes"
	"slices"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// isProgressive reports whether a JPEG is progressive. The decoder of a progressive JPEG keeps all
// coefficients in memory.
func isProgressive(doc *source) (progressive bool) {
	jpegSegments(doc.Reader, func(marker byte, _, _ int64) bool {
		progressive = marker == 0xC2
		return progressive || marker == 0xC0 || marker == 0xC1
	})
	return progressive
}

// exifOrientation returns the orientation in the EXIF block of a JPEG, or 1 if there is none. The
// block is an APP1 segment that contains a TIFF file (EXIF 2.32, 4.5.4):
//
//	FF E1  length:2  "Exif" 0 0  TIFF header, directory 0 with tag 0x0112
func exifOrientation(doc *source) int {
	orientation := 1
	jpegSegments(doc.Reader, func(marker byte, off, length int64) bool {
		if marker != 0xE1 {
			return false
		}
		block, ok := doc.Bytes(off, length)
		content, exif := bytes.CutPrefix(block, []byte("Exif\x00\x00"))
		if !ok || !exif {
			return false
		}
		file, err := tiff.Open(docio.NewReader(doc.Context(), bytes.NewReader(content), int64(len(content))))
		if err != nil {
			return true
		}
		for _, dir := range slices.Collect(file.Directories(1)) {
			orientation = dir.Orientation()
		}
		return true
	})
	return orientation
}
