package records

import (
	"cmp"
	"context"
	"deedkeep/app/document/phrase"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// findResults is what a text was found in, the best first.
type findResults struct {
	Text        string // "" where nothing is looked for
	Short       bool   // too little was typed
	Rows        []resultRow
	More        bool // there are more behind these
	Counts      map[string]int
	Counted     bool               // Counts are known,
	About       bool               // but for what the index does not have yet
	Late        string             // what is not found yet; "" where nothing is to be said
	Fuzzy       bool               // some of Rows are there with a typing error allowed for
	Loose       string             // what some of Rows are there without, in a sentence; "" for nothing
	returnTo    string             // the list that documents lead back to; "" for none
	exactMarker *query.Highlighter // marks nothing with a typing error
	marker      *query.Highlighter
	Partial     string // why only numbers and addresses were looked at; "" where all was
	Making      bool   // for there is no whole index yet: to ask again will help
}

// resultRow is one record, with what was looked for marked.
type resultRow struct {
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
func (f resultRow) Icon() string {
	if f.Kind == "file" {
		return "document"
	}
	return f.Kind
}

// Paged reports whether the page that the snippet stands on says something: what is shown
// as one text mostly has just one.
func (f resultRow) Paged() bool {
	return f.Page > 1 || f.Page == 1 && (f.File == nil || f.File.ShownAsImages())
}

// runFind looks for a text. What is wrong with it is put under problems. While there is no
// index, or it takes too long, what is called by the number is shown, and that it is so.
// Documents lead back to the address from.
func (p *Pages) runFind(
	ctx context.Context, who page.Visitor, q vault.SearchQuery, from string, problems map[string]string) (f findResults, err error,
) {
	f.returnTo = from
	if f.Text = strings.TrimSpace(q.Text); f.Text == "" || len(problems) > 0 {
		return f, nil
	}
	if f.Short = page.TooShortToSearch(f.Text); f.Short {
		return f, nil
	}
	f.exactMarker = query.NewHighlighter(q.Text)
	f.marker = f.exactMarker
	state := p.SearchIndexStatus(ctx) // as it was when it answered, or worse
	answer, err := p.Search.Records(ctx, who.Actor, q)
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
	f.More, f.Counts, f.Counted = answer.More, answer.Counts, true
	f.About, f.Late = !state.Complete(), state.Late()
	if answer.Fuzzy {
		f.marker = f.exactMarker.Fuzzy()
	}
	for _, hit := range answer.Hits {
		f.add(p, hit)
	}
	if answer.Loose && len(f.Rows) > 0 {
		f.Loose = looseNotice(q.Text)
	}
	return f, nil
}

// findByNumber finds what is called by the text or begins with it, of the kind asked for.
func (p *Pages) findByNumber(ctx context.Context, q vault.SearchQuery, f *findResults) error {
	if q.Offset > 0 || q.Template != 0 || q.County != "" || q.State != "" || !q.Since.IsZero() || !q.Until.IsZero() {
		return nil // of these nothing is known by the number
	}
	known, err := p.Vault.Search.Find(ctx, q.Text, vault.MostFound)
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

func (f *findResults) add(p *Pages, hit vault.SearchHit) {
	row := resultRow{SearchHit: hit, Number: len(f.Rows) + 1, KindName: kindNames[hit.Kind]}
	row.Name, row.Below = f.marker.Highlight(hit.Heading), f.marker.Highlight(hit.Under)
	if hit.Page > 0 || !alreadyShown(hit.Snippet, row.Name, row.Below) {
		row.Snippet = singleLine(hit, matchingValues(hit))
	}
	f.Fuzzy = f.Fuzzy || f.marker != f.exactMarker && f.isFuzzy(row)
	switch hit.Kind {
	case "order":
		row.Path = p.OrderPath(hit.ID)
	case "abstract":
		row.Path = p.AbstractPath(hit.ID)
	default:
		row.Path = f.documentAddress(hit)
	}
	f.Rows = append(f.Rows, row)
}

// alreadyShown reports whether everything that is marked in a snippet is marked in one of the
// lines too.
func alreadyShown(snippet []vault.SnippetPiece, lines ...[]query.Piece) bool {
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

// documentAddress is the page of a document that has what was looked for, marked there.
func (f *findResults) documentAddress(hit vault.SearchHit) string {
	query := url.Values{}
	if f.returnTo != "" {
		query.Set("from", f.returnTo)
	}
	if hit.Page == 0 {
		return page.WithQuery(page.DocumentPath(hit.ID), query)
	}
	n := strconv.Itoa(hit.Page)
	query.Set("page", n)
	query.Set("find", f.spellingInDocument(hit))
	query.Set("words", "1")
	to := page.WithQuery(page.DocumentPath(hit.ID), query)
	if hit.File != nil && !hit.File.ShownAsImages() { // all of its text is on one page of ours
		to += "#p" + n
	}
	return to
}

// spellingInDocument is what was looked for as it stands in a document: another spelling of it,
// where the snippet shows one.
func (f *findResults) spellingInDocument(hit vault.SearchHit) string {
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
func (f findResults) Nothing() string {
	switch {
	case f.Partial == "":
		return "Nothing was found"
	case strings.ContainsFunc(f.Text, unicode.IsDigit):
		return "No number or address begins so"
	}
	return "Names and words cannot be found yet"
}

// Several reports whether more than one word is looked for.
func (f findResults) Several() bool { return len(strings.Fields(f.Text)) > 1 }

// Tally is how many records of each kind there are, in words; "" where nobody counted.
func (f findResults) Tally() string {
	var list []string
	for _, kind := range []struct{ name, one, many string }{{"abstract", "abstract", "abstracts"}, {"order", "order", "orders"}, {"file", "document", "documents"}} {
		if n := f.Counts[kind.name]; n > 0 {
			list = append(list, page.Plural(n, kind.one, kind.many))
		}
	}
	if f.About && len(list) > 0 {
		list[0] = "about " + list[0]
	}
	return strings.Join(list, ", ")
}

// findBoxRows is how many records the find box offers.
const findBoxRows = 12

// findBox is the part of a page that the find box shows while somebody types.
func (p *Pages) findBox(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	text := vault.TrimSearch(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))
	if !page.IsPartRequest(r) {
		page.Redirect(w, r, page.WithQuery("/find", url.Values{"q": {text}}))
		return nil
	}
	problems := map[string]string{}
	f, err := p.runFind(r.Context(), who, vault.SearchQuery{Text: text, Limit: findBoxRows}, "", problems)
	if err != nil {
		return err
	}
	known, err := p.Vault.Search.Find(r.Context(), text, vault.MostFound)
	if err != nil {
		return err
	}
	only, leads := known.Only()
	return p.RenderPart(w, r, who, http.StatusOK, "find.html", "find-box", map[string]any{
		"Found": f, "Problem": problems["q"], "All": page.WithQuery("/find", url.Values{"q": {text}, "all": {"1"}}),
		"Leads": leads && only.By != "address", // /find leads on to the record
	})
}
