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
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// wantHits checks that a search in the index returns exactly the hits in want, formatted as "type id".
func wantHits(t testing.TB, v *instance.Instance, text string, want ...string) {
	t.Helper()
	if got, err := vaulttest.SearchHits(t, v, text); err != nil || !slices.Equal(got, want) {
		t.Errorf("hits for %q = %v, %v; want %v", text, got, err, want)
	}
}

// addSampleRecords adds the records that the instanceQueries find.
func addSampleRecords(t *testing.T, v *instance.Instance) {
	t.Helper()
	for i := range 6 {
		vaulttest.CreateOrderForProperty(t, v, fmt.Sprintf("26-%04d", i), "2026-06-01", fmt.Sprintf("12-3-%03d", i),
			elmStreet("Troy", "Rensselaer"))
		draft := model.AbstractDraft{Fields: elmStreet("Albany", "Albany"),
			Custom: vaulttest.CustomText("file_number", fmt.Sprintf(`"F-%04d"`, i))}
		deed := vaulttest.StageDocs(t, v, vaulttest.PDFDoc(fmt.Sprintf("Deed Bk%d-Pg7.pdf", 100+i), fmt.Sprint(i)))
		_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, deed, vault.Idempotency[vault.AbstractWithFiles]{})
		if err != nil {
			t.Fatalf("create abstract: %v", err)
		}
		vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(fmt.Sprintf("Plat %s.pdf", []string{"north", "south"}[i%2]), fmt.Sprint("p", i)))
	}
}

var instanceQueries = []string{"26-0003", "26-00", "123004", "12-3-004", "F-0002", "troy", "albany", "elm st", "bk103 pg7", "plat",
	"plat north", "south", "nothing at all"}

// searchAll returns the hits of each of the instanceQueries.
func searchAll(t testing.TB, v *instance.Instance) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, q := range instanceQueries {
		list, err := vaulttest.SearchHits(t, v, q)
		if err != nil {
			t.Fatalf("search for %q: %v", q, err)
		}
		all[q] = strings.Join(list, ", ")
	}
	return all
}

// After any change to a record, searches find the new values and no longer find the old ones.
func TestIndexFollowsChanges(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now = vaulttest.NewClock().Now })
	vaulttest.WaitIndexed(t, v)
	draft := model.AbstractDraft{Fields: elmStreet("Troy", "Rensselaer"), Custom: vaulttest.CustomText("file_number",
		`"26-0017"`)}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft,
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed Bk1022-Pg311.pdf", "1")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	order := vaulttest.CreateOrderForProperty(t, v, "A-77", "", "12-3-045", elmStreet("Troy", "Rensselaer"))
	survey := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Survey.pdf", "2"))[0]
	a, file := created.Abstract.ID, created.Files[0].ID
	idsInCounty := func(county string) (list []string) {
		result, err := v.Search.Index.Search(t.Context(), query.Query{Text: "bk1022", County: county, Limit: 9})
		if err != nil {
			t.Errorf("search in %s: %v", county, err)
		}
		for _, h := range result.Hits {
			list = append(list, fmt.Sprint(h.ID))
		}
		return list
	}
	for _, row := range []struct {
		name   string
		change func() error
		text   string
		want   []string
	}{
		{"create abstract", nil, "26-0017", []string{"abstract 1"}},
		{"create order", nil, "123045", []string{"order 1"}},
		{"upload document", nil, "bk 1022 pg 311", []string{"file 1"}},
		{"change status", func() error {
			_, err := v.Orders.Patch(t.Context(), vaulttest.Operator, order.ID,
				model.OrderPatch{Fields: model.Inputs{"status": model.StringInput("on_hold")}}, vault.Match{})
			return err
		}, "hold", []string{"order 1"}},
		{"rename file", func() error {
			_, err := v.Files.Patch(t.Context(), vaulttest.Operator, survey.ID,
				model.FilePatch{Filename: model.Optional[model.Input]{Present: true, Value: model.StringInput("Easement.pdf")}}, vault.Match{})
			return err
		}, "easement", []string{"file 2"}},
		{"former file name", nil, "survey", nil},
		{"move file", func() error {
			_, err := v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: []uint64{survey.ID}, To: vault.Destination{Folder: 1}})
			return err
		}, "easement", []string{"file 2"}},
		{"trash file", func() error { return v.Files.Trash(t.Context(), vaulttest.Operator, survey.ID, vault.Match{}) }, "easement", nil},
		{"restore file", func() error {
			_, err := v.Files.Restore(t.Context(), vaulttest.Operator, survey.ID, vault.Idempotency[model.File]{})
			return err
		}, "easement", []string{"file 2"}},
		{"trash abstract", func() error { return v.Abstracts.Trash(t.Context(), vaulttest.Operator, a, vault.Match{}) }, "bk1022", nil},
		{"trashed abstract", nil, "26-0017", nil},
		{"restore abstract", func() error {
			_, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, a, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, "bk1022", []string{"file 1"}},
		{"detach file", func() error { return v.Abstracts.Detach(t.Context(), vaulttest.Operator, a, file, vault.Match{}) }, "bk1022", nil},
		{"restore detached file", func() error {
			_, err := v.Files.Restore(t.Context(), vaulttest.Operator, file, vault.Idempotency[model.File]{})
			return err
		}, "bk1022", []string{"file 1"}},
		{"change county", func() error {
			p := model.AbstractPatch{Fields: model.Inputs{"county": model.StringInput("Kings")}}
			_, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, a, p, vault.Match{})
			return err
		}, "kings", []string{"abstract 1"}},
		{"trash order", func() error { return v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}) }, "A-77", nil},
	} {
		ok := t.Run(row.name, func(t *testing.T) {
			if row.change != nil {
				if err := row.change(); err != nil {
					t.Fatalf("change: %v", err)
				}
			}
			vaulttest.WaitIndexed(t, v)
			wantHits(t, v, row.text, row.want...)
		})
		if !ok {
			t.Fatalf("%s failed, and the later rows depend on it", row.name)
		}
	}
	if got := idsInCounty("KINGS"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("files in Kings County = %v, want 1", got)
	}
	if got := idsInCounty("Rensselaer"); len(got) > 0 {
		t.Errorf("files in Rensselaer County = %v, want none", got)
	}
}

