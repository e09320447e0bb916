package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/title"
)

// world is a model of a store: what was put there, in maps.
type world struct {
	s         *Store
	rng       *rand.Rand
	abstracts map[uint64]title.Abstract
	orders    map[uint64]title.Order
	files     map[uint64]title.File
	events    []title.Event
	digests   int
}

func newWorld(t *testing.T, s *Store) *world {
	t.Helper()
	w := &world{s: s, rng: rand.New(rand.NewPCG(1, 2)), abstracts: map[uint64]title.Abstract{}, orders: map[uint64]title.Order{}, files: map[uint64]title.File{}}
	view(t, s, func(tx *Tx) error {
		e, err := events.get(tx, 1) // the store itself wrote it
		w.events = append(w.events, e)
		return err
	})
	return w
}

func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// at is a time among few, so that many are equal and none follows the ids.
func (w *world) at() time.Time {
	return testTime.Add(time.Duration(w.rng.IntN(40)-20) * time.Hour).Add(time.Duration(w.rng.IntN(2)) * time.Microsecond)
}

func (w *world) property() title.Property {
	return title.Property{County: pick(w.rng, "", "Rensselaer", "RENSSELAER", "Albany", "St. Lawrence", "Doña Ana", "DOÑA ANA"), State: pick(w.rng, "NY", "ny", "NM", "")}
}

func (w *world) trashed(with string) *title.Trashed {
	if w.rng.IntN(4) > 0 {
		return nil
	}
	return &title.Trashed{At: w.at(), By: title.System(), With: with}
}

// key gives a number that is there, or 0.
func key[T any](w *world, m map[uint64]T) uint64 {
	ids := make([]uint64, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return 0
	}
	return ids[w.rng.IntN(len(ids))]
}

// step does one thing to one record, in the store and in the model.
func (w *world) step(tx *Tx) error {
	remove := w.rng.IntN(8) == 0
	isNew := w.rng.IntN(3) == 0
	switch w.rng.IntN(4) {
	case 0:
		return w.stepAbstract(tx, isNew, remove)
	case 1:
		return w.stepOrder(tx, isNew, remove)
	case 2:
		return w.stepFile(tx, isNew, remove)
	}
	e := title.Event{At: w.at(), Actor: title.Actor{Kind: pick(w.rng, "key", "system"), ID: w.rng.Uint64N(3)}, Kind: pick(w.rng, "order.created", "file.filed"), Record: pick(w.rng, "", "order:7", "order:8", "file:7")}
	err := tx.AddEvent(e)
	w.events = append(w.events, *tx.head)
	return err
}

func (w *world) stepAbstract(tx *Tx, isNew, remove bool) (err error) {
	a := w.abstracts[key(w, w.abstracts)]
	switch {
	case isNew || a.ID == 0:
		a = title.Abstract{CreatedAt: w.at()}
		if a.ID, err = tx.NewAbstractID(); err != nil {
			return err
		}
	case remove:
		delete(w.abstracts, a.ID)
		return tx.RemoveAbstract(a.ID)
	}
	a.Property, a.TemplateID, a.Status, a.Trashed = w.property(), w.rng.Uint64N(4), pick(w.rng, "", "New", "In Search", "new"), w.trashed("")
	w.abstracts[a.ID] = a
	return tx.PutAbstract(a)
}

func (w *world) stepOrder(tx *Tx, isNew, remove bool) (err error) {
	o := w.orders[key(w, w.orders)]
	switch {
	case isNew || o.ID == 0:
		o = title.Order{CreatedAt: w.at()}
		if o.ID, err = tx.NewOrderID(); err != nil {
			return err
		}
	case remove:
		delete(w.orders, o.ID)
		return tx.RemoveOrder(o.ID)
	}
	o.Property, o.Status, o.Trashed = w.property(), pick(w.rng, "active", "on_hold", "completed"), w.trashed("")
	o.Number = pick(w.rng, "A-1", "a-1", "A-10", "É 7", "é 7", "12", "12:3", fmt.Sprint("N-", w.rng.IntN(50)))
	o.DueDate = pick(w.rng, "", "2026-06-15", "2026-06-14", "1969-12-31", "2031-01-01")
	w.orders[o.ID] = o
	return tx.PutOrder(o)
}

