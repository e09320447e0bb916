package apitypes

import (
	"html"
	"strings"
)

// Hit is an item of GET /search. Kind is abstract, order, file, or instrument, and ID is an ID of that type. Heading is
// a title to show. Snippet is HTML, nil if there is nothing to show. Page is the page of a document on which the match
// is, from 1, or nil. Abstract is the abstract of a document or an instrument, nil for documents in folders and for
// other types. Match is "exact" if the query is one of the record's numbers, "words" if the record has every word,
// "similar" for approximate matches. Only instruments have AbstractID, the ID of Abstract.
type Hit struct {
	Kind       string       `json:"kind"`
	ID         RecordID     `json:"id"`
	Heading    string       `json:"heading"`
	Snippet    *string      `json:"snippet"`
	Page       *int         `json:"page"`
	Abstract   *HitAbstract `json:"abstract"`
	Match      string       `json:"match"`
	Score      float64      `json:"score"`
	AbstractID string       `json:"abstract_id,omitempty"`
}

// HitAbstract is the abstract of a document or an instrument that a search found.
type HitAbstract struct {
	ID      string `json:"id"`
	Heading string `json:"heading"`
}

// Snippet builds HTML from text with marks. All text is escaped; the only element is mark.
type Snippet struct{ b strings.Builder }

// Add appends text, inside a mark element if marked.
func (s *Snippet) Add(text string, marked bool) {
	text = html.EscapeString(text)
	if marked {
		text = "<mark>" + text + "</mark>"
	}
	s.b.WriteString(text)
}

// HTML returns the snippet, nil if it is empty.
func (s *Snippet) HTML() *string {
	if s.b.Len() == 0 {
		return nil
	}
	text := s.b.String()
	return &text
}

// SearchIndex is the state of the search index. Ready says that searches work. Building says that an index is being
// built, possibly while an older one still serves; Done of Total records are in it, nil otherwise. The serving index
// has Records in Segments files of together Bytes; Behind counts changes that it doesn't include yet. Texts counts
// documents whose text must be extracted again, MissingTexts those of them that searches can't find by their text. Since is
// when this state began, nil while no server runs. Error is the reason why indexing has stopped, nil if it works.
type SearchIndex struct {
	Ready        bool    `json:"ready"`
	Building     bool    `json:"building"`
	Done         *int64  `json:"done"`
	Total        *int64  `json:"total"`
	Records      int64   `json:"records"`
	Bytes        int64   `json:"bytes"`
	Segments     int64   `json:"segments"`
	Behind       int64   `json:"behind"`
	Texts        int64   `json:"texts,omitempty"`
	MissingTexts int64   `json:"missing_texts,omitempty"`
	Since        *Time   `json:"since"`
	Error        *string `json:"error"`
}
