package ui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"deedkeep/app/document/phrase"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/vault"
)

// found is what a text was found in, the best first.
type found struct {
	Text    string // "" where nothing is looked for
	Short   bool   // too little was typed
	Rows    []foundRow
	More    bool // there are more behind these
	Counts  map[string]int
	Counted bool               // Counts are known,
	About   bool               // but for what the index does not have yet
	Late    string             // what is not found yet; "" where nothing is to be said
	Fuzzy   bool               // some of Rows are there with a typing error allowed for
	Loose   string             // what some of Rows are there without, in a sentence; "" for nothing
	from    string             // the list that documents lead back to; "" for none
	strict  *query.Highlighter // marks nothing with a typing error
	marker  *query.Highlighter
	Partial string // why only numbers and addresses were looked at; "" where all was
	Making  bool   // for there is no whole index yet: to ask again will help
}

// foundRow is one record, with what was looked for marked.
type foundRow struct {
	vault.SearchHit
	Number   int // among those shown, from 1
	Path     string
	Name     []query.Piece
	Below    []query.Piece
	Snippet  []vault.SnippetPiece // nil where Name and Below show it already
	KindName string
}

// kindNames are what a record of a kind is called, and its icon is called as the kind
// but for documents.
var kindNames = map[string]string{"abstract": "Abstract", "order": "Order", "file": "Document"}

// Icon is the name of the drawing beside a record.
func (f foundRow) Icon() string {
	if f.Kind == "file" {
		return "document"
	}
	return f.Kind
}

// Paged reports whether the page that the snippet stands on says something: what is shown
// as one text mostly has just one.
func (f foundRow) Paged() bool {
	return f.Page > 1 || f.Page == 1 && (f.File == nil || f.File.ShownAsImages())
}

// found looks for a text. What is wrong with it is put under problems. While there is no
// index, or it takes too long, what is called by the number is shown, and that it is so.
// Documents lead back to the address from.
func (p *pages) found(ctx context.Context, who visitor, q vault.SearchQuery, from string, problems map[string]string) (f found, err error) {
	f.from = from
	if f.Text = strings.TrimSpace(q.Text); f.Text == "" || len(problems) > 0 {
		return f, nil
	}
	if f.Short = tooLittle(f.Text); f.Short {
		return f, nil
	}
	f.strict = query.NewHighlighter(q.Text)
	f.marker = f.strict
	state := p.searchIndex(ctx) // as it was when it answered, or worse
	answer, err := p.Search.Search(ctx, who.Actor, q)
	switch errs.KindOf(err) {
	case errs.Invalid:
		problems["q"] = sentenceOf(err)
		return f, nil
	case errs.Unavailable:
		f.Partial = sentenceOf(err)
		now := p.searchIndex(ctx)
		f.Making = !now.Ready
		if missing := now.Missing(); missing != "" {
			f.Partial = missing
		}
		err = p.byNumber(ctx, q, &f)
		return f, err
	}
	if err != nil {
		return f, err
	}
	f.More, f.Counts, f.Counted = answer.More, answer.Counts, true
	f.About, f.Late = !state.Complete(), state.Late()
	if answer.Fuzzy {
		f.marker = f.strict.Fuzzy()
	}
	for _, hit := range answer.Hits {
		f.add(p, hit)
	}
	if answer.Loose && len(f.Rows) > 0 {
		f.Loose = without(q.Text)
	}
	return f, nil
}

// byNumber finds what is called by the text or begins with it, of the kind asked for.
func (p *pages) byNumber(ctx context.Context, q vault.SearchQuery, f *found) error {
	if q.Offset > 0 || q.Template != 0 || q.County != "" || q.State != "" || !q.Since.IsZero() || !q.Until.IsZero() {
		return nil // of these nothing is known by the number
	}
	known, err := p.Vault.Find(ctx, q.Text, vault.MostFound)
	for _, group := range known.Groups {
		if q.Kind != "" && q.Kind != group.Noun {
			continue
		}
		for _, h := range group.Hits {
			f.add(p, h.Found())
		}
	}
	return err
}

