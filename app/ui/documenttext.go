package ui

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/document/phrase"
	"deedkeep/app/errs"
)

// textPage is the text of one page, sheet or slide.
type textPage struct {
	Page  int
	Parts []textPart   // running text
	Rows  [][]textCell // of a sheet, whose cells tabs part
	Hits  int
}

// textCell is one of a sheet. What is last in a row of a few goes on over the columns
// behind it, as a heading does in a spreadsheet.
type textCell struct {
	Parts []textPart
	Span  int // columns
}

// Long reports more than a line of a narrow column.
func (c textCell) Long() bool {
	const line = 24 // characters
	n := 0
	for _, part := range c.Parts {
		n += utf8.RuneCountInString(part.Text)
	}
	return n > line
}

// textPart is a piece of text; Hit counts from 1 where it is what was looked for.
type textPart struct {
	Text string
	Hit  int
}

// mostShown is how much text one page of ours shows, in bytes; the rest is in the
// original.
const mostShown = 2 << 20

var errEnough = errors.New("that is enough")

// readText is the page of a document's text, with what was looked for marked.
func (p *pages) readText(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	s := documentSheet{File: file, As: asText}
	s.looksFor(r)
	if err := p.among(r, &s); err != nil {
		return err
	}
	if err := p.text(r, who, &s); err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	p.opened(r, who, id)
	return p.show(w, r, who, http.StatusOK, "document_text.html", page{
		Heading: file.Filename, Section: s.Place.Section, Data: s, Styles: []string{"viewer.css"},
	})
}

// looksFor takes what is looked for from the address.
func (s *documentSheet) looksFor(r *http.Request) {
	s.Find = shorten(r.URL.Query().Get("find"), 400)
	s.Words = s.Find != "" && r.URL.Query().Get("words") != ""
	s.From = foundFrom(r)
}

// way is a phrase that a text is looked for by, and what must be there for it to count.
type way struct {
	phrase string
	all    []string
	each   []string // what a page has all of where any page has
}

// waysTo are the ways to a text, one after another until one leads somewhere: as it was
// typed, then its words, if all of them are there. What a search led to was found by
// its words.
func waysTo(text string, words bool) []way {
	each := phrase.Split(text)
	apart := way{phrase: strings.Join(each, " "), all: each, each: each}
	switch {
	case len(each) == 0:
		return []way{{phrase: text}}
	case words:
		apart.all = nil // the search knows more spellings
		return []way{apart}
	}
	return []way{{phrase: text}, apart}
}

// found reports whether everything is there that must be.
func (w way) found(there []string) bool {
	for _, one := range w.all {
		phrase := phrase.New(one)
		if !slices.ContainsFunc(there, func(text string) bool { return len(phrase.Find([]rune(text), 1)) > 0 }) {
			return false
		}
	}
	return true
}

// text reads a document's text, marked.
func (p *pages) text(r *http.Request, who visitor, s *documentSheet) error {
	s.Page = max(asked(r, "page", 1), 1)
	ways := waysTo(s.Find, s.Words)
	for _, way := range ways {
		if err := p.marked(r, who, s, way); err != nil {
			return err
		}
		if s.Hits > 0 && way.found(s.marked()) {
			return nil
		}
	}
	if s.Hits > 0 {
		return p.marked(r, who, s, way{})
	}
	return nil
}

// marked are the places that are marked.
func (s *documentSheet) marked() (texts []string) {
	take := func(parts []textPart) {
		for _, part := range parts {
			if part.Hit > 0 {
				texts = append(texts, part.Text)
			}
		}
	}
	for _, page := range s.Text {
		take(page.Parts)
		for _, row := range page.Rows {
			for _, cell := range row {
				take(cell.Parts)
			}
		}
	}
	return texts
}

