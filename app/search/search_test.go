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

// fakeIndex returns the hits that a test sets and records the last query.
type fakeIndex struct {
	search.Index
	hits       []query.Hit
	fuzzy      bool
	relaxed    bool
	err        error
	lastQuery  query.Query
	alwaysMore bool // all results have More set
	late       bool // Search returns only after the deadline
}

func (f *fakeIndex) Search(ctx context.Context, q query.Query) (query.Result, error) {
	f.lastQuery = q
	if f.late {
		<-ctx.Done()
	}
	if f.err != nil {
		return query.Result{}, f.err
	}
	result := query.Result{Counts: map[query.Kind]int{}, Fuzzy: f.fuzzy, Relaxed: f.relaxed}
	hits := []query.Hit{}
	for _, h := range f.hits {
		result.Counts[h.Kind]++
		if q.Kind == "" || q.Kind == h.Kind {
			hits = append(hits, h)
		}
	}
	hits = hits[min(q.Offset, len(hits)):]
	result.Hits, result.More = hits[:min(q.Limit, len(hits))], len(hits) > q.Limit || f.alwaysMore
	return result, nil
}

// hit returns a hit whose score decreases with the ID.
func hit(kind query.Kind, id uint64) query.Hit {
	return query.Hit{Kind: kind, ID: id, Score: float64(10 - id)}
}

// pagesReader returns the salt of a test PDF as its text. "|" separates pages.
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

// withFakeIndex starts an instance that extracts texts with pagesReader and searches in a fakeIndex.
func withFakeIndex(t *testing.T) (*instance.Instance, *fakeIndex) {
	t.Helper()
	return withFakeIndexAndDeadline(t, vaulttest.Settings().Search.Deadline)
}

// withFakeIndexAndDeadline does the same as withFakeIndex and sets the search deadline.
func withFakeIndexAndDeadline(t *testing.T, deadline time.Duration) (*instance.Instance, *fakeIndex) {
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

// markedText returns a snippet with brackets around the marked parts.
func markedText(pieces []search.SnippetPiece) string {
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

// searchRecords runs a search as the operator and returns the page of hits.
func searchRecords(t *testing.T, v *instance.Instance, q search.Query) search.Page[search.Hit] {
	t.Helper()
	page, err := v.Search.Records(t.Context(), vaulttest.Operator, q)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return page
}

// hitIDs returns the hits, formatted as "type id".
func hitIDs(page search.Page[search.Hit]) []string {
	list := []string{}
	for _, h := range page.Items {
		list = append(list, fmt.Sprintf("%s %d", h.Kind, h.ID))
	}
	return list
}

func TestSearchRejects(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	for name, row := range map[string]struct {
		q    search.Query
		want string
	}{
		"blank text":     {search.Query{Text: " "}, "The q field is required."},
		"bad characters": {search.Query{Text: "a\x00b"}, "The q field contains invalid characters."},
		"invalid UTF-8":  {search.Query{Text: "a\xffb"}, "The q field contains invalid characters."},
		"too long":       {search.Query{Text: strings.Repeat("ü", 501)}, "The q field must not be greater than 500 characters."},
		"type":           {search.Query{Text: "elm", Kind: "folder"}, "The selected kind is invalid."},
		"text and type":  {search.Query{Kind: "folder"}, "The q field is required. (and 1 more error)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Search.Records(t.Context(), vaulttest.Operator, row.q)
			if errs.KindOf(err) != errs.Invalid || err.Error() != row.want {
				t.Errorf("error = %v, want %s", err, row.want)
			}
		})
	}
	f.err = fmt.Errorf("search: %w", query.ErrDeadline)
	_, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "elm"})
	vaulttest.WantKind(t, "search after the deadline", err, errs.Unavailable)
	_, err = v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: "elm"}, vault.Query{})
	vaulttest.WantKind(t, "list after the deadline", err, errs.Unavailable)
	f.err = &errs.Error{Kind: errs.Unavailable, Message: "The index is being made."}
	if _, err = v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "elm"}); !errors.Is(err, f.err) {
		t.Errorf("search without an index: got %v, want %v", err, f.err)
	}
}

