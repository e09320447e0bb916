package docio

import "cmp"

// ExtractLimits limits the work and the memory of one call. A zero field means the default, given
// in parentheses.
type ExtractLimits struct {
	MaxPixels        int64 `json:"max_pixels"`          // in a stored image (80 million)
	MaxWidth         int   `json:"max_width"`           // of a page image, in pixels (5,100)
	MaxTextBytes     int64 `json:"max_text_bytes"`      // for the whole document (32 MiB)
	MaxPageTextBytes int64 `json:"max_page_text_bytes"` // for one page (1 MiB)
	MaxPages         int   `json:"max_pages"`           // to read (1,000)
	MaxUnpackedBytes int64 `json:"max_unpacked_bytes"`  // in one part of a zip or in an OLE stream (64 MiB)
}

// MaxPages is the default maximum number of pages of a document that can be shown and read. A TIFF of
// 1 MB may claim to have 65,535.
const MaxPages = 1000

// WithDefaults returns the limits with defaults in place of zero fields.
func (l ExtractLimits) WithDefaults() ExtractLimits {
	return ExtractLimits{
		MaxPixels: cmp.Or(l.MaxPixels, 80_000_000), MaxWidth: cmp.Or(l.MaxWidth, 5100),
		MaxTextBytes: cmp.Or(l.MaxTextBytes, 32<<20), MaxPageTextBytes: cmp.Or(l.MaxPageTextBytes, 1<<20),
		MaxPages: cmp.Or(l.MaxPages, MaxPages), MaxUnpackedBytes: cmp.Or(l.MaxUnpackedBytes, 64<<20),
	}
}
