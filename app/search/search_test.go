package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// fakeIndex answers what a test says, and remembers the last question.
type fakeIndex struct {
	search.Index
	hits   []query.Hit
	fuzzy  bool
	loose  bool
	err    error
	asked  query.Query
	always bool // there are hits behind every page
	late   bool // it answers when the time is over
}

func (f *fakeIndex) Search(ctx context.Context, q query.Query) (query.Result, error) {
	f.asked = q
	if f.late {
		<-ctx.Done()
	}
	if f.err != nil {
		return query.Result{}, f.err
	}
	a := query.Result{Counts: map[query.Kind]int{}, Fuzzy: f.fuzzy, Relaxed: f.loose}
	of := []query.Hit{}
	for _, h := range f.hits {
		a.Counts[h.Kind]++
		if q.Kind == 0 || q.Kind == h.Kind {
			of = append(of, h)
		}
	}
	of = of[min(q.Offset, len(of)):]
	a.Hits, a.More = of[:min(q.Limit, len(of))], len(of) > q.Limit || f.always
	return a, nil
}

func hit(kind query.Kind, id uint64) query.Hit {
	return query.Hit{Kind: kind, ID: id, Score: float64(10 - id)}
}

// pagesReader gives the text of a toy PDF: its salt, a page between two bars.
type pagesReader struct{ vaulttest.Reader }

func (pagesReader) Text(_ context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	raw, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	if err != nil {
		return err
	}
	_, salt, _ := strings.Cut(string(raw), "pages=1 ")
	salt, _, _ = strings.Cut(salt, "\n%%EOF")
	for i, page := range strings.Split(salt, "|") {
		if err := emit(i+1, page); err != nil {
			return err
		}
	}
	return nil
}

// searched is a vault whose documents have text, with an index that a test fills.
func searched(t *testing.T) (*instance.Instance, *fakeIndex) {
	t.Helper()
	return searchedIn(t, vaulttest.Settings().Search.Deadline)
}

// searchedIn is searched with so much time for a search.
func searchedIn(t *testing.T, deadline time.Duration) (*instance.Instance, *fakeIndex) {
	t.Helper()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader, o.Settings.PreviewSize, o.Settings.Search.Deadline = pagesReader{}, 1<<20, deadline
	})
	f := &fakeIndex{}
	v.Search.WrapIndex(func(in search.Index) search.Index {
		f.Index = in
		return f
	})
	v.Start(1 << 40)
	if _, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); err != nil {
		t.Fatalf("wait for search index: %v", err)
	}
	return v, f
}

// marks writes a snippet with brackets around what is marked.
func marks(pieces []search.SnippetPiece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Marked {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func look(t *testing.T, v *instance.Instance, q search.Query) search.Page {
	t.Helper()
	page, err := v.Search.Records(t.Context(), vaulttest.Operator, q)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return page
}

// kinds are the hits as "order 1".
func kinds(page search.Page) []string {
	list := []string{}
	for _, h := range page.Hits {
		list = append(list, fmt.Sprintf("%s %d", h.Kind, h.ID))
	}
	return list
}

func TestSearchRefused(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	for name, row := range map[string]struct {
		q    search.Query
		want string
	}{
		"nothing":        {search.Query{Text: " "}, "The q field is required."},
		"bad characters": {search.Query{Text: "a\x00b"}, "The q field contains invalid characters."},
		"no text":        {search.Query{Text: "a\xffb"}, "The q field contains invalid characters."},
		"too long":       {search.Query{Text: strings.Repeat("ü", 501)}, "The q field must not be greater than 500 characters."},
		"kind":           {search.Query{Text: "elm", Kind: "folder"}, "The selected kind is invalid."},
		"both":           {search.Query{Kind: "folder"}, "The q field is required. (and 1 more error)"},
	} {
		_, err := v.Search.Records(t.Context(), vaulttest.Operator, row.q)
		if errs.KindOf(err) != errs.Invalid || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
	f.err = fmt.Errorf("search: %w", query.ErrDeadline)
	_, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "elm"})
	vaulttest.WantKind(t, "late", err, errs.Unavailable)
	_, err = v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: "elm"})
	vaulttest.WantKind(t, "late list", err, errs.Unavailable)
	f.err = &errs.Error{Kind: errs.Unavailable, Message: "The index is being made."}
	if _, err = v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "elm"}); !errors.Is(err, f.err) {
		t.Errorf("not ready: %v", err)
	}
}

