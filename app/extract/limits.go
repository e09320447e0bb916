package extract

// ExtractLimits bound what one call may take; a zero field means its default.
type ExtractLimits struct {
	MaxPixels        int64 `json:"pixels"`     // of a picture as it is stored; 80 million
	MaxWidth         int   `json:"width"`      // pixels of a picture that is made; 5,100
	MaxTextBytes     int64 `json:"text_bytes"` // of all text of a document; 32 MiB
	MaxPageTextBytes int64 `json:"page_text"`  // bytes of the text of a page; 1 MiB
	MaxPages         int   `json:"pages"`      // that are looked at; 1,000
	MaxUnpackedBytes int64 `json:"unpacked"`   // bytes of one part of a zip, or of an OLE stream; 64 MiB
}

// DefaultExtractLimits returns the defaults.
func DefaultExtractLimits() ExtractLimits {
	return ExtractLimits{
		MaxPixels: 80_000_000, MaxWidth: 5100, MaxTextBytes: 32 << 20,
		MaxPageTextBytes: 1 << 20, MaxPages: 1000, MaxUnpackedBytes: 64 << 20,
	}
}

func (l ExtractLimits) complete() ExtractLimits {
	d := DefaultExtractLimits()
	return ExtractLimits{
		MaxPixels: or(l.MaxPixels, d.MaxPixels), MaxWidth: or(l.MaxWidth, d.MaxWidth),
		MaxTextBytes: or(l.MaxTextBytes, d.MaxTextBytes), MaxPageTextBytes: or(l.MaxPageTextBytes, d.MaxPageTextBytes),
		MaxPages: or(l.MaxPages, d.MaxPages), MaxUnpackedBytes: or(l.MaxUnpackedBytes, d.MaxUnpackedBytes),
	}
}

func or[N int | int64](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}
