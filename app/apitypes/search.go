package apitypes

import (
	"html"
	"strings"
)

// Hit is a record that a search found, an item of GET /search (API.md, "Ours"). Kind is
// abstract, order or file, ID that of its kind, Heading what people know it by. Snippet
// is HTML; nil where nothing of the record can be shown. Page is the page of a document
// that it stands on, from 1; nil where it stands on none. Abstract is what a document is
// filed with, nil for one in a folder and for other kinds. Match is exact where all of
// what was looked for is one of the record's numbers, words where it has every word,
// similar where it is a guess.
type Hit struct {
	Kind     string     `json:"kind"`
	ID       RecordID   `json:"id"`
	Heading  string     `json:"heading"`
	Snippet  *string    `json:"snippet"`
	Page     *int       `json:"page"`
	Abstract *FiledWith `json:"abstract"`
	Match    string     `json:"match"`
	Score    float64    `json:"score"`
}

// FiledWith is the abstract of a document: its id, and what people know it by.
type FiledWith struct {
	ID      string `json:"id"`
	Heading string `json:"heading"`
}

// Snippet gathers text and marks as HTML: every text is escaped, and the one element
// is mark.
type Snippet struct{ b strings.Builder }

// Add appends a text.
func (s *Snippet) Add(text string, marked bool) {
	text = html.EscapeString(text)
	if marked {
		text = "<mark>" + text + "</mark>"
	}
	s.b.WriteString(text)
}

// HTML is what was gathered; nil where there was nothing.
func (s *Snippet) HTML() *string {
	if s.b.Len() == 0 {
		return nil
	}
	text := s.b.String()
	return &text
}
