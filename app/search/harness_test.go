package search_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// site is a directory with a database and an index. It can be reopened after it is closed.
type site struct {
	dir           string
	texts         sync.Map // text of each document, by digest
	free, reserve atomic.Uint64
	change        func(*search.IndexerOptions)
}

// newSite returns an empty site. If change is not nil, it adjusts the options of the indexer.
func newSite(t testing.TB, change func(*search.IndexerOptions)) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), change: change}
	s.free.Store(1 << 40)
	return s
}

// search returns the path of names in the search folder.
func (s *site) search(names ...string) string {
	return filepath.Join(append([]string{s.dir, "search"}, names...)...)
}

// harness is an open site with its indexer.
type harness struct {
	*search.Indexer
	t     testing.TB
	site  *site
	store *store.Store
	opts  search.IndexerOptions
	stop  context.CancelFunc
	ended sync.WaitGroup
}

var testTime = time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)

// open opens the site. Close it with closeAll.
func (s *site) open(t testing.TB) *harness {
	t.Helper()
	now := func() time.Time { return testTime }
	db, err := store.Open(t.Context(), filepath.Join(s.dir, "vault.db"),
		store.Options{Now: now, Fingerprint: "x", Workspace: model.NewWorkspace()})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	h := &harness{t: t, site: s, store: db, stop: func() {}}
	h.opts = search.IndexerOptions{
		Dir: s.search(), Store: db, ReadText: s.text, Now: now, Log: slog.New(slog.DiscardHandler),
		FreeSpace: func() (free, reserve uint64, err error) { return s.free.Load(), s.reserve.Load(), nil },
		Yield:     func(context.Context, time.Duration) {},
	}
	if s.change != nil {
		s.change(&h.opts)
	}
	h.Indexer = search.NewIndexer(h.opts)
	return h
}

// text passes the text of a document to page.
func (s *site) text(digest string, page func(int, string) error) error {
	text, ok := s.texts.Load(digest)
	if !ok {
		return fs.ErrNotExist
	}
	return page(1, text.(string))
}

// open opens a new site and closes it at the end of the test.
func open(t testing.TB, change func(*search.IndexerOptions)) *harness {
	t.Helper()
	h := newSite(t, change).open(t)
	t.Cleanup(h.closeAll)
	return h
}

// closeAll stops the indexer and closes the index and the database.
func (h *harness) closeAll() {
	h.t.Helper()
	h.stop()
	h.ended.Wait()
	h.Close()
	if err := h.store.Close(); err != nil {
		h.t.Errorf("close store: %v", err)
	}
}

// serve starts Run; closeAll stops it.
func (h *harness) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	h.Start(true)
	h.ended.Go(func() { h.Run(ctx) })
}

// put runs a write transaction on the database.
func (h *harness) put(write func(*store.Tx) error) {
	h.t.Helper()
	if err := h.store.Update(h.t.Context(), nil, write); err != nil {
		h.t.Fatalf("update store: %v", err)
	}
}

// elm returns a property in a city and county. The street address is always the same.
func elm(city, county string) model.Property {
	return model.Property{Address: "12 Elm St.", City: city, County: county, State: "NY"}
}

// custom returns a custom field, or nil for an empty value.
func custom(key, value string) model.CustomValues {
	if value == "" {
		return nil
	}
	return model.CustomValues{key: json.RawMessage(fmt.Sprintf("%q", value))}
}

// order adds an order.
func (h *harness) order(number, parcel string, at model.Property) (id uint64) {
	h.t.Helper()
	h.put(func(t *store.Tx) (err error) {
		if id, err = t.NewOrderID(); err != nil {
			return err
		}
		return t.PutOrder(model.Order{ID: id, Number: number, Status: "active", Property: at, Custom: custom("parcel_id", parcel),
			Version: 1, CreatedAt: testTime})
	})
	return id
}

// abstract adds an abstract with documents of the given names.
func (h *harness) abstract(number string, at model.Property, names ...string) (id uint64) {
	h.t.Helper()
	h.put(func(t *store.Tx) (err error) {
		if id, err = t.NewAbstractID(); err != nil {
			return err
		}
		a := model.Abstract{ID: id, TemplateID: 1, Status: "New", Property: at, Custom: custom("file_number", number), Version: 1,
			CreatedAt: testTime}
		for _, name := range names {
			file, err := h.putFile(t, name, "", id)
			if err != nil {
				return err
			}
			a.Files = append(a.Files, file)
		}
		return t.PutAbstract(a)
	})
	return id
}

// file adds a document that is not in an abstract. If text is "", the document has no text.
func (h *harness) file(name, text string) (id uint64) {
	h.t.Helper()
	h.put(func(t *store.Tx) (err error) { id, err = h.putFile(t, name, text, 0); return err })
	return id
}

// putFile adds a document to an abstract. If abstract is 0, the document is not in an abstract.
func (h *harness) putFile(t *store.Tx, name, text string, abstract uint64) (id uint64, err error) {
	if id, err = t.NewFileID(); err != nil {
		return 0, err
	}
	sum := sha256.Sum256(fmt.Append(nil, name, id))
	digest := hex.EncodeToString(sum[:])
	if text != "" {
		h.site.texts.Store(digest, text)
	}
	return id, t.PutFile(model.File{ID: id, Filename: name, MIME: "text/plain", Digest: digest, Size: 1, AbstractID: abstract,
		Version: 1, CreatedAt: testTime})
}

// query returns the hits of a query, formatted as "type id" and sorted.
func (h *harness) query(q query.Query) (list []string, err error) {
	h.t.Helper()
	q.Limit = 100
	result, err := h.Search(h.t.Context(), q)
	for _, hit := range result.Hits {
		list = append(list, fmt.Sprint(hit.Kind, " ", hit.ID))
	}
	slices.Sort(list)
	return list, err
}

