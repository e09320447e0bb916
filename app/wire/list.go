package wire

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

// Meta tells how many records a page has at most, and the cursors of its links.
type Meta struct {
	PerPage    int     `json:"per_page"`
	NextCursor *string `json:"next_cursor"`
	PrevCursor *string `json:"prev_cursor"`
}
