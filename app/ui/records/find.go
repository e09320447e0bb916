package records

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

const (
	resultsPerPage = 20
	maxResultPage  = vault.MostSearched / resultsPerPage
)

// findPage is what a text was found in, and how it was narrowed; all of it stands in
// the address.
type findPage struct {
	listing
	findResults
	Tabs        []findTab
	Templates   []model.Template // retired ones too, since their abstracts stay
	Number      int              // of the page, from 1
	Passed      string           // how many documents have no text that could be searched; "" for none
	exactNumber bool             // the text is the number of one record
}

// findTab is the way to the records of one kind.
type findTab struct {
	Label, Address string
	Count          int
	Counted, Here  bool
	About          bool // the count
}

// kindTabs are the kinds as the tabs name them.
var kindTabs = []struct{ kind, label string }{{"", "All"}, {"abstract", "Abstracts"}, {"order", "Orders"}, {"file", "Documents"}}

// findPage leads to the one record that has exactly the number, or shows what was found.
func (p *Pages) findPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	list := &findPage{listing: newListing(r, nil, "", "q", "kind", "template", "county", "state", "from", "to", "page")}
	list.applyDateAliases(r)
	known, err := p.Vault.Search.Find(r.Context(), list.Asked.Get("q"), vault.MostFound)
	if err != nil {
		return err
	}
	var only vault.Hit
	if only, list.exactNumber = known.Only(); only.By == "address" {
		list.exactNumber = false
	}
	if list.exactNumber && len(list.Asked) == 1 && !page.IsPartRequest(r) && r.URL.Query().Get("all") == "" {
		page.Redirect(w, r, p.HitPath(only))
		return nil
	}
	q := list.query(p.Zone)
	if !page.IsPartRequest(r) && r.URL.Query().Has("go") { // the form was sent as it is: to a short address
		page.Redirect(w, r, list.findAddress("page", ""))
		return nil
	}
	if list.Templates, err = p.Vault.Templates.All(r.Context()); err != nil {
		return err
	}
	if list.findResults, err = p.runFind(r.Context(), who, q, list.findAddress(), list.Problems); err != nil {
		return err
	}
	if list.Passed, err = p.unsearchableNotice(r.Context(), q); err != nil {
		return err
	}
	list.setLinks()
	if page.IsPartRequest(r) {
		w.Header().Set(list.historyHeader(r), list.findAddress())
		return p.RenderPart(w, r, who, http.StatusOK, "find.html", "found-anew", list)
	}
	return p.RenderPage(w, r, who, http.StatusOK, "find.html", page.Page{Heading: list.Heading(), Section: "find", Data: list})
}

// unsearchableNotice says how many documents of the vault a search could not look into, with its
// first results.
func (p *Pages) unsearchableNotice(ctx context.Context, q vault.SearchQuery) (string, error) {
	if q.Text == "" || q.Offset > 0 || q.Kind != "" && q.Kind != "file" {
		return "", nil
	}
	n, all, err := p.Vault.Previews.Unsearchable(ctx)
	if err != nil || n == 0 {
		return "", err
	}
	said := page.PluralAny(n, "document in the vault has", "documents in the vault have") + " no searchable text, like scans. Find looks only at their names."
	if !all {
		said = "At least " + said
	}
	return said, nil
}

// Heading is what the tab of the browser says.
func (l *findPage) Heading() string {
	if name := l.Called(); name != "" {
		return "Find: " + name
	}
	return "Find"
}

// Beyond reports a page after the last. Where nobody counted, what was found may stand on
// the pages before.
func (l *findPage) Beyond() bool {
	return l.Number > 1 && len(l.Rows) == 0 && (!l.Counted || l.count(l.Asked.Get("kind")) > 0)
}

// Nothing is the sentence for no Rows on this page, without its full stop.
func (l *findPage) Nothing() string {
	if l.Beyond() {
		return "The list ends before this page"
	}
	return l.findResults.Nothing()
}

// Start is the address of the first page.
func (l *findPage) Start() string { return l.findAddress("page", "") }

// Called is what is looked for as a heading names it; "" where nothing is.
func (l *findPage) Called() string {
	if len(l.Problems) > 0 {
		return ""
	}
	return page.Truncate(l.Text, 80)
}

// findAddress is the address with other values. That of one number alone would lead on to the
// record that has it, but for "all".
func (l *findPage) findAddress(pairs ...string) string {
	to := l.addressWith(pairs...)
	if l.exactNumber && to == page.WithQuery(l.path, url.Values{"q": l.Asked["q"]}) {
		return l.Unfiltered()
	}
	return to
}

// findHelpPage tells what a text finds.
func (p *Pages) findHelpPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.RenderPage(w, r, who, http.StatusOK, "findhow.html", page.Page{Heading: "How finding works", Section: "find"})
}