func TestIndexFollowsPurge(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now, o.Load = clock.Now, vaulttest.With(map[string]string{"trash.keep": "1h"})
	})
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Survey.pdf", "2"), vaulttest.PDFDoc("Other survey.pdf", "3"))
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, f[0].ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	clock.Advance(2 * time.Hour)
	if err := v.Purger.PurgeExpired(t.Context()); err != nil {
		t.Fatalf("purge: %v", err)
	}
	if s := vaulttest.WaitIndexed(t, v); s.Documents != 1 {
		t.Errorf("Documents = %d, want 1", s.Documents)
	}
	wantHits(t, v, "survey", "file 2")
}

// A running server soon finds new records and the texts that it extracts after an upload. It also finds
// texts that were lost and then extracted again.
func TestChangesAreFoundSoon(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	s := vaulttest.WaitIndexed(t, v)
	if s.Since.IsZero() || s.Documents != 0 {
		t.Errorf("State() of a new index = %+v, want a start time and no documents", s)
	}
	vaulttest.UploadDocs(t, v, vaulttest.TextDoc("Affidavit.txt", "the grantor swears upon oath"))
	took := vaulttest.WaitSearchHits(t, v, "grantor swears", "file 1")
	vaulttest.CreateOrderForProperty(t, v, "A-77", "", "12-3-045", elmStreet("Troy", "Rensselaer"))
	t.Logf("a text after %v, an order after %v", took, vaulttest.WaitSearchHits(t, v, "12.3.045", "order 1"))

	// The text is deleted, and the index is rebuilt. The old index serves searches until the text is extracted again.
	if err := os.RemoveAll(filepath.Join(opts.Dir, "previews")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if err := v.Search.Rebuild(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("rebuild search index: %v", err)
	}
	if s, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); err != nil || !s.Ready {
		t.Errorf("Await() = %+v, %v; want ready", s, err)
	}
	wantHits(t, v, "grantor swears", "file 1")
	vaulttest.WaitTextsRebuilt(t, v)
	wantHits(t, v, "grantor swears", "file 1")
}

// indexFiles returns the paths of the files of the live index.
func indexFiles(t testing.TB, dir string) (list []string) {
	t.Helper()
	current, err := os.ReadFile(filepath.Join(dir, "search", "current"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	live := filepath.Join(dir, "search", strings.TrimSpace(string(current)))
	entries, err := os.ReadDir(live)
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	for _, e := range entries {
		list = append(list, filepath.Join(live, e.Name()))
	}
	return list
}

// A running server replaces a damaged or deleted index, and its searches stay correct while records change.
func TestDamagedIndexOfRunningServer(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"folder deleted": func(dir string) (err error) {
			for range 100 { // a merge may create a file at the same time
				if err = os.RemoveAll(filepath.Join(dir, "search")); err == nil {
					break
				}
			}
			return err
		},
		"files deleted": func(dir string) error {
			for _, path := range indexFiles(t, dir) {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // the server may have renamed it
					return err
				}
			}
			return nil
		},
		"byte changed in each file": func(dir string) error {
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
			addSampleRecords(t, v)
			v.Start(time.Hour)
			vaulttest.WaitIndexed(t, v)
			want := searchAll(t, v)
			if err := damage(opts.Dir); err != nil {
				t.Fatalf("damage index: %v", err)
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
			for _, q := range []string{"26-0003", "plat"} { // any of these queries may detect the damage
				vaulttest.WaitSearchHits(t, v, q, strings.Split(want[q], ", ")...)
			}
			vaulttest.VerifyReport(t, v) // also read the parts of the index that no search has read
			vaulttest.WaitIndexed(t, v)
		})
	}
}