// That somebody searched is in the log, once and then by the minute, and not for what.
func TestSearchIsTakenDown(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	for range 3 {
		look(t, v, search.Query{Text: "nightingale"})
	}
	if _, err := v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: "nightingale"}); err != nil {
		t.Fatalf("Search.Orders: %v", err)
	}
	if _, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: " "}); err == nil {
		t.Error("nothing was searched for")
	}
	f.err = query.ErrDeadline
	if _, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "nightingale"}); err == nil {
		t.Error("it was not late")
	}
	page, err := v.Events.List(t.Context(), vault.Query{Limit: 50})
	asked := 0
	for _, e := range page.Items {
		raw, _ := json.Marshal(e)
		if strings.Contains(string(raw), "nightingale") {
			t.Errorf("the log tells what was looked for: %s", raw)
		}
		if e.Kind == "search.asked" {
			asked++
		}
	}
	if err != nil || asked != 1 {
		t.Errorf("%d entries, %v", asked, err)
	}
}

// What is asked of the index, which knows days.
func TestSearchAsks(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	f.always = true
	day := func(text string) int32 {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatalf("Parse: %v", err)
		}
		return int32(at.Unix() / 86400)
	}
	noon, old := time.Date(2026, 5, 29, 12, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		q    search.Query
		want query.Query
		more bool
	}{
		"bare":             {search.Query{Text: " elm"}, query.Query{Text: "elm", Limit: 25}, true},
		"a whole word":     {search.Query{Text: " elm \t"}, query.Query{Text: "elm ", Limit: 25}, true},
		"another blank":    {search.Query{Text: "elm\u00a0"}, query.Query{Text: "elm ", Limit: 25}, true},
		"as long as it is": {search.Query{Text: strings.Repeat("elm ", 125)}, query.Query{Text: strings.Repeat("elm ", 125), Limit: 25}, true},
		"and blanks":       {search.Query{Text: strings.Repeat("elmo", 125) + "  "}, query.Query{Text: strings.Repeat("elmo", 125) + " ", Limit: 25}, true},
		"all": {search.Query{Text: "elm", Kind: "file", Template: 3, County: "A", State: "B", Status: "C", CreatedFrom: noon, CreatedTo: old, Offset: 5, Limit: 7},
			query.Query{}, false}, // nothing lies between
		"filters": {search.Query{Text: "elm", Kind: "file", Template: 3, County: "A", State: "B", Status: "C", CreatedFrom: old, CreatedTo: noon, Offset: 5, Limit: 7},
			query.Query{Text: "elm", Kind: query.File, Template: 3, County: "A", State: "B", Status: "C", HasDateRange: true, From: -1, To: day("2026-05-29"), Offset: 5, Limit: 7}, true},
		"times":                {search.Query{Text: "elm", CreatedFrom: noon}, query.Query{Text: "elm", HasDateRange: true, From: day("2026-05-29"), To: 1 << 30, Limit: 25}, true},
		"until":                {search.Query{Text: "elm", CreatedTo: noon}, query.Query{Text: "elm", HasDateRange: true, From: -1 << 30, To: day("2026-05-29"), Limit: 25}, true},
		"deep":                 {search.Query{Text: "elm", Offset: 990, Limit: 25}, query.Query{Text: "elm", Offset: 990, Limit: 10}, false},
		"too deep":             {search.Query{Text: "elm", Offset: 1000}, query.Query{}, false},
		"large":                {search.Query{Text: "elm", Limit: 1000}, query.Query{Text: "elm", Limit: 100}, true},
		"orders of a template": {search.Query{Text: "elm", Kind: "order", Template: 1}, query.Query{}, false},
	} {
		f.asked = query.Query{}
		page := look(t, v, row.q)
		if f.asked != row.want || page.More != row.more {
			t.Errorf("%s: asked %+v, want %+v; more %t", name, f.asked, row.want, page.More)
		}
	}
}