func (w *world) stepFile(tx *Tx, isNew, remove bool) (err error) {
	f := w.files[key(w, w.files)]
	switch {
	case isNew || f.ID == 0:
		w.digests++
		f = title.File{CreatedAt: w.at(), Digest: digest(w.digests), Size: int64(w.rng.IntN(9))}
		if f.ID, err = tx.NewFileID(); err != nil {
			return err
		}
	case remove:
		delete(w.files, f.ID)
		return tx.RemoveFile(f.ID)
	}
	if w.rng.IntN(5) == 0 {
		err = tx.AddTask(title.Task{FileID: f.ID, At: testTime})
	}
	f.FolderID, f.Processing, f.Failure = w.rng.Uint64N(4), w.rng.IntN(2) == 0, pick(w.rng, "", "", "no")
	f.Trashed = w.trashed("")
	w.files[f.ID] = f
	return errors.Join(err, tx.PutFile(f))
}

// lister is a list of the store beside what it should be.
type lister[T any] struct {
	list    func(*Tx, Query) (Page[T], error)
	records func(*world) []T
	id      func(T) uint64
	created func(T) time.Time
	has     func(T, Where) bool
	due     func(T) string
	number  func(T) string
}

func live[T any](m map[uint64]T, trashed func(T) *title.Trashed) (list []T) {
	for _, v := range m {
		if trashed(v) == nil {
			list = append(list, v)
		}
	}
	return list
}

var abstractLister = lister[title.Abstract]{
	list: (*Tx).ListAbstracts,
	records: func(w *world) []title.Abstract {
		return live(w.abstracts, func(a title.Abstract) *title.Trashed { return a.Trashed })
	},
	id:      func(a title.Abstract) uint64 { return a.ID },
	created: func(a title.Abstract) time.Time { return a.CreatedAt },
	has: func(a title.Abstract, w Where) bool {
		template := fmt.Sprint(a.TemplateID)
		if a.TemplateID == 0 {
			template = ""
		}
		return same(map[Column]string{ColumnCounty: a.County, ColumnState: a.State, ColumnStatus: a.Status, ColumnTemplate: template}, w)
	},
}

var orderLister = lister[title.Order]{
	list: (*Tx).ListOrders,
	records: func(w *world) []title.Order {
		return live(w.orders, func(o title.Order) *title.Trashed { return o.Trashed })
	},
	id:      func(o title.Order) uint64 { return o.ID },
	created: func(o title.Order) time.Time { return o.CreatedAt },
	due:     func(o title.Order) string { return cmp.Or(o.DueDate, "9999") },
	number:  func(o title.Order) string { return title.Fold(o.Number) },
	has: func(o title.Order, w Where) bool {
		return same(map[Column]string{ColumnCounty: o.County, ColumnState: o.State, ColumnStatus: o.Status, ColumnNumber: o.Number}, w)
	},
}

var fileLister = lister[title.File]{
	list: (*Tx).ListFiles,
	records: func(w *world) []title.File {
		return live(w.files, func(f title.File) *title.Trashed { return f.Trashed })
	},
	id:      func(f title.File) uint64 { return f.ID },
	created: func(f title.File) time.Time { return f.CreatedAt },
	has: func(f title.File, w Where) bool {
		switch w.Column {
		case ColumnNowhere:
			return f.FolderID == 0 && f.AbstractID == 0
		case ColumnProcessing:
			return fmt.Sprint(f.Processing) == w.Value
		}
		return fmt.Sprint(f.FolderID) == w.Value
	},
}

var eventLister = lister[title.Event]{
	list:    (*Tx).ListEvents,
	records: func(w *world) []title.Event { return slices.Clone(w.events) },
	id:      func(e title.Event) uint64 { return e.Seq },
	created: func(e title.Event) time.Time { return e.At },
	has: func(e title.Event, w Where) bool {
		return same(map[Column]string{ColumnActor: e.Actor.Record(), ColumnKind: e.Kind, ColumnRecord: e.Record}, w)
	},
}

var trashLister = lister[TrashEntry]{
	list: (*Tx).ListTrash,
	records: func(w *world) (list []TrashEntry) {
		for id, a := range w.abstracts {
			list = thrownAway(list, "abstract", id, a.Trashed)
		}
		for id, o := range w.orders {
			list = thrownAway(list, "order", id, o.Trashed)
		}
		for id, f := range w.files {
			list = thrownAway(list, "file", id, f.Trashed)
		}
		return list
	},
	id: func(e TrashEntry) uint64 {
		return uint64(slices.Index([]string{"abstract", "order", "file"}, e.Noun))<<32 | e.ID
	},
	created: func(e TrashEntry) time.Time { return e.At },
	has:     func(e TrashEntry, w Where) bool { return e.Noun == w.Value },
}