// For the searches of an actor, the audit log has at most one entry per minute. It does not contain the
// searched text.
func TestSearchIsAudited(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	for range 3 {
		searchRecords(t, v, search.Query{Text: "nightingale"})
	}
	if _, err := v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: "nightingale"}, vault.Query{}); err != nil {
		t.Fatalf("Search.Orders: %v", err)
	}
	if _, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: " "}); err == nil {
		t.Error("a search for a blank succeeded, want an error")
	}
	f.err = query.ErrDeadline
	if _, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "nightingale"}); err == nil {
		t.Error("a search after the deadline succeeded, want an error")
	}
	page, err := v.Events.List(t.Context(), vault.Query{Limit: 50})
	entries := 0
	for _, e := range page.Items {
		raw, _ := json.Marshal(e)
		if strings.Contains(string(raw), "nightingale") {
			t.Errorf("the audit log contains the searched text: %s", raw)
		}
		if e.Kind == "search.asked" {
			entries++
		}
	}
	if err != nil || entries != 1 {
		t.Errorf("search entries in the audit log = %d, %v; want 1", entries, err)
	}
}

// Records applies defaults and limits to a query.
func TestSearchQueriesIndex(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	f.alwaysMore = true
	noon, old := time.Date(2026, 5, 29, 12, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		q    search.Query
		want query.Query
		more bool
	}{
		"prefix":         {search.Query{Text: " elm"}, query.Query{Text: "elm", Limit: 25}, true},
		"complete word":  {search.Query{Text: " elm \t"}, query.Query{Text: "elm ", Limit: 25}, true},
		"no-break space": {search.Query{Text: "elm\u00a0"}, query.Query{Text: "elm ", Limit: 25}, true},
		"maximum length": {search.Query{Text: strings.Repeat("elm ", 125)}, query.Query{Text: strings.Repeat("elm ", 125), Limit: 25}, true},
		"trailing blanks": {search.Query{Text: strings.Repeat("elmo", 125) + "  "},
			query.Query{Text: strings.Repeat("elmo", 125) + " ", Limit: 25}, true},
		"empty date range": {search.Query{Text: "elm", Kind: "file", Template: 3, County: "A", State: "B", Status: "C",
			CreatedFrom: noon, CreatedTo: old, Offset: 5, Limit: 7},
			query.Query{}, false}, // there is no day in the range
		"filters": {search.Query{Text: "elm", Kind: "file", Template: 3, County: "A", State: "B", Status: "C", CreatedFrom: old,
			CreatedTo: noon, Offset: 5, Limit: 7},
			query.Query{Text: "elm", Kind: query.File, Template: 3, County: "A", State: "B", Status: "C", CreatedFrom: old,
				CreatedTo: noon, Offset: 5, Limit: 7}, true},
		"from": {search.Query{Text: "elm", CreatedFrom: noon},
			query.Query{Text: "elm", CreatedFrom: noon, Limit: 25}, true},
		"to": {search.Query{Text: "elm", CreatedTo: noon},
			query.Query{Text: "elm", CreatedTo: noon, Limit: 25}, true},
		"last page":            {search.Query{Text: "elm", Offset: 990, Limit: 25}, query.Query{Text: "elm", Offset: 990, Limit: 10}, false},
		"after the last page":  {search.Query{Text: "elm", Offset: 1000}, query.Query{}, false},
		"maximum limit":        {search.Query{Text: "elm", Limit: 1000}, query.Query{Text: "elm", Limit: 100}, true},
		"orders of a template": {search.Query{Text: "elm", Kind: "order", Template: 1}, query.Query{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f.lastQuery = query.Query{}
			page := searchRecords(t, v, row.q)
			if f.lastQuery != row.want || page.Next > 0 != row.more {
				t.Errorf("query = %+v, more %t; want %+v, %t", f.lastQuery, page.Next > 0, row.want, row.more)
			}
		})
	}
}