// If an older database replaces the current one, with or without later changes, searches do not return
// hits from the replaced database.
func TestOlderDatabaseInvalidatesIndex(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		served bool // whether a server ran after the copy was made
		after  func(t *testing.T, v *instance.Instance)
	}{
		{"unchanged", false, func(*testing.T, *instance.Instance) {}},
		{"with later changes", false, func(t *testing.T, v *instance.Instance) {
			for n := range 9 {
				vaulttest.CreateOrderForProperty(t, v, fmt.Sprint("B-", n), "", "", elmStreet("", ""))
			}
		}},
		{"served after the copy", true, func(*testing.T, *instance.Instance) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v := vaulttest.OpenUnchecked(t, opts)
			vaulttest.CreateOrderForProperty(t, v, "ALPHA77", "", "", elmStreet("", ""))
			v.Start(time.Hour)
			vaulttest.WaitIndexed(t, v)
			vaulttest.Close(t, v)
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
			wantHits(t, v, "BRAVO88", "order 2")
			vaulttest.Close(t, v)
			if err := os.WriteFile(filepath.Join(opts.Dir, "vault.db"), older, 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			v = vaulttest.OpenUnchecked(t, opts)
			row.after(t, v)
			if row.served {
				v.Start(time.Hour)
			}
			if got, err := vaulttest.SearchHits(t, v, "BRAVO88"); err == nil && len(got) > 0 {
				t.Errorf("hits of the replaced database = %v, want none", got)
			}
			vaulttest.WaitIndexed(t, v)
			wantHits(t, v, "BRAVO88")
			wantHits(t, v, "ALPHA77", "order 1")
			vaulttest.Close(t, v)
		})
	}
}

// A full disk stops indexing but not searches. Indexing resumes once there is free space.
func TestFullDiskStopsIndexing(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.WaitIndexed(t, v)
	vaulttest.CreateOrderForProperty(t, v, "A-1", "", "", elmStreet("", ""))
	v.MinFree = 1 << 62
	if _, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); errs.KindOf(err) != errs.InsufficientStorage {
		t.Errorf("Await: got %v, want InsufficientStorage", err)
	}
	if _, err := vaulttest.SearchHits(t, v, "A-1"); err != nil {
		t.Errorf("search on a full disk: %v", err)
	}
	v.MinFree = 0
	vaulttest.WaitIndexed(t, v)
	wantHits(t, v, "A-1", "order 1")
}

// A search whose client disconnects isn't counted as an error.
func TestCanceledSearchIsCounted(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.WaitIndexed(t, v)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Search.Records(ctx, vaulttest.Operator, search.Query{Text: "troy"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("search: got %v, want context canceled", err)
	}
	n, err := v.Metrics(t.Context())
	if err != nil || n.Searches["canceled"] != 1 || n.Searches["error"] != 0 {
		t.Errorf("Searches = %v, %v; want 1 canceled, 0 error", n.Searches, err)
	}
}

// Searches are counted by outcome, including those of record lists.
func TestSearchesAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	order := vaulttest.CreateOrderForProperty(t, v, "26-100", "", "", elmStreet("Troy", "Rensselaer"))
	find := func(text string, err error, hits ...query.Hit) {
		f.hits, f.err = hits, err
		_, _ = v.Search.Orders(t.Context(), vaulttest.Operator, search.Query{Text: text}, vault.Query{}) // the outcome is counted
	}
	find("elm", nil, hit(query.Order, order.ID))
	find("elm", nil)
	find(" ", nil)
	find("elm", query.ErrDeadline)
	find("elm", &errs.Error{Kind: errs.Unavailable, Err: search.ErrTooManySearches})
	find("elm", &errs.Error{Kind: errs.Unavailable})
	n, err := v.Metrics(t.Context())
	if err != nil || n.SearchSeconds.Count != 2 {
		t.Errorf("SearchSeconds.Count = %d, %v; want 2", n.SearchSeconds.Count, err)
	}
	for _, outcome := range []string{"found", "no_results", "invalid", "timeout", "busy", "no_index"} {
		if n.Searches[outcome] != 1 {
			t.Errorf("Searches[%s] = %d, want 1", outcome, n.Searches[outcome])
		}
	}
}

