package search_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func finds(t testing.TB, v *instance.Instance, text string, want ...string) {
	t.Helper()
	if got, err := vaulttest.SearchHits(t, v, text); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q finds %v, %v; want %v", text, got, err, want)
	}
}

func shut(t testing.TB, v *instance.Instance) {
	t.Helper()
	if err := v.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// furnished is a vault of some records, and questions about them.
func furnished(t *testing.T, v *instance.Instance) (questions []string) {
	t.Helper()
	for i := range 6 {
		vaulttest.CreateOrderForProperty(t, v, fmt.Sprintf("26-%04d", i), "2026-06-01", fmt.Sprintf("12-3-%03d", i), elmStreet("Troy", "Rensselaer"))
		draft := model.AbstractDraft{PropertyDraft: elmStreet("Albany", "Albany"), Custom: vaulttest.CustomText("file_number", fmt.Sprintf(`"F-%04d"`, i))}
		_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, vaulttest.PDFDoc(fmt.Sprintf("Deed Bk%d-Pg7.pdf", 100+i), fmt.Sprint(i))), vault.Idempotency[vault.AbstractWithFiles]{})
		if err != nil {
			t.Fatalf("create abstract: %v", err)
		}
		vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(fmt.Sprintf("Plat %s.pdf", []string{"north", "south"}[i%2]), fmt.Sprint("p", i)))
	}
	return questions6
}

var questions6 = []string{"26-0003", "26-00", "123004", "12-3-004", "F-0002", "troy", "albany", "elm st", "bk103 pg7", "plat", "plat north", "south", "nothing at all"}

func answers(t testing.TB, v *instance.Instance, questions []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, q := range questions {
		list, err := vaulttest.SearchHits(t, v, q)
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		all[q] = strings.Join(list, ", ")
	}
	return all
}

func TestTheIndexFollowsEveryVerb(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now = vaulttest.NewClock().Now })
	vaulttest.WaitIndexed(t, v)
	filed, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{PropertyDraft: elmStreet("Troy", "Rensselaer"), Custom: vaulttest.CustomText("file_number", `"26-0017"`)},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed Bk1022-Pg311.pdf", "1")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	o := vaulttest.CreateOrderForProperty(t, v, "A-77", "", "12-3-045", elmStreet("Troy", "Rensselaer"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Survey.pdf", "2"))[0]
	a, file := filed.Abstract.ID, filed.Files[0].ID
	in := func(county string) (list []string) {
		answer, err := v.Search.SearchIndex(t.Context(), query.Query{Text: "bk1022", County: county, Limit: 9})
		if err != nil {
			t.Errorf("Search.SearchIndex: %v", err)
		}
		for _, h := range answer.Hits {
			list = append(list, fmt.Sprint(h.ID))
		}
		return list
	}
	for _, row := range []struct {
		name string
		do   func() error
		text string
		want []string
	}{
		{"made", nil, "26-0017", []string{"abstract 1"}},
		{"an order", nil, "123045", []string{"order 1"}},
		{"a document", nil, "bk 1022 pg 311", []string{"file 1"}},
		{"a status", func() error {
			_, err := v.Orders.Patch(t.Context(), vaulttest.Operator, o.ID, model.OrderPatch{Status: model.Optional[model.Input]{Present: true, Value: model.StringInput("on_hold")}}, vault.Match{})
			return err
		}, "hold", []string{"order 1"}},
		{"a new name", func() error {
			_, err := v.Files.Patch(t.Context(), vaulttest.Operator, loose.ID, model.FilePatch{Filename: model.Optional[model.Input]{Present: true, Value: model.StringInput("Easement.pdf")}}, vault.Match{})
			return err
		}, "easement", []string{"file 2"}},
		{"the old name", nil, "survey", nil},
		{"moved", func() error {
			_, _, err := v.Files.Move(t.Context(), vaulttest.Operator, []uint64{loose.ID}, 1)
			return err
		}, "easement", []string{"file 2"}},
		{"in the trash", func() error { return v.Files.Trash(t.Context(), vaulttest.Operator, loose.ID, vault.Match{}) }, "easement", nil},
		{"back", func() error {
			_, err := v.Files.Restore(t.Context(), vaulttest.Operator, loose.ID, vault.Idempotency[model.File]{})
			return err
		}, "easement", []string{"file 2"}},
		{"an abstract in the trash", func() error { return v.Abstracts.Trash(t.Context(), vaulttest.Operator, a, vault.Match{}) }, "bk1022", nil},
		{"itself", nil, "26-0017", nil},
		{"an abstract back", func() error {
			_, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, a, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, "bk1022", []string{"file 1"}},
		{"taken off", func() error { return v.Abstracts.Detach(t.Context(), vaulttest.Operator, a, file, vault.Match{}) }, "bk1022", nil},
		{"put back", func() error {
			_, err := v.Files.Restore(t.Context(), vaulttest.Operator, file, vault.Idempotency[model.File]{})
			return err
		}, "bk1022", []string{"file 1"}},
		{"another county", func() error {
			p := model.AbstractPatch{PropertyPatch: model.PropertyPatch{County: model.Optional[model.Input]{Present: true, Value: model.StringInput("Kings")}}}
			_, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, a, p, vault.Match{})
			return err
		}, "kings", []string{"abstract 1"}},
		{"an order in the trash", func() error { return v.Orders.Trash(t.Context(), vaulttest.Operator, o.ID, vault.Match{}) }, "A-77", nil},
	} {
		if row.do != nil {
			if err := row.do(); err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
		}
		vaulttest.WaitIndexed(t, v)
		if got, err := vaulttest.SearchHits(t, v, row.text); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%s: %q finds %v, %v; want %v", row.name, row.text, got, err, row.want)
		}
	}
	if got := in("KINGS"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("the document is found in Kings: %v", got)
	}
	if got := in("Rensselaer"); len(got) > 0 {
		t.Errorf("the document is found in Rensselaer: %v", got)
	}
}