// Hits show the current records, even if the index has older values.
func TestSearchReadsLiveRecords(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	order := vaulttest.CreateOrderForProperty(t, v, "26-100", "2026-06-01", "12.-3-45", elmStreet("Troy", "Rensselaer"))
	trashed := vaulttest.CreateOrderForProperty(t, v, "26-101", "", "", elmStreet("Troy", "Rensselaer"))
	record := createAbstract(t, v, "F-1", "12.-3-4", elmStreet("Albany", "Albany"))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("elm.pdf", "nothing"))[0]
	f.hits = []query.Hit{hit(query.Order, order.ID), hit(query.Order, trashed.ID), hit(query.Abstract, record.ID),
		hit(query.File, file.ID), hit(query.File, 99)}
	f.fuzzy, f.relaxed = true, true
	page := searchRecords(t, v, search.Query{Text: "elm"})
	if got := hitIDs(page); !slices.Equal(got, []string{"order 1", "order 2", "abstract 1", "file 1"}) || !page.Fuzzy ||
		!page.Relaxed || page.Next > 0 {
		t.Fatalf("hits = %q of %+v, want order 1, order 2, abstract 1, and file 1, fuzzy and relaxed, without more", got, page)
	}
	if c := page.Counts; c["order"] != 2 || c["abstract"] != 1 || c["file"] != 2 || len(c) != 3 {
		t.Errorf("Counts = %v, want 2 orders, 1 abstract, and 2 files", c)
	}
	orderHit, abstractHit, fileHit := page.Items[0], page.Items[2], page.Items[3]
	if orderHit.Heading != "26-100" || orderHit.Subheading != "12 Elm St., Troy, Rensselaer County, NY · 12.-3-45" ||
		orderHit.Status != "active" || orderHit.DueDate != "2026-06-01" || orderHit.Score != 9 {
		t.Errorf("hit = %+v, want order 26-100 at 12 Elm St., Troy", orderHit)
	}
	if markedText(orderHit.Snippet) != "Address: 12 [Elm] St." || orderHit.Page != 0 {
		t.Errorf("snippet of the order = %q on page %d, want \"Address: 12 [Elm] St.\" on 0", markedText(orderHit.Snippet), orderHit.Page)
	}
	if abstractHit.Heading != "F-1" || abstractHit.Status == "" ||
		abstractHit.Subheading != "12 Elm St., Albany, Albany County, NY · 12.-3-4" {
		t.Errorf("hit = %+v, want abstract F-1 at 12 Elm St., Albany", abstractHit)
	}
	if fileHit.Heading != "elm.pdf" || fileHit.File == nil || fileHit.File.ID != file.ID ||
		markedText(fileHit.Snippet) != "[elm].pdf" || fileHit.Page != 0 {
		t.Errorf("hit = %+v, want elm.pdf", fileHit)
	}
	// Trashed records disappear from the hits before the index is updated.
	if err := v.Orders.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}); err != nil {
		t.Fatalf("move order to trash: %v", err)
	}
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	if got := hitIDs(searchRecords(t, v, search.Query{Text: "elm"})); !slices.Equal(got, []string{"order 1", "abstract 1"}) {
		t.Errorf("hits outside the trash = %q, want order 1 and abstract 1", got)
	}
	created := order.CreatedAt
	for name, q := range map[string]search.Query{
		"county":   {County: "Saratoga"},
		"state":    {State: "VT"},
		"status":   {Status: "completed"},
		"template": {Template: 99},
		"before":   {CreatedTo: created.Add(-time.Microsecond)},
		"since":    {CreatedFrom: created.Add(time.Microsecond)},
	} {
		q.Text = "elm"
		t.Run(name, func(t *testing.T) {
			if got := hitIDs(searchRecords(t, v, q)); len(got) != 0 {
				t.Errorf("hits = %q, want none", got)
			}
		})
	}
	all := search.Query{Text: "elm", County: " ALBANY county", State: "New York", Status: abstractHit.Status,
		Template: record.TemplateID, CreatedFrom: created, CreatedTo: created}
	if got := hitIDs(searchRecords(t, v, all)); !slices.Equal(got, []string{"abstract 1"}) {
		t.Errorf("hits with all filters = %q, want abstract 1", got)
	}
}

// A document of an abstract has the property, template, and status of the abstract. Its subheading is
// the heading of the abstract.
func TestSearchDocumentsOfAbstract(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	draft := model.AbstractDraft{Fields: elmStreet("Troy", "Rensselaer"), Custom: vaulttest.CustomText("file_number",
		`"F-7"`)}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft,
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("deed.pdf", "nothing|of elm")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	file := created.Files[0]
	vaulttest.ProcessingFailure(t, v, file.ID)
	f.hits = []query.Hit{hit(query.File, file.ID)}
	page := searchRecords(t, v, search.Query{Text: "elm", Kind: "file", County: "rensselaer", Template: created.Abstract.TemplateID})
	if len(page.Items) != 1 {
		t.Fatalf("page = %+v, want one hit", page)
	}
	if h := page.Items[0]; h.Subheading != "F-7" || h.AbstractID != created.Abstract.ID || markedText(h.Snippet) != "of [elm]" || h.Page != 2 {
		t.Errorf("hit = %+v, want \"of [elm]\" on page 2 of abstract F-7", h)
	}
	for name, q := range map[string]search.Query{"other county": {County: "Albany"}, "status": {Status: created.Abstract.Status}} {
		q.Text = "elm"
		t.Run(name, func(t *testing.T) {
			if got := searchRecords(t, v, q); len(got.Items) != 0 {
				t.Errorf("hits = %+v, want none", got.Items)
			}
		})
	}
}