// The documents of a damaged abstract are still found.
func TestDocumentsOfDamagedAbstractAreFound(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
		model.AbstractDraft{Custom: vaulttest.CustomText("file_number", `"26-1"`)},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("zebra.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	vaulttest.WaitIndexed(t, v)
	vaulttest.NoError(t, v.Close())
	vaulttest.FlipBit(t, filepath.Join(opts.Dir, "vault.db"), "abstracts", 200, false)
	v, err = instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(t, v)
	vaulttest.WaitIndexed(t, v)
	if _, err := v.Abstracts.Get(t.Context(), created.Abstract.ID); err == nil {
		t.Fatal("Abstracts.Get of the damaged abstract succeeded, want an error")
	}
	if page := searchRecords(t, v, search.Query{Text: "zebra"}); len(page.Items) != 1 || page.Items[0].Kind != "file" ||
		page.Items[0].Subheading != "" {
		t.Errorf("page = %+v, want the file without a subheading", page)
	}
}

// A filter selects the same records whether it is applied to the index or to the records.
func TestFiltersOfIndexAndRecordsAgree(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrderForProperty(t, v, "KX100", "", "", elmStreet("Las Cruces", "Doña Ana"))
	vaulttest.WaitIndexed(t, v)
	for county, want := range map[string]int{"DOÑA ana": 1, "Dona Ana": 1, " Doña  Ana County": 1, "Doña": 0, "Anna": 0} {
		t.Run(county, func(t *testing.T) {
			page, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "KX100", County: county})
			if err != nil || len(page.Items) != want || page.Counts["order"] != want {
				t.Errorf("got %d hits, counts %v, %v; want %d", len(page.Items), page.Counts, err, want)
			}
		})
	}
}

// Rebuild adds an entry with the actor to the audit log.
func TestRebuildIsAudited(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if err := v.Search.Rebuild(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("rebuild search index: %v", err)
	}
	vaulttest.WaitIndexed(t, v)
	page, err := v.Events.List(t.Context(),
		vault.Query{Limit: 9, Filters: []vault.Filter{{Column: model.ColumnKind, Value: "search.reindexed"}}})
	if err != nil || len(page.Items) != 1 || page.Items[0].Actor.Name != vaulttest.Operator.Name {
		t.Errorf("audit log entries = %+v, %v; want one by %s", page.Items, err, vaulttest.Operator.Name)
	}
}

// blockingIndex blocks all searches until resume is closed.
type blockingIndex struct {
	search.Index
	started chan struct{} // receives a value from each search
	resume  chan struct{}
}

func (b blockingIndex) Search(context.Context, query.Query) (query.Result, error) {
	b.started <- struct{}{}
	<-b.resume
	return query.Result{}, nil
}

// If an API key and a user have the same ID, their limits on concurrent searches are separate.
func TestActorsHaveSeparateLimits(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Settings.Search = search.Settings{MaxConcurrent: 8, Deadline: 10 * time.Second}
	})
	h := blockingIndex{started: make(chan struct{}), resume: make(chan struct{})}
	v.Search.WrapIndex(func(in search.Index) search.Index { h.Index = in; return h })
	vaulttest.WaitIndexed(t, v)
	var searches sync.WaitGroup
	actors := []model.Actor{{Kind: model.ActorKey, ID: 7}, {Kind: model.ActorUser, ID: 7}}
	for _, actor := range actors {
		for range 5 { // one more than the limit per actor
			searches.Go(func() {
				if _, err := v.Search.Records(t.Context(), actor, search.Query{Text: "deed"}); err != nil {
					t.Errorf("search: %v", err)
				}
			})
		}
	}
	for range 8 {
		<-h.started
	}
	close(h.resume)
	for range 10 - 8 {
		<-h.started
	}
	searches.Wait()
}

// A file at the path of the search folder doesn't prevent the vault from opening. Until the file is
// removed, only searches fail, with an error that includes the path.
func TestFileInPlaceOfIndex(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	path := filepath.Join(opts.Dir, "search")
	if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	v := vaulttest.Open(t, opts)
	vaulttest.CreateOrderForProperty(t, v, "KX100", "", "", elmStreet("", ""))
	v.Start(time.Hour)
	if _, err := v.Search.Await(t.Context(), func(uint64, uint64) {}); errs.KindOf(err) != errs.Unavailable ||
		!strings.Contains(err.Error(), "must be a folder") {
		t.Errorf("Await: got %v, want Unavailable with \"must be a folder\"", err)
	}
	if s, err := v.Search.State(t.Context()); err != nil || s.Ready || !strings.Contains(s.Failure, path) {
		t.Errorf("State() = %+v, %v; want a failure that names %s", s, err, path)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "other" {
		t.Errorf("the file is %q, %v; want it unchanged", raw, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	vaulttest.WaitSearchHits(t, v, "KX100", "order 1")
}