func TestAPurgeIsFollowed(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now, o.Settings.TrashKeep = clock.Now, time.Hour })
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Survey.pdf", "2"), vaulttest.PDFDoc("Other survey.pdf", "3"))
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, f[0].ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	clock.Advance(2 * time.Hour)
	if err := v.Purge(t.Context()); err != nil {
		t.Fatalf("purge: %v", err)
	}
	if s := vaulttest.WaitIndexed(t, v); s.Documents != 1 {
		t.Errorf("%d documents", s.Documents)
	}
	finds(t, v, "survey", "file 2")
}

// Text that is made after the upload, and text that was lost and is made again, is
// found; so is all that a server is told within its time.
func TestWhatAServerIsToldIsFoundSoon(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	s := vaulttest.WaitIndexed(t, v)
	if s.Since.IsZero() || s.Documents != 0 {
		t.Errorf("%+v", s)
	}
	vaulttest.UploadDocs(t, v, vaulttest.TextDoc("Affidavit.txt", "the grantor swears upon oath"))
	took := vaulttest.WaitSearchHits(t, v, "grantor swears", "file 1")
	vaulttest.CreateOrderForProperty(t, v, "A-77", "", "12-3-045", elmStreet("Troy", "Rensselaer"))
	t.Logf("a text after %v, an order after %v", took, vaulttest.WaitSearchHits(t, v, "12.3.045", "order 1"))

	// The text goes, and the index is made anew: the old one answers until it is there
	// again.
	if err := os.RemoveAll(filepath.Join(opts.Dir, "previews")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if err := v.Search.Rebuild(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("rebuild search index: %v", err)
	}
	if s, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); err != nil || !s.Ready {
		t.Errorf("%+v, %v", s, err)
	}
	finds(t, v, "grantor swears", "file 1")
	vaulttest.WaitTextsRebuilt(t, v)
	finds(t, v, "grantor swears", "file 1")
}

// indexFiles are those of the index in force.
func indexFiles(t testing.TB, dir string) (list []string) {
	t.Helper()
	current, err := os.ReadFile(filepath.Join(dir, "search", "current"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	folder := filepath.Join(dir, "search", strings.TrimSpace(string(current)))
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	for _, e := range entries {
		list = append(list, filepath.Join(folder, e.Name()))
	}
	return list
}

// The same while a server answers from it, and records go on changing.
func TestAnIndexThatIsDamagedUnderAServer(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(dir string) error{
		"the folder goes": func(dir string) (err error) {
			for range 100 { // a merge may put a file there meanwhile
				if err = os.RemoveAll(filepath.Join(dir, "search")); err == nil {
					break
				}
			}
			return err
		},
		"its files go": func(dir string) error {
			for _, path := range indexFiles(t, dir) {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a server renames
					return err
				}
			}
			return nil
		},
		"every file has another byte": func(dir string) error {
			for _, path := range indexFiles(t, dir) {
				if err := vaulttest.FlipByte(0.5)(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Search.CacheSize = 1 })
			questions := furnished(t, v)
			v.Start(time.Hour)
			vaulttest.WaitIndexed(t, v)
			want := answers(t, v, questions)
			if err := do(opts.Dir); err != nil {
				t.Fatalf("do: %v", err)
			}
			for q, list := range want {
				if list == "" {
					vaulttest.WaitSearchHits(t, v, q)
				} else {
					vaulttest.WaitSearchHits(t, v, q, strings.Split(list, ", ")...)
				}
			}
			vaulttest.CreateOrderForProperty(t, v, "99-1", "", "", elmStreet("", ""))
			vaulttest.WaitSearchHits(t, v, "99-1", "order 7")
			vaulttest.WaitIndexed(t, v)
			for _, q := range []string{"26-0003", "plat"} { // each may be the one that meets the damage
				vaulttest.WaitSearchHits(t, v, q, strings.Split(want[q], ", ")...)
			}
			vaulttest.VerifyReport(t, v) // which meets what no search has met
			vaulttest.WaitIndexed(t, v)
		})
	}
}