// A hit is shown as the record is now, whatever the index knows of it.
func TestSearchReadsLiveRecords(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	placed := vaulttest.CreateOrderForProperty(t, v, "26-100", "2026-06-01", "12.-3-45", elmStreet("Troy", "Rensselaer"))
	gone := vaulttest.CreateOrderForProperty(t, v, "26-101", "", "", elmStreet("Troy", "Rensselaer"))
	a := filedAbstract(t, v, "F-1", "12.-3-4", elmStreet("Albany", "Albany"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("elm.pdf", "nothing"))[0]
	f.hits = []query.Hit{hit(query.Order, placed.ID), hit(query.Order, gone.ID), hit(query.Abstract, a.ID), hit(query.File, loose.ID), hit(query.File, 99), hit(9, 1)}
	f.fuzzy, f.loose = true, true
	page := look(t, v, search.Query{Text: "elm"})
	if got := kinds(page); !slices.Equal(got, []string{"order 1", "order 2", "abstract 1", "file 1"}) || !page.Fuzzy || !page.Relaxed || page.More {
		t.Fatalf("%q, %+v", got, page)
	}
	if c := page.Counts; c["order"] != 2 || c["abstract"] != 1 || c["file"] != 2 || len(c) != 3 {
		t.Errorf("counts %v", c)
	}
	first, abstract, file := page.Hits[0], page.Hits[2], page.Hits[3]
	if first.Heading != "26-100" || first.Subheading != "12 Elm St., Troy, Rensselaer County, NY · 12.-3-45" || first.Status != "active" || first.DueDate != "2026-06-01" || first.Score != 9 {
		t.Errorf("%+v", first)
	}
	if marks(first.Snippet) != "Address: 12 [Elm] St." || first.Page != 0 {
		t.Errorf("%q on page %d", marks(first.Snippet), first.Page)
	}
	if abstract.Heading != "F-1" || abstract.Status == "" || abstract.Subheading != "12 Elm St., Albany, Albany County, NY · 12.-3-4" {
		t.Errorf("%+v", abstract)
	}
	if file.Heading != "elm.pdf" || file.File == nil || file.File.ID != loose.ID || marks(file.Snippet) != "[elm].pdf" || file.Page != 0 {
		t.Errorf("%+v", file)
	}
	// At once, before any index hears of it.
	if err := v.Orders.Trash(t.Context(), vaulttest.Operator, gone.ID, vault.Match{}); err != nil {
		t.Fatalf("move order to trash: %v", err)
	}
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, loose.ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	if got := kinds(look(t, v, search.Query{Text: "elm"})); !slices.Equal(got, []string{"order 1", "abstract 1"}) {
		t.Errorf("%q", got)
	}
	created := placed.CreatedAt
	for name, q := range map[string]search.Query{
		"county":   {County: "Saratoga"},
		"state":    {State: "VT"},
		"status":   {Status: "completed"},
		"template": {Template: 99},
		"before":   {CreatedTo: created.Add(-time.Microsecond)},
		"since":    {CreatedFrom: created.Add(time.Microsecond)},
	} {
		q.Text = "elm"
		if got := kinds(look(t, v, q)); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	all := search.Query{Text: "elm", County: " ALBANY county", State: "New York", Status: abstract.Status, Template: a.TemplateID, CreatedFrom: created, CreatedTo: created}
	if got := kinds(look(t, v, all)); !slices.Equal(got, []string{"abstract 1"}) {
		t.Errorf("%q", got)
	}
}

// A document of an abstract is where its abstract is, and found as one of it.
func TestSearchDocumentsOfAnAbstract(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	draft := model.AbstractDraft{PropertyDraft: elmStreet("Troy", "Rensselaer"), Custom: vaulttest.CustomText("file_number", `"F-7"`)}
	made, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("deed.pdf", "nothing|of elm")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	file := made.Files[0]
	vaulttest.ProcessingFailure(t, v, file.ID)
	f.hits = []query.Hit{hit(query.File, file.ID)}
	page := look(t, v, search.Query{Text: "elm", Kind: "file", County: "rensselaer", Template: made.Abstract.TemplateID})
	if len(page.Hits) != 1 {
		t.Fatalf("%+v", page)
	}
	if h := page.Hits[0]; h.Subheading != "F-7" || h.AbstractID != made.Abstract.ID || marks(h.Snippet) != "of [elm]" || h.Page != 2 {
		t.Errorf("%+v", h)
	}
	for _, q := range []search.Query{{County: "Albany"}, {Status: made.Abstract.Status}} {
		q.Text = "elm"
		if got := look(t, v, q); len(got.Hits) != 0 {
			t.Errorf("%+v", got)
		}
	}
}

func TestSearchSnippetOfText(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	far := strings.Repeat(strings.Repeat("x", 1<<20)+"|", 4) + "elm"
	for _, row := range []struct {
		name, text, want string
		page             int
	}{
		{"a.pdf", "one|two elm|elm again", "two [elm]", 2},
		{"elm.pdf", "one", "[elm].pdf", 0},
		{"elm.pdf", "one|an elm", "an [elm]", 2},
		{"elm oak.pdf", "one|an elm", "[elm oak].pdf", 0},
		{"f.pdf", "the elm|the elm and the oak", "the [elm] and the [oak]", 2},
		{"g.pdf", "the elm|" + strings.Repeat("x", 1<<16) + "|elm oak", "the [elm]", 1}, // near enough
		{"b.pdf", "<script>elm</script>", "<script>[elm]</script>", 1},
		{"c.pdf", "nothing", "", 0},
		{"d.pdf", far, "", 0}, // beyond what is looked at
	} {
		file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(row.name, row.text))[0]
		vaulttest.ProcessingFailure(t, v, file.ID)
		f.hits = []query.Hit{hit(query.File, file.ID)}
		h := look(t, v, search.Query{Text: "elm oak"}).Hits[0]
		if marks(h.Snippet) != row.want || h.Page != row.page {
			t.Errorf("%s: %q on page %d, want %q on %d", row.name, marks(h.Snippet), h.Page, row.want, row.page)
		}
	}
	// Without a kept text a hit is a hit.
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("e.pdf", "elm"))[0]
	vaulttest.ProcessingFailure(t, v, file.ID)
	if err := v.Previews.RemovePreviews(file.Digest); err != nil {
		t.Fatalf("Previews.RemovePreviews: %v", err)
	}
	f.hits = []query.Hit{hit(query.File, file.ID)}
	if h := look(t, v, search.Query{Text: "elm"}).Hits[0]; h.Snippet != nil || h.Page != 0 {
		t.Errorf("%+v", h)
	}
}