// wantHits checks that a search returns exactly the hits in want, formatted as "type id".
func (h *harness) wantHits(text string, want ...string) {
	h.t.Helper()
	if got, err := h.query(query.Query{Text: text}); err != nil || !slices.Equal(got, want) {
		h.t.Errorf("hits for %q = %v, %v; want %v", text, got, err, want)
	}
}

// wantHitsSoon waits until a search returns exactly the hits in want.
func (h *harness) wantHitsSoon(text string, want ...string) {
	h.t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got, err := h.query(query.Query{Text: text})
		if err == nil && slices.Equal(got, want) {
			return
		}
		if time.Since(start) > 20*time.Second {
			h.t.Fatalf("hits for %q = %v, %v; want %v", text, got, err, want)
		}
	}
}

// await calls Await without a progress callback.
func (h *harness) await() (search.State, error) {
	return h.Await(h.t.Context(), func(uint64, uint64) {})
}

// catchUp waits until the index contains every change.
func (h *harness) catchUp() search.State {
	h.t.Helper()
	s, err := h.await()
	for n := 0; err == nil && s.PendingChanges > 0 && n < 100; n++ { // also index pending files
		s, err = h.await()
	}
	if err != nil || !s.Ready || s.Building || s.PendingChanges != 0 || s.Failure != "" {
		h.t.Fatalf("Await() = %+v, %v; want a complete index", s, err)
	}
	return s
}

// smallBatches limits each batch to a single record.
func smallBatches(o *search.IndexerOptions) { o.BatchSize = 1 }

// wrapIndexes makes the indexer wrap each index that it opens. number is the number of the index,
// starting at 1. Call it before the first index is opened.
func (h *harness) wrapIndexes(wrap func(number int64, in search.Index) search.Index) {
	var opened atomic.Int64
	o := h.opts
	o.Open = func(dir string, opts query.Options) (search.Index, error) {
		in, err := search.OpenIndex(dir, opts)
		if err != nil {
			return nil, err
		}
		return wrap(opened.Add(1), in), nil
	}
	h.Indexer = search.NewIndexer(o)
}

// wrappedIndex calls a hook before Apply and Search.
type wrappedIndex struct {
	search.Index
	apply, search func() error
}

func (w wrappedIndex) Apply(ctx context.Context, b *query.Batch, checkpoint []byte) error {
	if w.apply != nil {
		if err := w.apply(); err != nil {
			return err
		}
	}
	return w.Index.Apply(ctx, b, checkpoint)
}

func (w wrappedIndex) Search(ctx context.Context, q query.Query) (query.Result, error) {
	if w.search != nil {
		if err := w.search(); err != nil {
			return query.Result{}, err
		}
	}
	return w.Index.Search(ctx, q)
}

var errDisk = &os.PathError{Op: "read", Path: "x", Err: errors.New("input/output error")}

// addSampleRecords adds the records that the sampleQueries find.
func (h *harness) addSampleRecords() {
	for i := range 6 {
		h.order(fmt.Sprintf("26-%04d", i), fmt.Sprintf("12-3-%03d", i), elm("Troy", "Rensselaer"))
		h.abstract(fmt.Sprintf("F-%04d", i), elm("Albany", "Albany"), fmt.Sprintf("Deed Bk%d-Pg7.pdf", 100+i))
		h.file(fmt.Sprintf("Plat %s.pdf", []string{"north", "south"}[i%2]), "the grantor swears")
	}
}

var sampleQueries = []string{"26-0003", "26-00", "123004", "12-3-004", "F-0002", "troy", "albany", "elm st", "bk103 pg7", "plat",
	"plat north", "south", "grantor swears", "nothing at all"}

// searchAll returns the hits of each of the sampleQueries.
func (h *harness) searchAll() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for _, q := range sampleQueries {
		list, err := h.query(query.Query{Text: q})
		if err != nil {
			h.t.Fatalf("search for %q: %v", q, err)
		}
		all[q] = strings.Join(list, ", ")
	}
	return all
}

// searchRebuilt rebuilds the index and returns the hits of each of the sampleQueries.
func (s *site) searchRebuilt(t *testing.T) map[string]string {
	t.Helper()
	if err := os.RemoveAll(s.search()); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	h := s.open(t)
	defer h.closeAll()
	h.catchUp()
	return h.searchAll()
}

// files returns the paths of all files of the live index.
func (s *site) files(t testing.TB) (list []string) {
	t.Helper()
	current, err := os.ReadFile(s.search("current"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	live := s.search(strings.TrimSpace(string(current)))
	entries, err := os.ReadDir(live)
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	for _, e := range entries {
		list = append(list, filepath.Join(live, e.Name()))
	}
	return list
}

// wantEntries waits until the search folder has the given number of entries. It has to wait because an
// old index is deleted only after the last search that uses it.
func (s *site) wantEntries(t testing.TB, entries int) {
	t.Helper()
	list, err := os.ReadDir(s.search())
	for end := time.Now().Add(10 * time.Second); (err != nil || len(list) != entries) &&
		time.Now().Before(end); list, err = os.ReadDir(s.search()) {
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil || len(list) != entries {
		t.Errorf("search folder = %v, %v; want %d entries", list, err, entries)
	}
}

func flipByte(at float64) func(string) error {
	return func(path string) error {
		raw, err := os.ReadFile(path)
		if err != nil || len(raw) == 0 {
			return err
		}
		raw[int(at*float64(len(raw)-1))] ^= 0x40
		return os.WriteFile(path, raw, 0o600)
	}
}