func TestSearchSnippetOfText(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
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
		{"g.pdf", "the elm|" + strings.Repeat("x", 1<<16) + "|elm oak", "the [elm]", 1}, // the later page is beyond snippetAfter
		{"b.pdf", "<script>elm</script>", "<script>[elm]</script>", 1},
		{"c.pdf", "nothing", "", 0},
		{"d.pdf", far, "", 0}, // beyond the limit
	} {
		t.Run(fmt.Sprintf("%s %.20s", row.name, row.text), func(t *testing.T) {
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(row.name, row.text))[0]
			vaulttest.ProcessingFailure(t, v, file.ID)
			f.hits = []query.Hit{hit(query.File, file.ID)}
			h := searchRecords(t, v, search.Query{Text: "elm oak"}).Items[0]
			if got := markedText(h.Snippet); got != row.want || h.Page != row.page {
				t.Errorf("snippet = %q on page %d, want %q on %d", got, h.Page, row.want, row.page)
			}
		})
	}
	// A hit for a document without stored text has no snippet.
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("e.pdf", "elm"))[0]
	vaulttest.ProcessingFailure(t, v, file.ID)
	if err := v.Vault.Previews.Remove(file.Digest); err != nil {
		t.Fatalf("remove previews: %v", err)
	}
	f.hits = []query.Hit{hit(query.File, file.ID)}
	if h := searchRecords(t, v, search.Query{Text: "elm"}).Items[0]; h.Snippet != nil || h.Page != 0 {
		t.Errorf("hit = %+v, want no snippet", h)
	}
}

// If the deadline passes after the index has returned hits, the hits are returned without snippets.
func TestSearchReturnsHitsAtDeadline(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndexAndDeadline(t, 50*time.Millisecond)
	id := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("elm.pdf", "an elm"))[0].ID
	vaulttest.ProcessingFailure(t, v, id)
	f.hits, f.late = []query.Hit{hit(query.File, id)}, true
	page := retryUnavailable(t, func() (search.Page[search.Hit], error) {
		return v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "elm"})
	})
	if len(page.Items) != 1 || page.Items[0].ID != id || page.Items[0].Snippet != nil {
		t.Errorf("Records() = %+v, want file %d without a snippet", page, id)
	}
	list := retryUnavailable(t, func() (search.Page[model.File], error) {
		return v.Search.Files(t.Context(), vaulttest.Operator, search.Query{Text: "elm"}, vault.Query{})
	})
	if len(list.Items) != 1 || list.Items[0].ID != id {
		t.Errorf("Files() = %+v, want file %d", list, id)
	}
}

// Creating a snippet stops at the deadline of the search, even in the middle of a page. The hit then
// has no snippet.
func TestSearchSnippetStopsAtDeadline(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndexAndDeadline(t, 20*time.Millisecond)
	var text strings.Builder
	for letter := 'a'; letter <= 'z'; letter++ {
		fmt.Fprintf(&text, "grant%cr ", letter)
	}
	id := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", strings.Repeat("grounds and parish of ", 1<<20/22)+"grantar"))[0].ID
	vaulttest.ProcessingFailure(t, v, id)
	f.hits, f.fuzzy = []query.Hit{hit(query.File, id)}, true
	page := retryUnavailable(t, func() (search.Page[search.Hit], error) {
		return v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: text.String()})
	})
	if len(page.Items) != 1 || page.Items[0].Snippet != nil {
		t.Errorf("Records() = %+v, want one hit without a snippet", page)
	}
}

