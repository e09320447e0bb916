package records

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// findResults contains the results of a search, best match first.
type findResults struct {
	Text        string // search text; "" if there is no search
	Short       bool   // the search text is too short
	Rows        []resultRow
	More        bool // there are more results
	Counts      map[string]int
	Counted     bool               // Counts are known
	About       bool               // Counts are approximate because the search index is not up to date
	Late        string             // says which recent changes the search doesn't find yet; "" if the delay is too short to mention
	Fuzzy       bool               // some rows match only in a different spelling
	Loose       string             // says which part of the search text some rows don't match; "" if all rows match it completely
	returnTo    string             // search page address that documents link back to; "" if there is none
	exactMarker *query.Highlighter // highlights exact matches only
	marker      *query.Highlighter
	Partial     string // says why only numbers and addresses were searched; "" if everything was searched
	Making      bool   // the search index is being built, so the page polls
}

// resultRow is a result with its matches highlighted.
type resultRow struct {
	search.Hit
	Number  int // position on this page, from 1
	Path    string
	Name    []query.Piece
	Below   []query.Piece
	Snippet []search.SnippetPiece // nil if Name and Below already show the match
}

// Icon returns the name of the record type's icon.
func (r resultRow) Icon() string { return page.RecordLabel(r.Kind) }

// KindName returns the display name of the record type.
func (r resultRow) KindName() string { return page.UpperFirst(page.RecordLabel(r.Kind)) }

// Paged reports whether to show the page number of the match. Documents that are displayed as text
// usually have only one page.
func (r resultRow) Paged() bool {
	return r.Page > 1 || r.Page == 1 && (r.File == nil || r.File.ShownAsImages())
}

// runFind runs a search. If there are problems with the query, it adds them to problems. If the
// search index is unavailable, it searches only by number and address and sets Partial to say so.
// from is the search page address that documents link back to.
func (p *Pages) runFind(r *page.Request, q search.Query, from string, problems map[string]string) (f findResults, err error) {
	ctx := r.Context()
	f.returnTo = from
	if f.Text = strings.TrimSpace(q.Text); f.Text == "" || len(problems) > 0 {
		return f, nil
	}
	if f.Short = page.TooShortToSearch(f.Text); f.Short {
		return f, nil
	}
	f.exactMarker = query.NewHighlighter(q.Text)
	f.marker = f.exactMarker
	state := p.SearchIndexStatus(ctx) // before the search, so that results of an outdated index don't look complete
	found, err := p.App.Search.Records(ctx, r.Actor, q)
	switch errs.KindOf(err) {
	case errs.Invalid:
		problems["q"] = page.ErrorSentence(err)
		return f, nil
	case errs.Unavailable:
		f.Partial = page.ErrorSentence(err)
		now := p.SearchIndexStatus(ctx)
		f.Making = !now.Ready
		if missing := now.Missing(); missing != "" {
			f.Partial = missing
		}
		err = p.findByNumber(ctx, q, &f)
		return f, err
	}
	if err != nil {
		return f, err
	}
	f.More, f.Counts, f.Counted = found.Next > 0, found.Counts, true
	f.About, f.Late = !state.Complete(), state.Late()
	if found.Fuzzy {
		f.marker = f.exactMarker.Fuzzy()
	}
	for _, hit := range found.Items {
		f.add(p, hit)
	}
	f.Fuzzy = found.Fuzzy && len(f.Rows) > 0
	if found.Relaxed && len(f.Rows) > 0 {
		f.Loose = looseNotice(q.Text)
	}
	return f, nil
}

// findByNumber finds records whose number or address starts with the search text.
func (p *Pages) findByNumber(ctx context.Context, q search.Query, f *findResults) error {
	if q.Offset > 0 || q.Template != 0 || q.County != "" || q.State != "" || !q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero() {
		return nil // search by number doesn't support these filters
	}
	known, err := p.App.Search.Find(ctx, q.Text, vault.MaxFound)
	for _, group := range known {
		if q.Kind != "" && q.Kind != group.Kind {
			continue
		}
		for _, h := range group.Hits {
			f.add(p, h)
		}
	}
	return err
}