// A database of another day that is put back by hand, older or gone on from there, is
// noticed before it answers.
func TestADatabaseOfAnotherDay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		served bool // a server began after the copy was made
		after  func(t *testing.T, v *instance.Instance)
	}{
		{"as it was", false, func(*testing.T, *instance.Instance) {}},
		{"gone on", false, func(t *testing.T, v *instance.Instance) {
			for n := range 9 {
				vaulttest.CreateOrderForProperty(t, v, fmt.Sprint("B-", n), "", "", elmStreet("", ""))
			}
		}},
		{"served since", true, func(*testing.T, *instance.Instance) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v := vaulttest.OpenUnchecked(t, opts)
			vaulttest.CreateOrderForProperty(t, v, "ALPHA77", "", "", elmStreet("", ""))
			v.Start(time.Hour)
			vaulttest.WaitIndexed(t, v)
			shut(t, v)
			older, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			v = vaulttest.OpenUnchecked(t, opts)
			vaulttest.CreateOrderForProperty(t, v, "BRAVO88", "", "", elmStreet("", ""))
			if row.served {
				v.Start(time.Hour)
			}
			vaulttest.WaitIndexed(t, v)
			finds(t, v, "BRAVO88", "order 2")
			shut(t, v)
			if err := os.WriteFile(filepath.Join(opts.Dir, "vault.db"), older, 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			v = vaulttest.OpenUnchecked(t, opts)
			row.after(t, v)
			if row.served {
				v.Start(time.Hour)
			}
			if got, err := vaulttest.SearchHits(t, v, "BRAVO88"); err == nil && len(got) > 0 {
				t.Errorf("it finds %v", got)
			}
			vaulttest.WaitIndexed(t, v)
			finds(t, v, "BRAVO88")
			finds(t, v, "ALPHA77", "order 1")
			shut(t, v)
		})
	}
}

// A full disk stops the index with a reason, and nothing else; then it goes on.
func TestAFullDiskStopsTheIndex(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.WaitIndexed(t, v)
	vaulttest.CreateOrderForProperty(t, v, "A-1", "", "", elmStreet("", ""))
	v.MinFree = 1 << 62
	if _, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); errs.KindOf(err) != errs.InsufficientStorage {
		t.Errorf("said %v", err)
	}
	if _, err := vaulttest.SearchHits(t, v, "A-1"); err != nil {
		t.Errorf("what it knows: %v", err)
	}
	v.MinFree = 0
	vaulttest.WaitIndexed(t, v)
	finds(t, v, "A-1", "order 1")
}

// Whoever leaves before the answer is no trouble of ours.
func TestASearchThatIsLeftIsCountedSo(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.WaitIndexed(t, v)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := v.Search.Records(ctx, vaulttest.Operator, search.Query{Text: "troy"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("said %v", err)
	}
	n, err := v.Metrics(t.Context())
	if err != nil || n.Searches["left"] != 1 || n.Searches["trouble"] != 0 {
		t.Errorf("%v, %v", n.Searches, err)
	}
}

// Every search is counted, be it of a list, and by what became of it.
func TestEverySearchIsCounted(t *testing.T) {
	t.Parallel()
	v, f := searched(t)
	o := vaulttest.CreateOrderForProperty(t, v, "26-100", "", "", elmStreet("Troy", "Rensselaer"))
	list := func(text string, err error, hits ...query.Hit) {
		f.hits, f.err = hits, err
		_, _ = v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: text}) // what became of it is counted
	}
	list("elm", nil, hit(query.Order, o.ID))
	list("elm", nil)
	list(" ", nil)
	list("elm", query.ErrDeadline)
	list("elm", &errs.Error{Kind: errs.Unavailable, Err: search.ErrTooManySearches})
	list("elm", &errs.Error{Kind: errs.Unavailable})
	n, err := v.Metrics(t.Context())
	if err != nil || n.SearchSeconds.Count != 2 {
		t.Errorf("%d were answered, %v", n.SearchSeconds.Count, err)
	}
	for _, outcome := range []string{"found", "nothing", "refused", "deadline", "busy", "no_index"} {
		if n.Searches[outcome] != 1 {
			t.Errorf("%s: %d, want 1", outcome, n.Searches[outcome])
		}
	}
}

