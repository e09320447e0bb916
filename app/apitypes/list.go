package apitypes

// Page answers every list (API.md, "Ours"): at most per_page records, and the way
// to the pages beside it. A page may be short, or empty, and have a next one.
type Page[T any] struct {
	Data  List[T] `json:"data"`
	Links Links   `json:"links"`
	Meta  Meta    `json:"meta"`
}

// Links are the addresses of the pages beside a page; nil: there is none that way.
type Links struct {
	Next *string `json:"next"`
	Prev *string `json:"prev"`
}

// Meta tells how many records a page has at most, the cursors of its links, and how the
// index was that a search looked in: nil for a list that is no search, which has no such
// member.
type Meta struct {
	PerPage    int     `json:"per_page"`
	NextCursor *string `json:"next_cursor"`
	PrevCursor *string `json:"prev_cursor"`
	Index      *Index  `json:"index,omitempty"`
}

// Index tells whether a search may lack something: changes that the index does not know
// of yet (Behind), or the words of documents whose text is to be made again (Texts).
type Index struct {
	Complete bool   `json:"complete"`
	Behind   uint64 `json:"behind"`
	Texts    uint64 `json:"texts"`
}