func (f *findResults) add(p *Pages, hit search.Hit) {
	row := resultRow{Hit: hit, Number: len(f.Rows) + 1}
	row.Name, row.Below = f.marker.Highlight(hit.Heading), f.marker.Highlight(hit.Subheading)
	if hit.Page > 0 || !alreadyShown(hit.Snippet, row.Name, row.Below) {
		row.Snippet = singleLine(hit)
	}
	if row.Path = p.HitPath(hit); hit.Kind == "file" {
		row.Path = f.documentAddress(hit)
	}
	f.Rows = append(f.Rows, row)
}

// alreadyShown reports whether the highlighted text of a snippet is also highlighted in one of the
// lines.
func alreadyShown(snippet []search.SnippetPiece, lines ...[]query.Piece) bool {
	var shown strings.Builder
	for _, line := range lines {
		for _, part := range line {
			if part.Marked {
				shown.WriteString(" " + model.NormalizeNumber(part.Text) + " " + part.Text)
			}
		}
	}
	for _, piece := range snippet {
		if piece.Marked && !strings.Contains(shown.String(), cmp.Or(model.NormalizeNumber(piece.Text), piece.Text)) { // symbols have none
			return false
		}
	}
	return true
}

// documentAddress returns the viewer address of a hit, with the page of the match and the text to
// highlight.
func (f *findResults) documentAddress(hit search.Hit) string {
	values := url.Values{}
	if f.returnTo != "" {
		values.Set("from", f.returnTo)
	}
	if hit.Page == 0 {
		return page.WithQuery(page.DocumentPath(hit.ID), values)
	}
	n := strconv.Itoa(hit.Page)
	values.Set("page", n)
	values.Set("find", f.spellingInDocument(hit))
	values.Set("words", "1")
	to := page.WithQuery(page.DocumentPath(hit.ID), values)
	if hit.File != nil && !hit.File.ShownAsImages() { // the viewer shows the complete text on one page
		to += "#p" + n
	}
	return to
}

// spellingInDocument returns the text to highlight in the document. If the snippet contains a
// misspelled word, it returns the highlighted words of the snippet, otherwise the search text.
func (f *findResults) spellingInDocument(hit search.Hit) string {
	var there []string
	other := false
	for _, piece := range hit.Snippet {
		if !piece.Marked || f.marker == f.exactMarker {
			continue
		}
		other = other || !isMarked(f.exactMarker.Highlight(piece.Text))
		words := strings.Join(strings.Fields(strings.ReplaceAll(piece.Text, `"`, "")), " ")
		if strings.Contains(words, " ") {
			words = `"` + words + `"`
		}
		if !slices.Contains(there, words) {
			there = append(there, words)
		}
	}
	if !other {
		return f.Text
	}
	return strings.Join(there, " ")
}

// Nothing returns the sentence for a search without results. The period is omitted.
func (f findResults) Nothing() string {
	switch {
	case f.Partial == "":
		return "No results"
	case strings.ContainsFunc(f.Text, unicode.IsDigit):
		return "No matching number or address"
	}
	return "Names and words aren't searchable yet"
}

// Several reports whether the search text has more than one word.
func (f findResults) Several() bool { return len(strings.Fields(f.Text)) > 1 }

// Tally returns the number of results of each type, or "" if the counts are unknown.
func (f findResults) Tally() string {
	var list []string
	for _, kind := range []string{"abstract", "order", "file", query.Instrument} {
		if n, label := f.Counts[kind], page.RecordLabel(kind); n > 0 {
			list = append(list, page.Plural(n, label, label+"s"))
		}
	}
	if f.About && len(list) > 0 {
		list[0] = "about " + list[0]
	}
	return strings.Join(list, ", ")
}

// findBoxRows is the number of results shown below the search box.
const findBoxRows = 12