func thrownAway(list []TrashEntry, noun string, id uint64, t *title.Trashed) []TrashEntry {
	if t == nil || t.With != "" {
		return list
	}
	return append(list, TrashEntry{noun, id, t.At})
}

func same(has map[Column]string, w Where) bool {
	return title.Fold(has[w.Column]) == title.Fold(w.Value)
}

// want is the whole list of a query, by the model.
func (l lister[T]) want(w *world, q Query) (ids []uint64) {
	list := slices.DeleteFunc(l.records(w), func(v T) bool {
		at := l.created(v).UnixMicro()
		if !q.From.IsZero() && at < q.From.UnixMicro() || !q.To.IsZero() && at > q.To.UnixMicro() {
			return true
		}
		return slices.ContainsFunc(q.Where, func(w Where) bool { return !l.has(v, w) })
	})
	slices.SortFunc(list, func(a, b T) int {
		by := 0
		switch q.Sort {
		case SortDue:
			by = cmp.Compare(l.due(a), l.due(b))
		case SortNumber:
			by = cmp.Compare(l.number(a), l.number(b))
		}
		by = cmp.Or(by, cmp.Compare(l.created(a).UnixMicro(), l.created(b).UnixMicro()), cmp.Compare(l.id(a), l.id(b)))
		if q.Down {
			return -by
		}
		return by
	})
	for _, v := range list {
		ids = append(ids, l.id(v))
	}
	return ids
}

// walk reads a whole list page by page and says what is wrong with the pages.
func (l lister[T]) walk(tx *Tx, q Query) (ids []uint64, err error) {
	for pages := 0; ; pages++ {
		page, err := l.list(tx, q)
		if err != nil {
			return nil, err
		}
		var on []uint64
		for _, v := range page.Items {
			on = append(on, l.id(v))
		}
		next := page.Next
		if q.Back {
			ids, next = append(on, ids...), page.Prev
		} else {
			ids = append(ids, on...)
		}
		switch {
		case len(on) > max(q.Limit, 1), pages > 5000:
			return nil, fmt.Errorf("%d on page %d", len(on), pages)
		case next == nil:
			return ids, nil
		case len(on) < q.Limit && q.Steps == 0:
			return nil, errors.New("a short page that is not the last")
		case len(on) == 0 && q.Steps == 0:
			return nil, errors.New("an empty page")
		}
		q.Position = next
	}
}

// holds checks a list for one query, in both directions.
func (l lister[T]) holds(t *testing.T, w *world, q Query) {
	t.Helper()
	want := l.want(w, q)
	view(t, w.s, func(tx *Tx) error {
		for _, back := range []bool{false, true} {
			q.Back = back
			ids, err := l.walk(tx, q)
			if err != nil || !slices.Equal(ids, want) {
				t.Errorf("%+v: got %v, %v\nwant %v", q, ids, err, want)
			}
		}
		return nil
	})
}

// opposite turns around on every page: the page before the next one is this one.
func (l lister[T]) opposite(t *testing.T, w *world, q Query) {
	t.Helper()
	view(t, w.s, func(tx *Tx) error {
		var before Page[T]
		for first := true; ; first = false {
			page, err := l.list(tx, q)
			if err != nil || first != (page.Prev == nil) {
				t.Errorf("%+v: %v, has a page before it: %v", q, err, page.Prev != nil)
			}
			if !first {
				back := q
				back.Back, back.Position = true, page.Prev
				if again, err := l.list(tx, back); err != nil || !reflect.DeepEqual(again, before) {
					t.Errorf("%+v: back is %+v, %v\nwas %+v", q, again, err, before)
				}
			}
			if page.Next == nil || t.Failed() {
				return nil
			}
			before, q.Position = page, page.Next
		}
	})
}

