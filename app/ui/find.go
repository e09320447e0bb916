package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// searches looks for records of every kind by their fields and their text.
type searches interface {
	Search(ctx context.Context, actor model.Actor, q vault.SearchQuery) (vault.SearchPage, error)
}

const (
	foundAPage   = 20
	mostFindPage = vault.MostSearched / foundAPage
)

// findPage is what a text was found in, and how it was narrowed; all of it stands in
// the address.
type findPage struct {
	listing
	found
	Tabs      []findTab
	Templates []model.Template // retired ones too, since their abstracts stay
	Number    int              // of the page, from 1
	Passed    string           // how many documents have no text that could be searched; "" for none
	leads     bool             // the text is the number of one record
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

// find leads to the one record that has exactly the number, or shows what was found.
func (p *pages) find(w http.ResponseWriter, r *http.Request, who visitor) error {
	list := &findPage{listing: newListing(r, nil, "", "q", "kind", "template", "county", "state", "from", "to", "page")}
	list.bounds(r)
	known, err := p.Vault.Find(r.Context(), list.Asked.Get("q"), vault.MostFound)
	if err != nil {
		return err
	}
	var only vault.Hit
	if only, list.leads = known.Only(); only.By == "address" {
		list.leads = false
	}
	if list.leads && len(list.Asked) == 1 && !isPart(r) && r.URL.Query().Get("all") == "" {
		redirect(w, r, p.hitPath(only))
		return nil
	}
	q := list.query(p.Zone)
	if !isPart(r) && r.URL.Query().Has("go") { // the form was sent as it is: to a short address
		redirect(w, r, list.to("page", ""))
		return nil
	}
	if list.Templates, err = p.Vault.Templates.All(r.Context()); err != nil {
		return err
	}
	if list.found, err = p.found(r.Context(), who, q, list.to(), list.Problems); err != nil {
		return err
	}
	if list.Passed, err = p.passed(r.Context(), q); err != nil {
		return err
	}
	list.ways()
	if isPart(r) {
		w.Header().Set(list.history(r), list.to())
		return p.part(w, r, who, http.StatusOK, "find.html", "found-anew", list)
	}
	return p.show(w, r, who, http.StatusOK, "find.html", page{Heading: list.Heading(), Section: "find", Data: list})
}

// passed says how many documents of the vault a search could not look into, with its
// first results.
func (p *pages) passed(ctx context.Context, q vault.SearchQuery) (string, error) {
	if q.Text == "" || q.Offset > 0 || q.Kind != "" && q.Kind != "file" {
		return "", nil
	}
	n, all, err := p.Vault.Unsearchable(ctx)
	if err != nil || n == 0 {
		return "", err
	}
	said := pluralAny(n, "document in the vault has", "documents in the vault have") + " no searchable text, like scans. Find looks only at their names."
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
	return l.Number > 1 && len(l.Rows) == 0 && (!l.Counted || l.many(l.Asked.Get("kind")) > 0)
}

// Nothing is the sentence for no Rows on this page, without its full stop.
func (l *findPage) Nothing() string {
	if l.Beyond() {
		return "The list ends before this page"
	}
	return l.found.Nothing()
}

// Start is the address of the first page.
func (l *findPage) Start() string { return l.to("page", "") }

// Called is what is looked for as a heading names it; "" where nothing is.
func (l *findPage) Called() string {
	if len(l.Problems) > 0 {
		return ""
	}
	return shorten(l.Text, 80)
}

// to is the address with other values. That of one number alone would lead on to the
// record that has it, but for "all".
func (l *findPage) to(pairs ...string) string {
	to := l.with(pairs...)
	if l.leads && to == address(l.path, url.Values{"q": l.Asked["q"]}) {
		return l.Unfiltered()
	}
	return to
}

// findHow tells what a text finds.
func (p *pages) findHow(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.show(w, r, who, http.StatusOK, "findhow.html", page{Heading: "How finding works", Section: "find"})
}

// bounds takes the bounds by which a program names them too.
func (l *findPage) bounds(r *http.Request) {
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
		ways = append(ways, findTab{Label: "All abstracts" + place, Address: l.listed("/abstracts", "template", "county", "state", "from", "to")})
	}
	if kind := l.Asked.Get("kind"); (kind == "" || kind == "order") && !l.Asked.Has("template") && !l.Asked.Has("from") && !l.Asked.Has("to") {
		ways = append(ways, findTab{Label: "All orders" + place, Address: l.listed("/orders", "county", "state")})
	}
	return ways
}

// listed is the address of a list with those of the filters that it has.
func (l *findPage) listed(path string, names ...string) string {
	values := url.Values{}
	for _, name := range names {
		if v := l.Asked.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	return address(path, values)
}

// query reads what was asked for; what is none of it is forgotten.
func (l *findPage) query(zone *time.Location) vault.SearchQuery {
	q := vault.SearchQuery{Text: vault.TrimSearch(strings.ToValidUTF8(l.Asked.Get("q"), "")), County: l.Asked.Get("county"), State: l.Asked.Get("state"), Limit: foundAPage}
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
	q.Since, q.Until = askedDays(l.Asked, l.Problems, zone)
	l.Number = 1
	if n, err := strconv.Atoi(l.Asked.Get("page")); err == nil && n > 1 {
		l.Number = min(n, mostFindPage)
	} else {
		l.Asked.Del("page")
	}
	q.Offset = (l.Number - 1) * foundAPage
	return q
}

// ways are the tabs, and the pages before and after.
func (l *findPage) ways() {
	for _, tab := range kindTabs {
		t := findTab{Label: tab.label, Address: l.to("kind", tab.kind, "page", ""), Here: l.Asked.Get("kind") == tab.kind, Counted: l.Counted, About: l.About}
		t.Count = l.many(tab.kind)
		l.Tabs = append(l.Tabs, t)
	}
	if l.Number > 1 && !l.Beyond() {
		before := strconv.Itoa(l.Number - 1)
		if l.Number == 2 {
			before = ""
		}
		l.Prev = l.to("page", before)
	}
	if l.found.More && l.Number < mostFindPage {
		l.Next = l.to("page", strconv.Itoa(l.Number+1))
	}
	l.Filtered = false
	for name := range l.Asked {
		l.Filtered = l.Filtered || name != "q" && name != "page"
	}
}

// many is how many records of a kind were counted; of "" those of every kind.
func (l *findPage) many(kind string) int {
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
func (l *findPage) First() int { return (l.Number-1)*foundAPage + 1 }

// Here is the address of what is shown.
func (l *findPage) Here() string { return l.to() }

// Unfiltered is the address with nothing but the text.
func (l *findPage) Unfiltered() string {
	return address(l.path, url.Values{"q": l.Asked["q"], "all": {"1"}})
}

// history is the header by which a browser takes the address over: while a text is being
// typed it is one step back to what was there before.
func (l *findPage) history(r *http.Request) string {
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

// tooLittle reports a text of fewer than two letters or digits.
func tooLittle(text string) bool {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n < 2
}

// hitPath is where a hit's record is shown.
func (p *pages) hitPath(h vault.Hit) string {
	if h.Noun == "order" {
		return p.orderPath(h.ID)
	}
	return p.abstractPath(h.ID)
}

// byName is what a hit was found by, in words.
func byName(by string) string {
	switch by {
	case "order_number":
		return "Order number"
	case "file_number":
		return "File number"
	case "parcel":
		return "Parcel"
	}
	return "Address"
}

// sentenceOf is the sentence of an error for people.
func sentenceOf(err error) string {
	var named *errs.Error
	if errors.As(err, &named) {
		return plainly(named.Message)
	}
	return ""
}