// retryUnavailable repeats a search while its deadline passes before it starts.
func retryUnavailable[T any](t *testing.T, find func() (T, error)) (found T) {
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

// Each page of complete records continues at Next, regardless of whether the limit or the maximum
// size ended the previous page.
func TestSearchLists(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
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
	first, err := v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: "elm", Limit: 1}, vault.Query{})
	if err != nil || first.Bytes == 0 {
		t.Fatalf("Orders() = %+v, %v; want the size of the page", first, err)
	}
	for name, row := range map[string]struct {
		q        search.Query
		maxBytes int
	}{
		"pages of one":         {search.Query{Limit: 1}, 0},
		"pages of three":       {search.Query{Limit: 3}, 0},
		"one page":             {search.Query{Limit: 100, Kind: "file"}, 0},
		"pages of two by size": {search.Query{Limit: 100}, 2*first.Bytes + 10},
		"pages of one by size": {search.Query{Limit: 100}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			q := row.q
			for q.Text = "elm"; ; {
				page, err := v.Search.Orders(t.Context(), vaulttest.Operator, q, vault.Query{MaxBytes: row.maxBytes})
				if err != nil {
					t.Fatalf("search for orders: %v", err)
				}
				if page.Offset != q.Offset || row.maxBytes > 1 && len(page.Items) > 2 ||
					page.Truncated != (row.maxBytes > 0 && page.Next > 0) {
					t.Errorf("page at offset %d = %+v, want Truncated only if the size ended it", q.Offset, page)
				}
				for _, o := range page.Items {
					got = append(got, o.Number)
				}
				if q.Offset = page.Next; page.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("orders = %q, want %q", got, want)
			}
		})
	}
	for name, q := range map[string]search.Query{
		"other county": {County: "Albany"},
		"other state":  {State: "OH"},
		"later time":   {CreatedFrom: time.Now().AddDate(10, 0, 0)},
	} {
		q.Text = "elm"
		t.Run(name, func(t *testing.T) {
			if page, err := v.Search.Orders(t.Context(), vaulttest.Operator, q, vault.Query{}); err != nil || len(page.Items) != 0 {
				t.Errorf("Orders() = %+v, %v; want none", page, err)
			}
		})
	}
	a := createAbstract(t, v, "F-1", "", elmStreet("Troy", "Rensselaer"))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "elm"))[0]
	f.hits = []query.Hit{hit(query.Abstract, a.ID), hit(query.File, file.ID)}
	q := search.Query{Text: "elm", County: "Rensselaer County", State: "new york", Template: a.TemplateID, Status: a.Status}
	abstracts, err := v.Search.Abstracts(t.Context(), vaulttest.Operator, q, vault.Query{})
	if err != nil || len(abstracts.Items) != 1 || abstracts.Items[0].Abstract.ID != a.ID {
		t.Errorf("Abstracts() = %+v, %v; want abstract %d", abstracts, err, a.ID)
	}
	files, err := v.Search.Files(t.Context(), vaulttest.Operator, search.Query{Text: "elm"}, vault.Query{})
	if err != nil || len(files.Items) != 1 || files.Items[0].ID != file.ID {
		t.Errorf("Files() = %+v, %v; want file %d", files, err, file.ID)
	}
}

// A snippet has an ellipsis at the start or end only if the text continues there.
func TestSearchSnippetHasEllipses(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	long := strings.Repeat(" parties hereto", 40)
	for _, row := range []struct {
		name, text    string
		before, after bool
	}{
		{"complete text", "\u00a0the elm \n", false, false},
		{"at the start", "the elm" + long, false, true},
		{"at the end", long + " the elm", true, false},
		{"in the middle", long + " the elm" + long, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(row.name+".pdf", row.text))[0]
			vaulttest.ProcessingFailure(t, v, file.ID)
			draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(row.name)},
				Custom: vaulttest.CustomText("notes", fmt.Sprintf("%q", row.text))}
			order, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{})
			if err != nil {
				t.Fatalf("create order: %v", err)
			}
			f.hits = []query.Hit{hit(query.File, file.ID), hit(query.Order, order.ID)}
			for _, h := range searchRecords(t, v, search.Query{Text: "elm"}).Items {
				got := strings.TrimPrefix(markedText(h.Snippet), "Notes: ")
				if !strings.Contains(got, "[elm]") || strings.HasPrefix(got, "… ") != row.before ||
					strings.HasSuffix(got, " …") != row.after || strings.Count(got, "…") > 2 {
					t.Errorf("snippet of the %s = %q, want [elm] with ellipsis before %v, after %v", h.Kind, got, row.before, row.after)
				}
			}
		})
	}
}