// Documents of an abstract that is damaged are found.
func TestADamagedAbstractHidesNoDocument(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	made, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{Custom: vaulttest.CustomText("file_number", `"26-1"`)}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("zebra.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	vaulttest.WaitIndexed(t, v)
	vaulttest.NoError(t, v.Close())
	vaulttest.FlipBit(t, filepath.Join(opts.Dir, "vault.db"), "abstracts", 200, false)
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	vaulttest.WaitIndexed(t, v)
	if _, err := v.Abstracts.Get(t.Context(), made.Abstract.ID); err == nil {
		t.Fatal("the abstract is not damaged")
	}
	if page := look(t, v, search.Query{Text: "zebra"}); len(page.Hits) != 1 || page.Hits[0].Kind != "file" || page.Hits[0].Subheading != "" {
		t.Errorf("%+v", page)
	}
}

// The index and the records agree about what a filter means.
func TestFiltersCompareInOneWay(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrderForProperty(t, v, "KX100", "", "", elmStreet("Las Cruces", "Doña Ana"))
	vaulttest.WaitIndexed(t, v)
	for county, want := range map[string]int{"DOÑA ana": 1, "Dona Ana": 1, " Doña  Ana County": 1, "Doña": 0, "Anna": 0} {
		page, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "KX100", County: county})
		if err != nil || len(page.Hits) != want || page.Counts["order"] != want {
			t.Errorf("%q: %d hits, counts %v, %v; want %d", county, len(page.Hits), page.Counts, err, want)
		}
	}
}

// Whoever asks for a new index stands in the log.
func TestANewIndexIsAnEvent(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if err := v.Search.Rebuild(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("rebuild search index: %v", err)
	}
	vaulttest.WaitIndexed(t, v)
	page, err := v.Events.List(t.Context(), vault.Query{Limit: 9, Filters: []vault.Filter{{Column: store.ColumnKind, Value: "search.reindexed"}}})
	if err != nil || len(page.Items) != 1 || page.Items[0].Actor.Name != vaulttest.Operator.Name {
		t.Errorf("the log says %+v, %v", page.Items, err)
	}
}

// blockingIndex is an index in which searches stay until they are let go.
type blockingIndex struct {
	search.Index
	inside, goOn chan struct{} // one for each that comes in; closed
}

func (h blockingIndex) Search(context.Context, query.Query) (query.Result, error) {
	h.inside <- struct{}{}
	<-h.goOn
	return query.Result{}, nil
}

// A key, a user and an address have each their own share of the searches at once.
func TestEachAskerHasAShare(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Settings.Search = search.Settings{MaxConcurrent: 8, Deadline: 10 * time.Second}
	})
	h := blockingIndex{inside: make(chan struct{}), goOn: make(chan struct{})}
	v.Search.WrapIndex(func(in search.Index) search.Index { h.Index = in; return h })
	vaulttest.WaitIndexed(t, v)
	var all sync.WaitGroup
	actors := []model.Actor{{Kind: model.ActorKey, ID: 7}, {Kind: model.ActorUser, ID: 7}}
	for _, actor := range actors {
		for range 5 { // one more than his share
			all.Go(func() {
				if _, err := v.Search.Records(t.Context(), actor, search.Query{Text: "deed"}); err != nil {
					t.Errorf("search: %v", err)
				}
			})
		}
	}
	for range 8 {
		<-h.inside
	}
	close(h.goOn)
	for range 10 - 8 {
		<-h.inside
	}
	all.Wait()
}

// A file in the place of the index keeps nobody from opening the vault; search alone says
// what is in the way, and is back when it is gone.
func TestAFileInPlaceOfTheIndex(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	path := filepath.Join(opts.Dir, "search")
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	v := vaulttest.Open(t, opts)
	vaulttest.CreateOrderForProperty(t, v, "KX100", "", "", elmStreet("", ""))
	v.Start(time.Hour)
	if _, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); errs.KindOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "must be a folder") {
		t.Errorf("said %v", err)
	}
	if s, err := v.Search.State(t.Context()); err != nil || s.Ready || !strings.Contains(s.Failure, path) {
		t.Errorf("%+v, %v", s, err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "theirs" {
		t.Errorf("the file is %q, %v", raw, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	vaulttest.WaitSearchHits(t, v, "KX100", "order 1")
}