// queries are filters of every kind and some pairs, in every order and direction.
func queries(sorts []Sort, filters ...[]Where) (list []Query) {
	filters = append(filters, nil)
	for _, where := range filters {
		for _, sort := range sorts {
			for _, down := range []bool{false, true} {
				q := Query{Sort: sort, Down: down, Where: where}
				list = append(list, q)
				q.From = testTime.Add(-5 * time.Hour)
				list = append(list, q)
				q.To = testTime.Add(5 * time.Hour)
				list = append(list, q)
				q.From = time.Time{}
				list = append(list, q)
			}
		}
	}
	return list
}

var (
	created         = []Sort{"", SortCreated}
	abstractQueries = queries(created, []Where{{ColumnCounty, "rensselaer"}}, []Where{{ColumnCounty, " doña ana "}}, []Where{{ColumnCounty, ""}}, []Where{{ColumnState, "NY"}},
		[]Where{{ColumnStatus, "NEW"}}, []Where{{ColumnStatus, ""}}, []Where{{ColumnTemplate, "2"}}, []Where{{ColumnTemplate, "77"}}, []Where{{ColumnStatus, "new"}, {ColumnCounty, "Albany"}},
		[]Where{{ColumnStatus, "new"}, {ColumnState, "ny"}, {ColumnTemplate, "1"}, {ColumnCounty, "Albany"}}, []Where{{ColumnStatus, "new"}, {ColumnStatus, "in search"}})
	orderQueries = queries([]Sort{SortCreated, SortDue, SortNumber}, []Where{{ColumnNumber, "a-1"}}, []Where{{ColumnNumber, "É 7"}}, []Where{{ColumnNumber, "12"}}, []Where{{ColumnNumber, "12:3"}},
		[]Where{{ColumnNumber, "none"}}, []Where{{ColumnCounty, "Albany"}}, []Where{{ColumnStatus, "active"}}, []Where{{ColumnState, ""}}, []Where{{ColumnNumber, "a-1"}, {ColumnStatus, "active"}},
		[]Where{{ColumnStatus, "active"}, {ColumnState, "NM"}, {ColumnCounty, "Doña Ana"}})
	fileQueries = queries(created, []Where{{ColumnNowhere, ""}}, []Where{{ColumnFolder, "2"}}, []Where{{ColumnProcessing, "true"}}, []Where{{ColumnProcessing, "false"}},
		[]Where{{ColumnFolder, "1"}, {ColumnProcessing, "false"}}, []Where{{ColumnNowhere, "true"}, {ColumnProcessing, "true"}})
	eventQueries = queries(created, []Where{{ColumnActor, "key:2"}}, []Where{{ColumnActor, "system"}}, []Where{{ColumnKind, "file.filed"}}, []Where{{ColumnRecord, "order:7"}}, []Where{{ColumnRecord, ""}},
		[]Where{{ColumnRecord, "file:7"}, {ColumnActor, "key"}})
	trashQueries = queries(created, []Where{{ColumnKind, "file"}}, []Where{{ColumnKind, "abstract"}}, []Where{{ColumnKind, "order"}})
)

// some takes a part of the queries by chance, or all.
func some(w *world, list []Query, part int) (chosen []Query) {
	for _, q := range list {
		if w.rng.IntN(part) == 0 {
			q.Limit = pick(w.rng, 1, 3, 25, 1000)
			q.Steps = pick(w.rng, 0, 0, 0, 1, 7, 40)
			q.few = pick(w.rng, 0, -1, 5)
			chosen = append(chosen, q)
		}
	}
	return chosen
}

func (w *world) holds(t *testing.T, part int) {
	t.Helper()
	for _, q := range some(w, abstractQueries, part) {
		abstractLister.holds(t, w, q)
	}
	for _, q := range some(w, orderQueries, part) {
		orderLister.holds(t, w, q)
	}
	for _, q := range some(w, fileQueries, part) {
		fileLister.holds(t, w, q)
	}
	for _, q := range some(w, eventQueries, part) {
		eventLister.holds(t, w, q)
	}
	for _, q := range some(w, trashQueries, part) {
		trashLister.holds(t, w, q)
	}
}