// Only the start of a long field is searched for matches. The snippet ends at a character boundary.
func TestSearchSnippetOfLongField(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	for _, row := range []struct{ name, text, want string }{
		{"before the limit", strings.Repeat("é", 20_000) + " elm", "[elm]"},
		{"after the limit", strings.Repeat("é", 40_000) + " elm", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("26-1")},
				Custom: vaulttest.CustomText("notes", fmt.Sprintf("%q", row.text))}
			order, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{})
			if err != nil {
				t.Fatalf("create order: %v", err)
			}
			f.hits = []query.Hit{hit(query.Order, order.ID)}
			h := searchRecords(t, v, search.Query{Text: "elm"}).Items[0]
			if got := markedText(h.Snippet); !strings.Contains(got, row.want) || row.want == "" && got != "" || !utf8.ValidString(got) {
				t.Errorf("snippet = %.100q, want %q in valid UTF-8", got, row.want)
			}
		})
	}
}

// The snippet of a record has the labels and values of the matching fields.
func TestSearchSnippetNamesFields(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	draft := model.OrderDraft{Fields: vaulttest.MergeInputs(elmStreet("Troy", "Rensselaer"),
		model.Inputs{"order_number": model.StringInput("26-1")}),
		Custom: customValues("buyer_borrower", `"Johnson, Carl"`, "notes", `"for Johnson"`, "client", `"Johnson & Sons"`,
			"seller_owner", `"Johnson"`, "underwriter", `"None"`)}
	order, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
		model.AbstractDraft{Custom: customValues("current_owner", `"Johnson, Carl"`, "file_number", `"F-77"`)},
		vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	f.hits = []query.Hit{hit(query.Order, order.ID), hit(query.Abstract, a.Abstract.ID)}
	for _, row := range []struct{ text, order, abstract string }{
		{"johnson", "Client: [Johnson] & Sons · Buyer/Borrower: [Johnson], Carl · Seller/Owner: [Johnson]", "Current Owner: [Johnson], Carl"},
		{"troy", "City: [Troy]", ""},
		{"26-1", "Order #: [26-1]", ""},
		{"carl f-77", "Buyer/Borrower: Johnson, [Carl]", "File Number: [F-77] · Current Owner: Johnson, [Carl]"},
		{"absent", "", ""},
	} {
		t.Run(row.text, func(t *testing.T) {
			page := searchRecords(t, v, search.Query{Text: row.text})
			if got := markedText(page.Items[0].Snippet); got != row.order {
				t.Errorf("snippet of the order = %q, want %q", got, row.order)
			}
			if got := markedText(page.Items[1].Snippet); got != row.abstract {
				t.Errorf("snippet of the abstract = %q, want %q", got, row.abstract)
			}
		})
	}
}

// If one field contains all words, the snippet shows only that field. Otherwise, the fields with the
// most words come first, and fields that add no words are omitted.
func TestSearchSnippetChoosesFields(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	draft := model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput("14 Square Rd"),
		"city": model.StringInput("Mandeville"), "county": model.StringInput("St. Tammany"),
		"state": model.StringInput("LA")},
		Custom: customValues("file_number", `"LA-2025-00049"`, "effective_date", `"2026-03-14"`, "legal_description",
			`"Being Lot 14, Square 3 of the Hebert Tract"`,
			"current_owner", `"Jean de la Houssaye"`, "vesting", `"St. Pierre, Claude J."`, "names_run", `"Houssaye, Jean\nHebert, Paul"`)}
	a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
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
		t.Run(text, func(t *testing.T) {
			var labels []string
			snippet := markedText(searchRecords(t, v, search.Query{Text: text}).Items[0].Snippet)
			for _, part := range strings.Split(snippet, " · ") {
				label, _, _ := strings.Cut(part, ":")
				labels = append(labels, label)
			}
			if got := strings.Join(labels, ", "); got != want {
				t.Errorf("fields = %s, want %s", got, want)
			}
		})
	}
}

// customValues returns custom field values from pairs of key and JSON value.
func customValues(pairs ...string) model.Custom {
	values := model.Inputs{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = model.JSONInput(pairs[i+1])
	}
	return model.Custom{Values: values}
}
