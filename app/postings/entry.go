package postings

// A document is what the caller says it is: a key, a group, a date, and terms, which
// are opaque bytes here. What they mean is the caller's.

// Most bytes of a term, and most groups.
const (
	MostTerm = 64
	Groups   = 8
)

// NoDate is the date of a document that has none; no range holds it.
const NoDate int32 = -1 << 31