func (f *found) add(p *pages, hit vault.SearchHit) {
	row := foundRow{SearchHit: hit, Number: len(f.Rows) + 1, KindName: kindNames[hit.Kind]}
	row.Name, row.Below = f.marker.Highlight(hit.Heading), f.marker.Highlight(hit.Under)
	if hit.Page > 0 || !said(hit.Snippet, row.Name, row.Below) {
		row.Snippet = broken(hit, telling(hit))
	}
	f.Fuzzy = f.Fuzzy || f.marker != f.strict && f.erring(row)
	switch hit.Kind {
	case "order":
		row.Path = p.orderPath(hit.ID)
	case "abstract":
		row.Path = p.abstractPath(hit.ID)
	default:
		row.Path = f.reading(hit)
	}
	f.Rows = append(f.Rows, row)
}

// said reports whether everything that is marked in a snippet is marked in one of the
// lines too.
func said(snippet []vault.SnippetPiece, lines ...[]query.Piece) bool {
	var shown strings.Builder
	for _, line := range lines {
		for _, part := range line {
			if part.Marked {
				shown.WriteString(" " + model.NormalizeNumber(part.Text) + " " + part.Text)
			}
		}
	}
	for _, piece := range snippet {
		if piece.Marked && !strings.Contains(shown.String(), cmp.Or(model.NormalizeNumber(piece.Text), piece.Text)) { // a sign has no letters
			return false
		}
	}
	return true
}

// reading is the page of a document that has what was looked for, marked there.
func (f *found) reading(hit vault.SearchHit) string {
	query := url.Values{}
	if f.from != "" {
		query.Set("from", f.from)
	}
	if hit.Page == 0 {
		return address(documentPath(hit.ID), query)
	}
	n := strconv.Itoa(hit.Page)
	query.Set("page", n)
	query.Set("find", f.standing(hit))
	query.Set("words", "1")
	to := address(documentPath(hit.ID), query)
	if hit.File != nil && !hit.File.ShownAsImages() { // all of its text is on one page of ours
		to += "#p" + n
	}
	return to
}

// standing is what was looked for as it stands in a document: another spelling of it,
// where the snippet shows one.
func (f *found) standing(hit vault.SearchHit) string {
	typed := phrase.New(strings.Join(phrase.Split(f.Text), " "))
	var there []string
	other := false
	for _, piece := range hit.Snippet {
		if !piece.Marked {
			continue
		}
		other = other || len(typed.Find([]rune(piece.Text), 1)) == 0
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

// Nothing is the sentence for no Rows, without its full stop.
func (f found) Nothing() string {
	switch {
	case f.Partial == "":
		return "Nothing was found"
	case strings.ContainsFunc(f.Text, unicode.IsDigit):
		return "No number or address begins so"
	}
	return "Names and words cannot be found yet"
}

// Several reports whether more than one word is looked for.
func (f found) Several() bool { return len(strings.Fields(f.Text)) > 1 }

// Tally is how many records of each kind there are, in words; "" where nobody counted.
func (f found) Tally() string {
	var list []string
	for _, kind := range []struct{ name, one, many string }{{"abstract", "abstract", "abstracts"}, {"order", "order", "orders"}, {"file", "document", "documents"}} {
		if n := f.Counts[kind.name]; n > 0 {
			list = append(list, plural(n, kind.one, kind.many))
		}
	}
	if f.About && len(list) > 0 {
		list[0] = "about " + list[0]
	}
	return strings.Join(list, ", ")
}

// boxRows is how many records the find box offers.
const boxRows = 12

// findBox is the part of a page that the find box shows while somebody types.
func (p *pages) findBox(w http.ResponseWriter, r *http.Request, who visitor) error {
	text := vault.TrimSearch(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))
	if !isPart(r) {
		redirect(w, r, address("/find", url.Values{"q": {text}}))
		return nil
	}
	problems := map[string]string{}
	f, err := p.found(r.Context(), who, vault.SearchQuery{Text: text, Limit: boxRows}, "", problems)
	if err != nil {
		return err
	}
	known, err := p.Vault.Find(r.Context(), text, vault.MostFound)
	if err != nil {
		return err
	}
	only, leads := known.Only()
	return p.part(w, r, who, http.StatusOK, "find.html", "find-box", map[string]any{
		"Found": f, "Problem": problems["q"], "All": address("/find", url.Values{"q": {text}, "all": {"1"}}),
		"Leads": leads && only.By != "address", // /find leads on to the record
	})
}