// What the index found in time is told, however late that is: hits without snippets, and
// whole records.
func TestSearchTellsWhatWasFoundInTime(t *testing.T) {
	t.Parallel()
	v, f := searchedIn(t, 50*time.Millisecond)
	id := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("elm.pdf", "an elm"))[0].ID
	vaulttest.ProcessingFailure(t, v, id)
	f.hits, f.late = []query.Hit{hit(query.File, id)}, true
	page := inItsTurn(t, func() (search.Page, error) {
		return v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "elm"})
	})
	if len(page.Hits) != 1 || page.Hits[0].ID != id || page.Hits[0].Snippet != nil {
		t.Errorf("%+v", page)
	}
	list := inItsTurn(t, func() (search.RecordPage[model.File], error) {
		return v.Search.Files(t.Context(), vaulttest.Operator, search.Query{Text: "elm"})
	})
	if len(list.Items) != 1 || list.Items[0].ID != id {
		t.Errorf("%+v", list)
	}
}

// To make a snippet ends with the time of the search, within a page too: what stands on
// one that cannot be looked through by then is not shown.
func TestSearchSnippetEndsWithItsTime(t *testing.T) {
	t.Parallel()
	v, f := searchedIn(t, 20*time.Millisecond)
	var text strings.Builder
	for c := 'a'; c <= 'z'; c++ {
		fmt.Fprintf(&text, "grant%cr ", c)
	}
	id := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", strings.Repeat("grounds and parish of ", 1<<20/22)+"grantar"))[0].ID
	vaulttest.ProcessingFailure(t, v, id)
	f.hits, f.fuzzy = []query.Hit{hit(query.File, id)}, true
	page := inItsTurn(t, func() (search.Page, error) {
		return v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: text.String()})
	})
	if len(page.Hits) != 1 || page.Hits[0].Snippet != nil {
		t.Errorf("%+v", page)
	}
}

// inItsTurn searches again where there was no time to begin.
func inItsTurn[T any](t *testing.T, find func() (T, error)) (found T) {
	t.Helper()
	vaulttest.Eventually(t, "a search", func() bool {
		var err error
		found, err = find()
		if err != nil && errs.KindOf(err) != errs.Unavailable {
			t.Fatalf("find: %v", err)
		}
		return err == nil
	})
	return found
}

