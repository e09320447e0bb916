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
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

const (
	resultsPerPage = 20
	maxResultPage  = search.MaxHits / resultsPerPage
)

// findPage is the template data of the search page. All filters are in the page's address.
type findPage struct {
	listing
	findResults
	Tabs               []findTab
	Templates          []model.Template // includes retired templates because abstracts may still use them
	Number             int              // number of this page, from 1
	UnsearchableNotice string           // says how many documents have text that was not searched; "" if none
	exactNumber        bool             // the search text is the number of exactly one record
}

// findTab is a link to the results of one record type.
type findTab struct {
	Label, Address string
	Count          int
	Counted, Here  bool
	About          bool // the count is approximate
}

// kindTabs lists the tabs with their record types. The type "" stands for all types.
var kindTabs = []struct{ kind, label string }{{"", "All"}, {"abstract", "Abstracts"}, {"order", "Orders"}, {"file", "Documents"},
	{query.Instrument, "Instruments"}}

// findPage serves the search page. If the search text is exactly the number of a single record, it
// redirects to that record.
func (p *Pages) findPage(r *page.Request) error {
	list := &findPage{listing: newListing(r, "", "q", "kind", "template", "county", "state", "from", "to", "page")}
	list.applyDateAliases(r)
	known, err := p.App.Search.Find(r.Context(), list.Asked.Get("q"), vault.MaxFound)
	if err != nil {
		return err
	}
	var only search.Hit
	if only, list.exactNumber = known.SingleExact(); only.Field == "address" {
		list.exactNumber = false
	}
	if list.exactNumber && len(list.Asked) == 1 && !r.IsPart() && r.URL.Query().Get("all") == "" {
		return r.Redirect(p.HitPath(only))
	}
	q := list.query(p.LocalNow())
	if !r.IsPart() && r.URL.Query().Has("go") { // a submitted form is redirected to an address without empty parameters
		return r.Redirect(list.findAddress("page", ""))
	}
	if list.Templates, err = p.App.Templates.All(r.Context()); err != nil {
		return err
	}
	if err := p.readUsed(r, &list.listing); err != nil {
		return err
	}
	// Before the search, so that a scan that is read in the meantime isn't left out of both.
	missing := p.App.Derive(r.Context(), "unsearchable documents", func() (err error) {
		list.UnsearchableNotice, err = p.unsearchableNotice(r.Context(), q)
		return err
	})
	if missing {
		list.UnsearchableNotice = page.MissingText("Counts of documents without searchable text")
	}
	if list.findResults, err = p.runFind(r, q, list.findAddress(), list.Problems); err != nil {
		return err
	}
	list.setLinks()
	if r.IsPart() {
		r.W.Header().Set(list.historyHeader(r), list.findAddress())
		return p.RenderPart(r, http.StatusOK, "find.html", "found-update", list)
	}
	return p.RenderPage(r, http.StatusOK, "find.html", page.Page{Heading: list.Heading(), Section: "find", Data: list})
}

// unsearchableNotice says how many documents have text that was not searched. While scans that
// the filters include wait for OCR, it says how many. Otherwise, it says how many documents have no
// text. It returns "" except on the first page of results that include documents.
func (p *Pages) unsearchableNotice(ctx context.Context, q search.Query) (string, error) {
	if q.Text == "" || q.Offset > 0 || q.Kind != "" && q.Kind != "file" {
		return "", nil
	}
	scans, err := p.App.Search.UnreadScans(ctx, q)
	if err != nil || scans.Total > 0 {
		return unreadScansNotice(scans, q, p.OCRIsOff()), err
	}
	n, all, err := p.App.Previews.Unsearchable(ctx)
	if err != nil || n == 0 {
		return "", err
	}
	said := page.Plural(n, "document has", "documents have") + " no searchable text, such as photos. Search finds them by name only."
	if !all {
		said = "At least " + said
	}
	return said, nil
}

// unreadScansNotice says how many scans are not searchable, or returns "" if there are none. off says
// that OCR is off.
func unreadScansNotice(scans search.UnreadScans, q search.Query, off bool) string {
	n := scans.Max()
	if n == 0 {
		return ""
	}
	said := page.Plural(n, "scan", "scans")
	county := q.County
	switch q.County = ""; {
	case !scans.Known: // those of all records
	case county != "" && !q.Filtered():
		said += " in this county"
	case county != "" || q.Filtered():
		said += " with these filters"
	}
	switch {
	case off:
		return said + " can't be searched: OCR is off. An administrator can turn it on with the setting ocr.enabled."
	case n == 1:
		return said + " is not searchable yet. You can find it by name."
	}
	return said + " are not searchable yet. You can find them by name."
}

// Heading returns the heading of the page.
func (f *findPage) Heading() string {
	if name := f.Called(); name != "" {
		return "Search: “" + name + "”"
	}
	return "Search"
}

// Beyond reports whether the requested page is after the last one. If the counts are unknown, it
// assumes that earlier pages have results.
func (f *findPage) Beyond() bool {
	return f.Number > 1 && len(f.Rows) == 0 && (!f.Counted || f.count(f.Asked.Get("kind")) > 0)
}

// Nothing returns the sentence for a page without results. The period is omitted.
func (f *findPage) Nothing() string {
	if f.Beyond() {
		return "No more results"
	}
	return f.findResults.Nothing()
}

// Start returns the address of the first page of results.
func (f *findPage) Start() string { return f.findAddress("page", "") }

