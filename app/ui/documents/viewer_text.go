package documents

import (
	"deedkeep/app/document/phrase"
	"errors"
	"net/http"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
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

// maxTextBytes is how much text one page of ours shows, in bytes; the rest is in the
// original.
const maxTextBytes = 2 << 20

var errTextLimit = errors.New("that is enough")

// documentTextPage is the page of a document's text, with what was looked for marked.
func (p *Pages) documentTextPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	s := viewerData{File: file, As: viewText}
	s.readFindParams(r)
	if err := p.loadPlace(r, &s); err != nil {
		return err
	}
	if err := p.loadText(r, who, &s); err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	p.recordView(r, who, id)
	return p.RenderPage(w, r, who, http.StatusOK, "document_text.html", page.Page{
		Heading: file.Filename, Section: s.Place.Section, Data: s, Styles: []string{"viewer.css"},
	})
}

// readFindParams takes what is looked for from the address.
func (s *viewerData) readFindParams(r *http.Request) {
	s.Find = page.Truncate(r.URL.Query().Get("find"), 400)
	s.Words = s.Find != "" && r.URL.Query().Get("words") != ""
	s.From = findReturnAddress(r)
}

// loadText reads a document's text, marked.
func (p *Pages) loadText(r *http.Request, who page.Visitor, s *viewerData) error {
	s.Page = max(queryInt(r, "page", 1), 1)
	ways := findVariants(s.Find, s.Words)
	for _, way := range ways {
		if err := p.highlightText(r, who, s, way); err != nil {
			return err
		}
		if s.Hits > 0 && way.matches(s.highlighted()) {
			return nil
		}
	}
	if s.Hits > 0 {
		return p.highlightText(r, who, s, findVariant{})
	}
	return nil
}

// highlighted are the places that are marked.
func (s *viewerData) highlighted() (texts []string) {
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

// highlightText reads a document's text with what a way looks for marked.
func (p *Pages) highlightText(r *http.Request, who page.Visitor, s *viewerData, by findVariant) error {
	s.Text, s.Cut = nil, false
	marks := func(int) bool { return true }
	if len(by.pageWords) > 1 {
		whole, err := p.pagesWithAll(r, who, s.File.ID, by.pageWords)
		if err != nil {
			return err
		}
		if led := queryInt(r, "page", 0); len(whole) > 0 && (led == 0 || whole[led]) {
			marks = func(n int) bool { return whole[n] }
		}
	}
	looks := highlighter{phrase: phrase.New(by.phrase)}
	table := page.IsSpreadsheet(s.File.MIME)
	cut, err := p.eachTextPage(r, who, s.File.ID, func(n int, text string) {
		m := &looks
		if !marks(n) {
			m = &highlighter{}
		}
		before := m.hits
		page := textPage{Page: n}
		if table {
			page.Rows = m.rows(text)
		} else {
			page.Parts = m.highlight(text)
		}
		page.Hits = m.hits - before
		s.Text = append(s.Text, page)
	})
	s.Hits, s.Cut = looks.hits, cut
	return err
}

// pagesWithAll are the pages that have all of several phrases.
func (p *Pages) pagesWithAll(r *http.Request, who page.Visitor, id uint64, each []string) (whole map[int]bool, err error) {
	whole = map[int]bool{}
	var phrases []phrase.Phrase
	for _, one := range each {
		phrases = append(phrases, phrase.New(one))
	}
	_, err = p.eachTextPage(r, who, id, func(n int, text string) {
		if phrase.ContainsAll([]rune(text), phrases) {
			whole[n] = true
		}
	})
	return whole, err
}

// eachTextPage reads as much of a document's text as a page of ours shows; cut says that it
// is not all.
func (p *Pages) eachTextPage(r *http.Request, who page.Visitor, id uint64, page func(n int, text string)) (cut bool, err error) {
	shown := 0
	err = p.Vault.Previews.Text(r.Context(), who.Actor, id, func(n int, text string) error {
		if shown += len(text); shown > maxTextBytes {
			cut = true
			return errTextLimit
		}
		page(n, text)
		return nil
	})
	if errors.Is(err, errTextLimit) {
		err = nil
	}
	return cut, err
}

// Plain reports text whose columns are made of blanks.
func (s viewerData) Plain() bool { return s.File.MIME == "text/plain" }

// Lacks says what of an Office document its text does not show; "" for all others.
func (s viewerData) Lacks() string {
	switch {
	case s.File.ShownAsImages(), s.Plain():
		return ""
	case page.IsSpreadsheet(s.File.MIME):
		return "Cells only: formatting, charts, and pictures are not shown. Download the original to see them."
	}
	return "Text only: layout and tables are not shown. Download the original to see them."
}