// findBox renders the results that are shown below the search box while the user types.
func (p *Pages) findBox(r *page.Request) error {
	text := search.TrimText(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))
	if !r.IsPart() {
		return r.Redirect(page.WithQuery("/find", url.Values{"q": {text}}))
	}
	problems := map[string]string{}
	f, err := p.runFind(r, search.Query{Text: text, Limit: findBoxRows}, "", problems)
	if err != nil {
		return err
	}
	known, err := p.App.Search.Find(r.Context(), text, vault.MaxFound)
	if err != nil {
		return err
	}
	only, leads := known.SingleExact()
	return p.RenderPart(r, http.StatusOK, "find.html", "find-box", map[string]any{
		"Found": f, "Problem": problems["q"], "All": page.WithQuery("/find", url.Values{"q": {text}, "all": {"1"}}),
		"Leads": leads && only.Field != "address", // Enter, which requests /find, would redirect to the record
	})
}

// recentRow is a record that the visitor opened.
type recentRow struct{ Heading, Label, Path string }

// Name returns what the record is called, such as Order.
func (r recentRow) Name() string { return page.UpperFirst(r.Label) }

// findRecent shows the records that the visitor opened last, except the one on the screen, for the search box without a
// text. Those that aren't there any longer are left out.
func (p *Pages) findRecent(r *page.Request) error {
	if !r.IsPart() {
		return r.Redirect("/find")
	}
	here, err := url.Parse(p.CurrentAddress(r))
	if err != nil {
		return err
	}
	var rows []recentRow
	for _, record := range p.Recent(r.Visitor) {
		row := recentRow{"", page.RecordLabel(record.Type), p.RecordPath(record.Type, record.ID)}
		switch record.Type {
		case vault.AbstractOps.Name:
			_, row.Heading, err = p.App.Abstracts.WithHeading(r.Context(), record.ID)
		case vault.OrderOps.Name:
			var order model.Order
			order, err = p.App.Orders.Get(r.Context(), record.ID)
			row.Heading = order.Number
		case vault.FileOps.Name:
			var file model.File
			file, err = p.App.Files.Get(r.Context(), record.ID)
			row.Heading = file.Filename
		}
		switch {
		case errs.KindOf(err) == errs.NotFound:
		case err != nil:
			return err
		case row.Path != here.Path:
			rows = append(rows, row)
		}
	}
	return p.RenderPart(r, http.StatusOK, "find.html", "find-recent", rows)
}

// Patterns for line breaks, paragraph breaks, and cell separators.
var (
	lineBreak      = regexp.MustCompile(`[ \t\r]*[\n\f\v]\s*`)
	paragraphBreak = regexp.MustCompile(`[ \t\r]*\n[ \t\r]*\n\s*|[ \t\r]*[\f\v]\s*`)
	cellBreak      = regexp.MustCompile(` *\t[ \t]*`)
)

// singleLine returns the snippet of a hit in one line and makes its breaks visible. Otherwise adjacent names
// of a list would look like one name. In most document types, line breaks depend only on the paper
// width, so only paragraph breaks are shown.
func singleLine(hit search.Hit) []search.SnippetPiece {
	at, cells := lineBreak, false
	if hit.File != nil {
		cells = hit.File.IsSpreadsheet()
		if !cells && !strings.Contains(hit.File.MIME, "word") {
			at = paragraphBreak
		}
	}
	shown := slices.Clone(hit.Snippet)
	for i := range shown {
		text := at.ReplaceAllString(shown[i].Text, " / ")
		if cells {
			text = cellBreak.ReplaceAllString(text, search.SnippetSeparator)
		}
		shown[i].Text = text
	}
	return shown
}

// isMarked reports whether a part of a line is highlighted.
func isMarked(line []query.Piece) bool {
	return slices.ContainsFunc(line, func(piece query.Piece) bool { return piece.Marked })
}

// looseNotice returns a sentence that says which part of the search text is missing in the looser
// results.
func looseNotice(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) })
	quotes := 0
	for _, r := range text {
		if strings.ContainsRune(model.QuoteMarks, r) {
			quotes++
		}
	}
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	letter := isSingleLetter(last) && strings.HasSuffix(text, last)
	switch {
	case letter:
		return "Includes results without “" + last + "”. Keep typing to narrow the list."
	case quotes%2 == 1:
		return "Includes results with these words, but not as an exact phrase."
	}
	return "Includes results with the number but without the word before it."
}

// isSingleLetter reports whether word is a single character but not a digit.
func isSingleLetter(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return word != "" && size == len(word) && !unicode.IsDigit(r)
}