// Called returns the name of the search for the heading, or "" if there is no search.
func (f *findPage) Called() string {
	if len(f.Problems) > 0 {
		return ""
	}
	text := f.Text
	if phrase := strings.Trim(text, `"`); len(phrase) == len(text)-2 && !strings.Contains(phrase, `"`) {
		text = phrase // the heading has quotation marks of its own
	}
	return page.Truncate(text, 80)
}

// findAddress returns the address of this search with some parameters replaced. An address that
// contains only a record's number would redirect to the record, so findAddress adds the parameter
// "all".
func (f *findPage) findAddress(pairs ...string) string {
	to := f.addressWith(pairs...)
	if f.exactNumber && to == page.WithQuery(f.path, url.Values{"q": f.Asked["q"]}) {
		return f.Unfiltered()
	}
	return to
}

// findHelpPage redirects to the search guide, which replaced this page.
func (p *Pages) findHelpPage(r *page.Request) error { return r.Redirect("/help/search") }

// applyDateAliases also accepts the API's names for the date filters.
func (f *findPage) applyDateAliases(r *page.Request) {
	for _, name := range []string{"from", "to"} {
		if day := r.URL.Query().Get("created_" + name); day != "" && !f.Asked.Has(name) {
			f.Asked.Set(name, day)
		}
	}
}

// Lists returns links to the record lists with the same filters. It returns none if there is a
// search text. Orders have no template, and their list can't be filtered by creation date.
// Documents have no list of their own.
func (f *findPage) Lists() []findTab {
	if f.Text != "" || len(f.Problems) > 0 || !f.Filtered {
		return nil
	}
	place := strings.Join(slices.DeleteFunc([]string{f.Asked.Get("county"), f.Asked.Get("state")}, func(s string) bool { return s == "" }), ", ")
	if place != "" {
		place = " in " + place
	}
	var ways []findTab
	if f.Asked.Get("kind") != "order" {
		ways = append(ways, findTab{Label: "All abstracts" + place, Address: f.listAddress("/abstracts", "template", "county", "state", "from", "to")})
	}
	if kind := f.Asked.Get("kind"); (kind == "" || kind == "order") && !f.Asked.Has("template") && !f.Asked.Has("from") && !f.Asked.Has("to") {
		ways = append(ways, findTab{Label: "All orders" + place, Address: f.listAddress("/orders", "county", "state")})
	}
	return ways
}

// listAddress returns the address of a list with those filters that are named.
func (f *findPage) listAddress(path string, names ...string) string {
	values := url.Values{}
	for _, name := range names {
		if v := f.Asked.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	return page.WithQuery(path, values)
}

// query returns the search query for the request. It omits invalid filters.
func (f *findPage) query(now time.Time) search.Query {
	q := search.Query{Text: search.TrimText(strings.ToValidUTF8(f.Asked.Get("q"), "")), County: f.Asked.Get("county"), State: f.Asked.Get("state"), Limit: resultsPerPage}
	for _, tab := range kindTabs {
		if tab.kind == f.Asked.Get("kind") {
			q.Kind = tab.kind
		}
	}
	if q.Kind == "" {
		f.Asked.Del("kind")
	}
	var err error
	if q.Template, err = strconv.ParseUint(f.Asked.Get("template"), 10, 63); err != nil || q.Template == 0 {
		f.Asked.Del("template")
	}
	q.CreatedFrom, q.CreatedTo = page.DayRangeParams(f.Asked, f.Problems, now)
	f.Number = 1
	if n, err := strconv.Atoi(f.Asked.Get("page")); err == nil && n > 1 {
		f.Number = min(n, maxResultPage)
	} else {
		f.Asked.Del("page")
	}
	q.Offset = (f.Number - 1) * resultsPerPage
	return q
}

// setLinks sets the tabs and the links to the previous and next pages.
func (f *findPage) setLinks() {
	for _, tab := range kindTabs {
		t := findTab{Label: tab.label, Address: f.findAddress("kind", tab.kind, "page", ""), Here: f.Asked.Get("kind") == tab.kind, Counted: f.Counted, About: f.About}
		t.Count = f.count(tab.kind)
		f.Tabs = append(f.Tabs, t)
	}
	if f.Number > 1 && !f.Beyond() {
		before := strconv.Itoa(f.Number - 1)
		if f.Number == 2 {
			before = ""
		}
		f.Prev = f.findAddress("page", before)
	}
	if f.findResults.More && f.Number < maxResultPage {
		f.Next = f.findAddress("page", strconv.Itoa(f.Number+1))
	}
	f.Filtered = false
	for name := range f.Asked {
		f.Filtered = f.Filtered || name != "q" && name != "page"
	}
}

// count returns the number of results of the given type. If kind is "", it returns the total.
func (f *findPage) count(kind string) int {
	if kind != "" {
		return f.Counts[kind]
	}
	n := 0
	for _, of := range f.Counts {
		n += of
	}
	return n
}

// First returns the position of the first result on this page among all results, from 1.
func (f *findPage) First() int { return (f.Number-1)*resultsPerPage + 1 }

// Here returns the address of this page.
func (f *findPage) Here() string { return f.findAddress() }

// Unfiltered returns the address of this search without its filters.
func (f *findPage) Unfiltered() string {
	return page.WithQuery(f.path, url.Values{"q": f.Asked["q"], "all": {"1"}})
}

// historyHeader returns the name of the htmx header that updates the browser's address. While the
// user types, it replaces the current history entry instead of adding one.
func (f *findPage) historyHeader(r *page.Request) string {
	was, err := url.Parse(r.Header.Get("HX-Current-URL"))
	if err != nil {
		return "HX-Push-Url"
	}
	before, now := was.Query(), url.Values{}
	for name, v := range f.Asked {
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