// Lists of whole records go on where they stopped, for whatever reason.
func TestSearchLists(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	var want []string
	for i := range 7 {
		o := vaulttest.CreateOrderForProperty(t, v, fmt.Sprintf("26-%d", i), "", "", elmStreet("Troy", "Rensselaer"))
		f.hits = append(f.hits, hit(query.Order, o.ID), hit(query.File, uint64(i)))
		if i == 3 {
			if err := v.Orders.Trash(t.Context(), vaulttest.Operator, o.ID, vault.Match{}); err != nil {
				t.Fatalf("move order to trash: %v", err)
			}
			continue
		}
		want = append(want, o.Number)
	}
	one, err := v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: "elm", Limit: 1})
	if err != nil || one.Bytes == 0 {
		t.Fatalf("%+v, %v", one, err)
	}
	for name, q := range map[string]search.Query{
		"by one":             {Limit: 1},
		"by three":           {Limit: 3},
		"all":                {Limit: 100, Kind: "file"},
		"cut by their bytes": {Limit: 100, Bytes: 2*one.Bytes + 10},
		"all cut":            {Limit: 100, Bytes: 1},
	} {
		var got []string
		for q.Text = "elm"; ; {
			m, err := v.Search.Orders(t.Context(), vaulttest.Operator, q)
			if err != nil {
				t.Fatalf("Search.Orders: %v", err)
			}
			if m.Offset != q.Offset || q.Bytes > 1 && len(m.Items) > 2 || m.Truncated != (q.Bytes > 0 && m.NextOffset > 0) {
				t.Errorf("%s: %+v", name, m)
			}
			for _, o := range m.Items {
				got = append(got, o.Number)
			}
			if q.Offset = m.NextOffset; m.NextOffset == 0 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, q := range map[string]search.Query{"county": {County: "Albany"}, "state": {State: "OH"}, "time": {CreatedFrom: time.Now().AddDate(10, 0, 0)}} {
		q.Text = "elm"
		if m, err := v.Search.Orders(t.Context(), vaulttest.Operator, q); err != nil || len(m.Items) != 0 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	a := filedAbstract(t, v, "F-1", "", elmStreet("Troy", "Rensselaer"))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "elm"))[0]
	f.hits = []query.Hit{hit(query.Abstract, a.ID), hit(query.File, file.ID)}
	q := search.Query{Text: "elm", County: "Rensselaer County", State: "new york", Template: a.TemplateID, Status: a.Status}
	if m, err := v.Search.Abstracts(t.Context(), vaulttest.Operator, q); err != nil || len(m.Items) != 1 || m.Items[0].Abstract.ID != a.ID {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := v.Search.Files(t.Context(), vaulttest.Operator, search.Query{Text: "elm"}); err != nil || len(m.Items) != 1 || m.Items[0].ID != file.ID {
		t.Errorf("%+v, %v", m, err)
	}
}

// A snippet shows where it begins or ends in the middle of its text, and only there.
func TestSearchSnippetIsCutOut(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	long := strings.Repeat(" parties hereto", 40)
	for _, row := range []struct {
		name, text    string
		before, after bool
	}{
		{"whole", "\u00a0the elm \n", false, false},
		{"begins", "the elm" + long, false, true},
		{"ends", long + " the elm", true, false},
		{"inside", long + " the elm" + long, true, true},
	} {
		file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(row.name+".pdf", row.text))[0]
		vaulttest.ProcessingFailure(t, v, file.ID)
		draft := model.OrderDraft{Number: model.StringInput(row.name), Custom: vaulttest.CustomText("notes", fmt.Sprintf("%q", row.text))}
		order, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{})
		if err != nil {
			t.Fatalf("create order: %v", err)
		}
		f.hits = []query.Hit{hit(query.File, file.ID), hit(query.Order, order.ID)}
		for _, h := range look(t, v, search.Query{Text: "elm"}).Hits {
			got := strings.TrimPrefix(marks(h.Snippet), "Notes: ")
			if !strings.Contains(got, "[elm]") || strings.HasPrefix(got, "… ") != row.before || strings.HasSuffix(got, " …") != row.after || strings.Count(got, "…") > 2 {
				t.Errorf("%s, %s: %q", row.name, h.Kind, got)
			}
		}
	}
}