// applyDateAliases takes the bounds by which a program names them too.
func (l *findPage) applyDateAliases(r *http.Request) {
	for _, name := range []string{"from", "to"} {
		if day := r.URL.Query().Get("created_" + name); day != "" && !l.Asked.Has(name) {
			l.Asked.Set(name, day)
		}
	}
}

// Lists are the ways to all that the filters leave, where nothing is looked for. Orders
// have no template, and their list no days of creation; documents lie in abstracts.
func (l *findPage) Lists() []findTab {
	if l.Text != "" || len(l.Problems) > 0 || !l.Filtered {
		return nil
	}
	place := strings.Join(slices.DeleteFunc([]string{l.Asked.Get("county"), l.Asked.Get("state")}, func(s string) bool { return s == "" }), ", ")
	if place != "" {
		place = " in " + place
	}
	var ways []findTab
	if l.Asked.Get("kind") != "order" {
		ways = append(ways, findTab{Label: "All abstracts" + place, Address: l.listAddress("/abstracts", "template", "county", "state", "from", "to")})
	}
	if kind := l.Asked.Get("kind"); (kind == "" || kind == "order") && !l.Asked.Has("template") && !l.Asked.Has("from") && !l.Asked.Has("to") {
		ways = append(ways, findTab{Label: "All orders" + place, Address: l.listAddress("/orders", "county", "state")})
	}
	return ways
}

// listAddress is the address of a list with those of the filters that it has.
func (l *findPage) listAddress(path string, names ...string) string {
	values := url.Values{}
	for _, name := range names {
		if v := l.Asked.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	return page.WithQuery(path, values)
}

// query reads what was asked for; what is none of it is forgotten.
func (l *findPage) query(zone *time.Location) vault.SearchQuery {
	q := vault.SearchQuery{Text: vault.TrimSearch(strings.ToValidUTF8(l.Asked.Get("q"), "")), County: l.Asked.Get("county"), State: l.Asked.Get("state"), Limit: resultsPerPage}
	for _, tab := range kindTabs {
		if tab.kind == l.Asked.Get("kind") {
			q.Kind = tab.kind
		}
	}
	if q.Kind == "" {
		l.Asked.Del("kind")
	}
	var err error
	if q.Template, err = strconv.ParseUint(l.Asked.Get("template"), 10, 63); err != nil || q.Template == 0 {
		l.Asked.Del("template")
	}
	q.Since, q.Until = page.DayRangeParams(l.Asked, l.Problems, zone)
	l.Number = 1
	if n, err := strconv.Atoi(l.Asked.Get("page")); err == nil && n > 1 {
		l.Number = min(n, maxResultPage)
	} else {
		l.Asked.Del("page")
	}
	q.Offset = (l.Number - 1) * resultsPerPage
	return q
}

// setLinks are the tabs, and the pages before and after.
func (l *findPage) setLinks() {
	for _, tab := range kindTabs {
		t := findTab{Label: tab.label, Address: l.findAddress("kind", tab.kind, "page", ""), Here: l.Asked.Get("kind") == tab.kind, Counted: l.Counted, About: l.About}
		t.Count = l.count(tab.kind)
		l.Tabs = append(l.Tabs, t)
	}
	if l.Number > 1 && !l.Beyond() {
		before := strconv.Itoa(l.Number - 1)
		if l.Number == 2 {
			before = ""
		}
		l.Prev = l.findAddress("page", before)
	}
	if l.findResults.More && l.Number < maxResultPage {
		l.Next = l.findAddress("page", strconv.Itoa(l.Number+1))
	}
	l.Filtered = false
	for name := range l.Asked {
		l.Filtered = l.Filtered || name != "q" && name != "page"
	}
}

// count is how many records of a kind were counted; of "" those of every kind.
func (l *findPage) count(kind string) int {
	if kind != "" {
		return l.Counts[kind]
	}
	n := 0
	for _, of := range l.Counts {
		n += of
	}
	return n
}

// First is the place of the page's first record among all.
func (l *findPage) First() int { return (l.Number-1)*resultsPerPage + 1 }

// Here is the address of what is shown.
func (l *findPage) Here() string { return l.findAddress() }

// Unfiltered is the address with nothing but the text.
func (l *findPage) Unfiltered() string {
	return page.WithQuery(l.path, url.Values{"q": l.Asked["q"], "all": {"1"}})
}

// historyHeader is the header by which a browser takes the address over: while a text is being
// typed it is one step back to what was there before.
func (l *findPage) historyHeader(r *http.Request) string {
	was, err := url.Parse(r.Header.Get("HX-Current-URL"))
	if err != nil {
		return "HX-Push-Url"
	}
	before, now := was.Query(), url.Values{}
	for name, v := range l.Asked {
		now[name] = v
	}
	for _, name := range []string{"q", "all", "page"} {
		before.Del(name)
		now.Del(name)
	}
	if was.Query().Has("q") && before.Encode() == now.Encode() {
		return "HX-Replace-Url"
	}
	return "HX-Push-Url"
}
