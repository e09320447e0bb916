package extract

// Limits bound what one call may take; a zero field means its default.
type Limits struct {
	Pixels    int64 `json:"pixels"`     // of a picture as it is stored; 80 million
	Width     int   `json:"width"`      // pixels of a picture that is made; 5,100
	TextBytes int64 `json:"text_bytes"` // of all text of a document; 32 MiB
	PageText  int64 `json:"page_text"`  // bytes of the text of a page; 1 MiB
	Pages     int   `json:"pages"`      // that are looked at; 1,000
	Unpacked  int64 `json:"unpacked"`   // bytes of one part of a zip, or of an OLE stream; 64 MiB
}

// DefaultLimits returns the defaults.
func DefaultLimits() Limits {
	return Limits{
		Pixels: 80_000_000, Width: 5100, TextBytes: 32 << 20,
		PageText: 1 << 20, Pages: 1000, Unpacked: 64 << 20,
	}
}

func (l Limits) complete() Limits {
	d := DefaultLimits()
	return Limits{
		Pixels: or(l.Pixels, d.Pixels), Width: or(l.Width, d.Width),
		TextBytes: or(l.TextBytes, d.TextBytes), PageText: or(l.PageText, d.PageText),
		Pages: or(l.Pages, d.Pages), Unpacked: or(l.Unpacked, d.Unpacked),
	}
}

func or[N int | int64](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}