// The snippet of a record with a long text looks at its beginning alone, and is cut
// between characters.
func TestSearchSnippetOfLongField(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	for _, row := range []struct{ text, want string }{
		{strings.Repeat("é", 20_000) + " elm", "[elm]"},
		{strings.Repeat("é", 40_000) + " elm", ""},
	} {
		draft := model.OrderDraft{Number: model.StringInput("26-1"), Custom: vaulttest.CustomText("notes", fmt.Sprintf("%q", row.text))}
		made, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{})
		if err != nil {
			t.Fatalf("create order: %v", err)
		}
		f.hits = []query.Hit{hit(query.Order, made.ID)}
		h := look(t, v, search.Query{Text: "elm"}).Hits[0]
		if got := marks(h.Snippet); !strings.Contains(got, row.want) || row.want == "" && got != "" || !utf8.ValidString(got) {
			t.Errorf("%.100q", got)
		}
	}
}

// A snippet of a record names the fields that match, and shows no others.
func TestSearchSnippetNamesFields(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	draft := model.OrderDraft{Number: model.StringInput("26-1"), PropertyDraft: elmStreet("Troy", "Rensselaer"),
		Custom: several("buyer_borrower", `"Johnson, Carl"`, "notes", `"for Johnson"`, "client", `"Johnson & Sons"`, "seller_owner", `"Johnson"`, "underwriter", `"None"`)}
	made, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{Custom: several("current_owner", `"Johnson, Carl"`, "file_number", `"F-77"`)}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	f.hits = []query.Hit{hit(query.Order, made.ID), hit(query.Abstract, a.Abstract.ID)}
	for _, row := range []struct{ text, order, abstract string }{
		{"johnson", "Client: [Johnson] & Sons · Buyer/Borrower: [Johnson], Carl · Seller/Owner: [Johnson]", "Current Owner: [Johnson], Carl"},
		{"troy", "City: [Troy]", ""},
		{"26-1", "Order #: [26-1]", ""},
		{"carl f-77", "Buyer/Borrower: Johnson, [Carl]", "File Number: [F-77] · Current Owner: Johnson, [Carl]"},
		{"absent", "", ""},
	} {
		page := look(t, v, search.Query{Text: row.text})
		if got := marks(page.Hits[0].Snippet); got != row.order {
			t.Errorf("%s: %q, want %q", row.text, got, row.order)
		}
		if got := marks(page.Hits[1].Snippet); got != row.abstract {
			t.Errorf("%s: %q, want %q", row.text, got, row.abstract)
		}
	}
}

// A field with all words is shown alone; else those with most words come first, and
// none that has but some of what another has.
func TestSearchSnippetChoosesFields(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	draft := model.AbstractDraft{
		PropertyDraft: model.PropertyDraft{Address: model.StringInput("14 Square Rd"), City: model.StringInput("Mandeville"), County: model.StringInput("St. Tammany"), State: model.StringInput("LA")},
		Custom: several("file_number", `"LA-2025-00049"`, "effective_date", `"2026-03-14"`, "legal_description", `"Being Lot 14, Square 3 of the Hebert Tract"`,
			"current_owner", `"Jean de la Houssaye"`, "vesting", `"St. Pierre, Claude J."`, "names_run", `"Houssaye, Jean\nHebert, Paul"`)}
	a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	f.hits = []query.Hit{hit(query.Abstract, a.Abstract.ID)}
	for text, want := range map[string]string{
		"lot 14 square 3":          "Legal Description",
		"de la houssaye":           "Current Owner",
		"st tammany":               "County",
		"hebert":                   "Names Run, Legal Description",
		"jean hebert":              "Names Run",
		"jean de la houssaye 2026": "Current Owner, Effective Date",
		"mandeville hebert lot":    "Legal Description, City",
		"houssaye, tammany":        "County, Current Owner, Names Run",
		`"lot 14" square`:          "Legal Description",
	} {
		var names []string
		for _, part := range strings.Split(marks(look(t, v, search.Query{Text: text}).Hits[0].Snippet), " · ") {
			name, _, _ := strings.Cut(part, ":")
			names = append(names, name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// several are the values of several custom fields.
func several(pairs ...string) model.Custom {
	sent := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		sent[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return model.Custom{Values: sent}
}
