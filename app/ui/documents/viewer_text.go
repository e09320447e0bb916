package documents

import (
	"errors"
	"net/http"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/search/query"
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

var errTextLimit = errors.New("text limit reached")

// documentTextPage shows the text of a document with highlighted matches.
func (p *Pages) documentTextPage(r *page.Request) error {
	s, err := p.viewerOf(r, false)
	if err != nil {
		return err
	}
	s.As = viewText
	s.readFindParams(r)
	if err := p.loadText(r, s); err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	p.recordView(r)
	return p.RenderPage(r, http.StatusOK, "document-text.html", page.Page{
		Heading: s.File.Filename, Section: s.Place.Section, Data: s, Styles: []string{"viewer.css"},
	})
}

// readFindParams reads the search parameters in the query.
func (v *viewerData) readFindParams(r *page.Request) {
	v.Find = page.Truncate(r.URL.Query().Get("find"), 400)
	v.Words = v.Find != "" && r.URL.Query().Get("words") != ""
	v.From = findReturnAddress(r)
}

// loadText loads the text of a document and highlights matches.
func (p *Pages) loadText(r *page.Request, s *viewerData) error {
	s.Page = max(queryInt(r, "page", 1), 1)
	if s.Find == "" {
		return p.highlightText(r, s, nil, false)
	}
	for _, words := range findModes(s.Find, s.Words) {
		finder := query.NewFinder(s.Find, words)
		if err := p.highlightText(r, s, finder, words); err != nil {
			return err
		}
		// A search also finds documents by other spellings, so a text from a search need not have all words.
		if s.Hits > 0 && (s.Words || finder.HasAll(s.matched)) {
			return nil
		}
	}
	if s.Hits > 0 {
		return p.highlightText(r, s, nil, false)
	}
	return nil
}

// highlightText loads the text of a document and highlights the matches of finder. If words is set,
// it prefers pages that contain all words.
func (p *Pages) highlightText(r *page.Request, s *viewerData, finder *query.Finder, words bool) error {
	s.Text, s.Cut = nil, false
	shown := func(int) bool { return true }
	if words {
		complete, err := p.pagesWithAll(r, s.File.ID, finder)
		if err != nil {
			return err
		}
		if linked := queryInt(r, "page", 0); len(complete) > 0 && (linked == 0 || complete[linked]) {
			shown = func(n int) bool { return complete[n] }
		}
	}
	looks := highlighter{finder: finder}
	table := s.File.IsSpreadsheet()
	cut, err := p.eachTextPage(r, s.File.ID, func(n int, text string) {
		m := &looks
		if !shown(n) {
			m = &highlighter{}
		}
		before := m.hits
		page := textPage{Page: n}
		if table {
			page.Rows = m.rows(r.Context(), text)
		} else {
			page.Parts = m.highlight(r.Context(), text)
		}
		page.Hits = m.hits - before
		s.Text = append(s.Text, page)
	})
	s.Hits, s.matched, s.Cut = looks.hits, looks.matched, cut
	return err
}

// pagesWithAll returns the numbers of the pages that contain all words.
func (p *Pages) pagesWithAll(r *page.Request, id uint64, finder *query.Finder) (complete map[int]bool, err error) {
	complete = map[int]bool{}
	_, err = p.eachTextPage(r, id, func(n int, text string) {
		if _, matched := finder.Find(r.Context(), text, 1); finder.HasAll(matched) {
			complete[n] = true
		}
	})
	return complete, err
}

// eachTextPage calls visit for each page of a document's text. If the text is longer than
// maxTextBytes, it stops and reports cut.
func (p *Pages) eachTextPage(r *page.Request, id uint64, visit func(n int, text string)) (cut bool, err error) {
	shown := 0
	err = p.App.Previews.Text(r.Context(), r.Actor, id, func(n int, text string) error {
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
func (v viewerData) Plain() bool { return v.File.MIME == "text/plain" }

// Lacks says what the displayed text of an Office document omits. It returns "" for other
// documents.
func (v viewerData) Lacks() string {
	switch {
	case v.File.ShownAsImages(), v.Plain():
		return ""
	case v.File.IsSpreadsheet():
		return "Cells only: formatting, charts, and pictures are not shown. Download the original to see them."
	}
	return "Text only: layout and tables are not shown. Download the original to see them."
}

// pageText sends the text of one page to the viewer's script, which shows it beside the page image so
// that users can select and copy text.
func (p *Pages) pageText(r *page.Request) error {
	file, n, err := p.readPage(r)
	if err != nil {
		return err
	}
	p.App.Events.ContinueView(r.Actor, fileOpened, model.RecordRef("file", file.ID))
	found := ""
	err = p.App.Previews.Text(r.Context(), r.Actor, file.ID, func(at int, text string) error {
		if at == n {
			found = text
		}
		if at >= n {
			return errTextLimit
		}
		return nil
	})
	if err != nil && !errors.Is(err, errTextLimit) && errs.KindOf(err) != errs.NotFound {
		return err
	}
	return r.SendJSON(http.StatusOK, map[string]string{"text": page.Truncate(found, maxTextBytes)})
}

// wordJSON is a word on a page in the format that the viewer's script reads: its text, and its left,
// top, right, and bottom in 1/ocr.Scale of the page's width or height. Breaks is the number of line
// feeds after the word.
type wordJSON struct {
	Text   string `json:"text"`
	Box    [4]int `json:"box"`
	Breaks int    `json:"breaks,omitempty"`
}

// pageWords sends the words of a page to the viewer's script, which lays them over the page image so
// that users can select and copy them.
func (p *Pages) pageWords(r *page.Request) error {
	file, n, err := p.readPage(r)
	if err != nil {
		return err
	}
	p.App.Events.ContinueView(r.Actor, fileOpened, model.RecordRef("file", file.ID))
	found, err := p.App.Previews.Words(r.Context(), r.Actor, file.ID, n)
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	list := make([]wordJSON, 0, len(found.Words))
	for i, w := range found.Words {
		word := wordJSON{Text: w.Text, Box: [4]int{w.Box.Left, w.Box.Top, w.Box.Right, w.Box.Bottom}}
		if i+1 < len(found.Words) {
			switch next := found.Words[i+1]; {
			case next.Paragraph != w.Paragraph:
				word.Breaks = 2
			case next.Line != w.Line:
				word.Breaks = 1
			}
		}
		list = append(list, word)
	}
	return r.SendJSON(http.StatusOK, map[string]any{"words": list, "scale": ocr.Scale, "rotation": found.Rotation})
}