// marked reads a document's text with what a way looks for marked.
func (p *pages) marked(r *http.Request, who visitor, s *documentSheet, by way) error {
	s.Text, s.Cut = nil, false
	marks := func(int) bool { return true }
	if len(by.each) > 1 {
		whole, err := p.wholePages(r, who, s.File.ID, by.each)
		if err != nil {
			return err
		}
		if led := asked(r, "page", 0); len(whole) > 0 && (led == 0 || whole[led]) {
			marks = func(n int) bool { return whole[n] }
		}
	}
	looks := marker{phrase: phrase.New(by.phrase)}
	table := isTable(s.File.MIME)
	cut, err := p.shownText(r, who, s.File.ID, func(n int, text string) {
		m := &looks
		if !marks(n) {
			m = &marker{}
		}
		before := m.hits
		page := textPage{Page: n}
		if table {
			page.Rows = m.rows(text)
		} else {
			page.Parts = m.mark(text)
		}
		page.Hits = m.hits - before
		s.Text = append(s.Text, page)
	})
	s.Hits, s.Cut = looks.hits, cut
	return err
}

// wholePages are the pages that have all of several phrases.
func (p *pages) wholePages(r *http.Request, who visitor, id uint64, each []string) (whole map[int]bool, err error) {
	whole = map[int]bool{}
	var phrases []phrase.Phrase
	for _, one := range each {
		phrases = append(phrases, phrase.New(one))
	}
	_, err = p.shownText(r, who, id, func(n int, text string) {
		if phrase.ContainsAll([]rune(text), phrases) {
			whole[n] = true
		}
	})
	return whole, err
}

// shownText reads as much of a document's text as a page of ours shows; cut says that it
// is not all.
func (p *pages) shownText(r *http.Request, who visitor, id uint64, page func(n int, text string)) (cut bool, err error) {
	shown := 0
	err = p.Vault.Files.Text(r.Context(), who.Actor, id, func(n int, text string) error {
		if shown += len(text); shown > mostShown {
			cut = true
			return errEnough
		}
		page(n, text)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return cut, err
}

// Plain reports text whose columns are made of blanks.
func (s documentSheet) Plain() bool { return s.File.MIME == "text/plain" }

// Lacks says what of an Office document its text does not show; "" for all others.
func (s documentSheet) Lacks() string {
	switch {
	case s.File.ShownAsImages(), s.Plain():
		return ""
	case isTable(s.File.MIME):
		return "Cells only: formatting, charts, and pictures are not shown. Download the original to see them."
	}
	return "Text only: layout and tables are not shown. Download the original to see them."
}

// isTable reports a kind of documents whose text is rows of cells.
func isTable(mime string) bool {
	return strings.Contains(mime, "excel") || strings.Contains(mime, "spreadsheet")
}

// marker counts what it finds on the way.
type marker struct {
	phrase phrase.Phrase
	hits   int
}

// mostMarked is how many places are marked.
const mostMarked = 1000

func (m *marker) mark(text string) []textPart {
	if m.phrase.Empty() || m.hits >= mostMarked {
		return []textPart{{Text: text}}
	}
	runes, last := []rune(text), 0
	var parts []textPart
	for _, s := range m.phrase.Find(runes, mostMarked-m.hits) {
		if s.Start > last {
			parts = append(parts, textPart{Text: string(runes[last:s.Start])})
		}
		m.hits++
		parts = append(parts, textPart{Text: string(runes[s.Start:s.End]), Hit: m.hits})
		last = s.End
	}
	if last < len(runes) {
		parts = append(parts, textPart{Text: string(runes[last:])})
	}
	return parts
}

// rows makes a table of lines; a phrase is found within a cell.
func (m *marker) rows(text string) [][]textCell {
	const most = 1000 // columns that HTML lets a cell span
	var rows [][]textCell
	columns := 0
	for line := range strings.Lines(text) {
		var row []textCell
		for cell := range strings.SplitSeq(strings.TrimRight(line, "\n"), "\t") {
			row = append(row, textCell{Parts: m.mark(cell), Span: 1})
		}
		rows, columns = append(rows, row), max(columns, len(row))
	}
	for i, row := range rows {
		if missing := columns - len(row); 2*missing > columns {
			row[len(row)-1].Span = min(missing+1, most)
		} else {
			rows[i] = append(row, make([]textCell, missing)...)
		}
	}
	return rows
}
