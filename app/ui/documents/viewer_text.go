package documents

import (
	"errors"
	"net/http"
	"unicode/utf8"

	"deedkeep/app/document/phrase"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
)

// textPage is the text of a page, sheet, or slide.
type textPage struct {
	Page  int
	Parts []textPart   // continuous text
	Rows  [][]textCell // rows of a spreadsheet, whose cells are separated by tabs
	Hits  int
}

// textCell is a cell of a spreadsheet. The last cell in a short row spans the remaining columns, as
// headings do in spreadsheets.
type textCell struct {
	Parts []textPart
	Span  int // number of columns
}

// Long reports whether the text is too long for one line in a narrow column.
func (c textCell) Long() bool {
	const line = 24 // characters
	n := 0
	for _, part := range c.Parts {
		n += utf8.RuneCountInString(part.Text)
	}
	return n > line
}

// textPart is a piece of text. If it is a match, Hit is its number, from 1.
type textPart struct {
	Text string
	Hit  int
}

// maxTextBytes is the maximum size of the text that the viewer shows. Longer text is truncated.
const maxTextBytes = 2 << 20

var errTextLimit = errors.New("that is enough")

// documentTextPage shows the text of a document with highlighted matches.
func (p *Pages) documentTextPage(r *page.Request) error {
	file, err := p.Vault.Files.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	s := viewerData{File: file, As: viewText}
	s.readFindParams(r)
	if err := p.loadPlace(r, &s); err != nil {
		return err
	}
	if err := p.loadText(r, &s); err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	p.recordView(r)
	return p.RenderPage(r, http.StatusOK, "document_text.html", page.Page{
		Heading: file.Filename, Section: s.Place.Section, Data: s, Styles: []string{"viewer.css"},
	})
}

// readFindParams reads the search parameters in the query.
func (s *viewerData) readFindParams(r *page.Request) {
	s.Find = page.Truncate(r.URL.Query().Get("find"), 400)
	s.Words = s.Find != "" && r.URL.Query().Get("words") != ""
	s.From = findReturnAddress(r)
}

// loadText loads the text of a document and highlights matches.
func (p *Pages) loadText(r *page.Request, s *viewerData) error {
	s.Page = max(queryInt(r, "page", 1), 1)
	variants := findVariants(s.Find, s.Words)
	for _, variant := range variants {
		if err := p.highlightText(r, s, variant); err != nil {
			return err
		}
		if s.Hits > 0 && variant.matches(s.highlighted()) {
			return nil
		}
	}
	if s.Hits > 0 {
		return p.highlightText(r, s, findVariant{})
	}
	return nil
}

// highlighted returns the texts that are highlighted.
func (s *viewerData) highlighted() (texts []string) {
	collect := func(parts []textPart) {
		for _, part := range parts {
			if part.Hit > 0 {
				texts = append(texts, part.Text)
			}
		}
	}
	for _, textPage := range s.Text {
		collect(textPage.Parts)
		for _, row := range textPage.Rows {
			for _, cell := range row {
				collect(cell.Parts)
			}
		}
	}
	return texts
}

// highlightText loads the text of a document and highlights the matches of one variant.
func (p *Pages) highlightText(r *page.Request, s *viewerData, by findVariant) error {
	s.Text, s.Cut = nil, false
	marks := func(int) bool { return true }
	if len(by.pageWords) > 1 {
		complete, err := p.pagesWithAll(r, s.File.ID, by.pageWords)
		if err != nil {
			return err
		}
		if linked := queryInt(r, "page", 0); len(complete) > 0 && (linked == 0 || complete[linked]) {
			marks = func(n int) bool { return complete[n] }
		}
	}
	looks := highlighter{phrase: phrase.New(by.phrase)}
	table := page.IsSpreadsheet(s.File.MIME)
	cut, err := p.eachTextPage(r, s.File.ID, func(n int, text string) {
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

// pagesWithAll returns the numbers of the pages that contain all phrases in each.
func (p *Pages) pagesWithAll(r *page.Request, id uint64, each []string) (complete map[int]bool, err error) {
	complete = map[int]bool{}
	var phrases []phrase.Phrase
	for _, word := range each {
		phrases = append(phrases, phrase.New(word))
	}
	_, err = p.eachTextPage(r, id, func(n int, text string) {
		if phrase.ContainsAll([]rune(text), phrases) {
			complete[n] = true
		}
	})
	return complete, err
}

// eachTextPage calls visit for each page of a document's text. If the text is longer than
// maxTextBytes, it stops and reports cut.
func (p *Pages) eachTextPage(r *page.Request, id uint64, visit func(n int, text string)) (cut bool, err error) {
	shown := 0
	err = p.Vault.Previews.Text(r.Context(), r.Actor, id, func(n int, text string) error {
		if shown += len(text); shown > maxTextBytes {
			cut = true
			return errTextLimit
		}
		visit(n, text)
		return nil
	})
	if errors.Is(err, errTextLimit) {
		err = nil
	}
	return cut, err
}

// Plain reports whether the document is plain text, in which columns may be aligned with spaces.
func (s viewerData) Plain() bool { return s.File.MIME == "text/plain" }

// Lacks says what the displayed text of an Office document omits. It returns "" for other
// documents.
func (s viewerData) Lacks() string {
	switch {
	case s.File.ShownAsImages(), s.Plain():
		return ""
	case page.IsSpreadsheet(s.File.MIME):
		return "Cells only: formatting, charts, and pictures are not shown. Download the original to see them."
	}
	return "Text only: layout and tables are not shown. Download the original to see them."
}