// counted holds the kept counts against the model.
func (w *world) counted(t *testing.T) {
	t.Helper()
	want := map[Counter]uint64{CountFileRecords: uint64(len(w.files)), CountTrashed: uint64(len(trashLister.records(w)))}
	by := map[[3]string]uint64{}
	for _, a := range abstractLister.records(w) {
		want[CountAbstracts]++
		by[[3]string{"abstract", string(ColumnStatus), title.Fold(a.Status)}]++
	}
	for _, o := range orderLister.records(w) {
		want[CountOrders]++
		by[[3]string{"order", string(ColumnStatus), title.Fold(o.Status)}]++
	}
	for _, f := range fileLister.records(w) {
		want[CountFiles]++
		want[CountBytes] += uint64(f.Size)
		by[[3]string{"file", string(ColumnFolder), fmt.Sprint(f.FolderID)}]++
		if f.Failure != "" {
			want[CountFailed]++
		}
	}
	view(t, w.s, func(tx *Tx) error {
		for c, n := range want {
			if tx.Count(c) != n {
				t.Errorf("%s: %d, want %d", c, tx.Count(c), n)
			}
		}
		for c, n := range by {
			if got := tx.CountBy(c[0], Column(c[1]), strings.ToUpper(c[2])); c[2] != "0" && got != n {
				t.Errorf("%v: %d, want %d", c, got, n)
			}
		}
		for id := range uint64(4) {
			if used := by[[3]string{"file", string(ColumnFolder), fmt.Sprint(id)}] > 0; id > 0 && tx.FolderInUse(id) != used {
				t.Errorf("folder %d in use: %v", id, !used)
			}
		}
		return nil
	})
}

// The model against the store: thousands of steps, and after them every filter in
// every order, direction and size of page, by every way to answer it.
func TestListsAgainstAModel(t *testing.T) {
	for name, hash := range map[string]func(string) uint64{
		"as it is":        nil,
		"words collide":   func(text string) uint64 { return hashOf(text) & 1 },
		"all are one":     func(string) uint64 { return 0 },
		"columns are one": func(text string) uint64 { return hashOf(text)<<32 | hashOf(text)&(1<<32-1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			s.db.NoSync = true // no power cut is meant
			s.hash = hash
			// The first event was written without the hash of this test.
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, s)
			for range 40 {
				update(t, s, func(tx *Tx) (err error) {
					for range 50 {
						err = errors.Join(err, w.step(tx))
					}
					return err
				})
				w.holds(t, 120)
				w.counted(t)
			}
			if hash == nil {
				w.holds(t, 1)
			} else {
				w.holds(t, 8)
			}
			for _, q := range some(w, orderQueries, 12) {
				q.Steps = 0
				if orderLister.opposite(t, w, q); t.Failed() {
					return
				}
			}
		})
	}
}

// Between two pages a hundred orders come and another hundred go: those that stay are each seen
// once, and nothing twice.
func TestPagesWhileRecordsComeAndGo(t *testing.T) {
	for _, q := range []Query{
		{Limit: 20},
		{Limit: 20, Down: true, Sort: SortDue},
		{Limit: 7, Sort: SortNumber, Where: []Where{{ColumnStatus, "active"}}},
		{Limit: 7, Sort: SortNumber, Where: []Where{{ColumnStatus, "active"}}, few: -1, Steps: 30},
		{Limit: 20, Back: true, Where: []Where{{ColumnState, "NY"}}},
	} {
		t.Run(fmt.Sprintf("%+v", q), func(t *testing.T) {
			s := openNew(t)
			w := newWorld(t, s)
			order := func(tx *Tx, id uint64) error {
				return tx.PutOrder(title.Order{ID: id, Number: fmt.Sprint(w.rng.IntN(90)), Status: "active", DueDate: fmt.Sprintf("2026-06-%02d", 1+w.rng.IntN(28)),
					Property: title.Property{State: "NY"}, CreatedAt: w.at()})
			}
			const staying = 300
			update(t, s, func(tx *Tx) (err error) {
				err = tx.bucket(bucketOrders).SetSequence(100_000)
				for id := uint64(1); id <= staying; id++ {
					err = errors.Join(err, order(tx, id))
				}
				return err
			})
			seen := map[uint64]int{}
			last, passing := uint64(staying), []uint64(nil)
			for first := true; first || q.Position != nil; first = false {
				var page Page[title.Order]
				view(t, s, func(tx *Tx) (err error) { page, err = tx.ListOrders(q); return err })
				for _, o := range page.Items {
					seen[o.ID]++
				}
				if q.Position = page.Next; q.Back {
					q.Position = page.Prev
				}
				update(t, s, func(tx *Tx) (err error) {
					for _, id := range passing {
						err = errors.Join(err, tx.RemoveOrder(id))
					}
					passing = nil
					for range 100 {
						last++
						passing = append(passing, last)
						err = errors.Join(err, order(tx, last))
					}
					return err
				})
				if len(seen) > 100_000 {
					t.Fatal("it does not end")
				}
			}
			for id := range uint64(staying) {
				if seen[id+1] != 1 {
					t.Errorf("order %d was seen %d times", id+1, seen[id+1])
				}
			}
			for id, n := range seen {
				if n > 1 {
					t.Errorf("order %d was seen %d times", id, n)
				}
			}
		})
	}
}

func TestAPageAroundWhatIsGone(t *testing.T) {
	s := openNew(t)
	put := func(tx *Tx, id uint64) error {
		return tx.PutOrder(title.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: testTime.Add(time.Duration(id) * time.Second)})
	}
	update(t, s, func(tx *Tx) (err error) {
		err = tx.bucket(bucketOrders).SetSequence(9)
		for id := uint64(1); id <= 9; id++ {
			err = errors.Join(err, put(tx, id))
		}
		return err
	})
	list := func(q Query) (ids string, page Page[title.Order]) {
		view(t, s, func(tx *Tx) (err error) { page, err = tx.ListOrders(q); return err })
		for _, o := range page.Items {
			ids += fmt.Sprint(o.ID)
		}
		return ids, page
	}
	for _, down := range []bool{false, true} {
		q := Query{Limit: 3, Down: down}
		_, one := list(q)
		q.Position = one.Next
		_, two := list(q)
		ends := map[bool]string{false: "456", true: "654"}[down]
		update(t, s, func(tx *Tx) (err error) {
			for _, o := range []uint64{1, 2, 3, 7, 8, 9} {
				err = errors.Join(err, tx.RemoveOrder(o))
			}
			return err
		})
		q.Position = two.Next
		ids, three := list(q)
		if ids != "" || three.Next != nil || three.Prev == nil {
			t.Errorf("down %v: after the end: %q, %+v", down, ids, three)
		}
		q.Position, q.Back = three.Prev, true
		if ids, page := list(q); ids != ends || page.Prev != nil {
			t.Errorf("down %v: back from the end: %q, %+v", down, ids, page)
		}
		q.Position = two.Prev
		ids, zero := list(q)
		if ids != "" || zero.Prev != nil || zero.Next == nil {
			t.Errorf("down %v: before the beginning: %q, %+v", down, ids, zero)
		}
		q.Position, q.Back = zero.Next, false
		if ids, _ := list(q); ids != ends {
			t.Errorf("down %v: on from before the beginning: %q", down, ids)
		}
		update(t, s, func(tx *Tx) (err error) {
			for _, id := range []uint64{1, 2, 3, 7, 8, 9} {
				err = errors.Join(err, put(tx, id))
			}
			return err
		})
	}
}

func TestListsRefuse(t *testing.T) {
	s := openNew(t)
	for name, list := range map[string]func(*Tx) error{
		"a column of another list": func(tx *Tx) error { _, err := tx.ListAbstracts(Query{Where: []Where{{ColumnNumber, "1"}}}); return err },
		"a sort of another list":   func(tx *Tx) error { _, err := tx.ListFiles(Query{Sort: SortDue}); return err },
		"a number in the trash":    func(tx *Tx) error { _, err := tx.ListTrash(Query{Sort: SortNumber}); return err },
		"no sort":                  func(tx *Tx) error { _, err := tx.ListOrders(Query{Sort: "county"}); return err },
	} {
		if err := s.View(context.Background(), list); err == nil || !strings.Contains(err.Error(), "list of") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A damaged record does not stop the list that it is in.
func TestAListPassesOverDamage(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // damaged at its end, as meant
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.bucket(bucketOrders).Put(number(1), []byte("x")), tx.bucket(bucketOrders).Delete(number(3)),
			tx.bucket(bucketOrderIndex).Put([]byte("cx"), nil))
	})
	view(t, s, func(tx *Tx) error {
		for _, sort := range []Sort{SortCreated, SortNumber, SortDue} {
			for _, where := range [][]Where{nil, {{ColumnStatus, "active"}}} {
				page, err := tx.ListOrders(Query{Limit: 9, Sort: sort, Where: where})
				if err != nil || len(page.Items) != 1 || page.Items[0].ID != 2 {
					t.Errorf("%s: %+v, %v", sort, page, err)
				}
			}
		}
		return nil
	})
}
