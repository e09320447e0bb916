package store

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// lister is a list of the store beside what it should be.
type lister[T any] struct {
	list    func(*Tx, Query) (Page[T], error)
	records func(*world) []T
	id      func(T) uint64
	created func(T) time.Time
	updated func(T) time.Time
	has     func(T, Filter) bool
	due     func(T) string
	number  func(T) string
	open    func(T) bool
	texts   map[Sort]func(T) string // in their forms
}

// cut is as much of a text as lists are sorted by; those without one are last.
func cut(form string) string {
	if form == "" {
		return "\xff"
	}
	return form[:min(len(form), 64)]
}

func live[T any](m map[uint64]T, trashed func(T) *model.Trashed) (list []T) {
	for _, v := range m {
		if trashed(v) == nil {
			list = append(list, v)
		}
	}
	return list
}

var abstractLister = lister[model.Abstract]{
	list: (*Tx).ListAbstracts,
	records: func(w *world) []model.Abstract {
		return live(w.abstracts, func(a model.Abstract) *model.Trashed { return a.Trashed })
	},
	id:      func(a model.Abstract) uint64 { return a.ID },
	created: func(a model.Abstract) time.Time { return a.CreatedAt },
	updated: func(a model.Abstract) time.Time { return a.UpdatedAt },
	has: func(a model.Abstract, w Filter) bool {
		template := fmt.Sprint(a.TemplateID)
		if a.TemplateID == 0 {
			template = ""
		}
		return same(map[Column]string{ColumnCounty: a.County, ColumnState: a.State, ColumnStatus: a.Status, ColumnTemplate: template}, w)
	},
	texts: map[Sort]func(model.Abstract) string{
		SortFileNumber: func(a model.Abstract) string { return model.NormalizeNumber(a.FileNumber()) },
		SortParcel:     func(a model.Abstract) string { return model.NormalizeNumber(a.ParcelID()) },
		SortAddress:    func(a model.Abstract) string { return model.NormalizeText(a.LookupAddress()) },
	},
}

var orderLister = lister[model.Order]{
	list: (*Tx).ListOrders,
	records: func(w *world) []model.Order {
		return live(w.orders, func(o model.Order) *model.Trashed { return o.Trashed })
	},
	id:      func(o model.Order) uint64 { return o.ID },
	created: func(o model.Order) time.Time { return o.CreatedAt },
	updated: func(o model.Order) time.Time { return o.UpdatedAt },
	due:     func(o model.Order) string { return cmp.Or(o.DueDate, "9999") },
	number:  func(o model.Order) string { return model.Fold(o.Number) },
	has: func(o model.Order, w Filter) bool {
		return same(map[Column]string{ColumnCounty: o.County, ColumnState: o.State, ColumnStatus: o.Status, ColumnOrderNumber: o.Number}, w)
	},
	open: func(o model.Order) bool { return o.IsOpen() },
	texts: map[Sort]func(model.Order) string{
		SortParcel:  func(o model.Order) string { return model.NormalizeNumber(o.ParcelID()) },
		SortAddress: func(o model.Order) string { return model.NormalizeText(o.LookupAddress()) },
	},
}

var fileLister = lister[model.File]{
	list: (*Tx).ListFiles,
	records: func(w *world) []model.File {
		return live(w.files, func(f model.File) *model.Trashed { return f.Trashed })
	},
	id:      func(f model.File) uint64 { return f.ID },
	created: func(f model.File) time.Time { return f.CreatedAt },
	has: func(f model.File, w Filter) bool {
		switch w.Column {
		case ColumnUnassigned:
			return f.FolderID == 0 && f.AbstractID == 0
		case ColumnProcessing:
			return fmt.Sprint(f.Processing) == w.Value
		}
		return fmt.Sprint(f.FolderID) == w.Value
	},
}

var eventLister = lister[model.Event]{
	list:    (*Tx).ListEvents,
	records: func(w *world) []model.Event { return slices.Clone(w.events) },
	id:      func(e model.Event) uint64 { return e.Seq },
	created: func(e model.Event) time.Time { return e.At },
	has: func(e model.Event, w Filter) bool {
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
		return uint64(slices.Index([]string{"abstract", "order", "file"}, e.Type))<<32 | e.ID
	},
	created: func(e TrashEntry) time.Time { return e.At },
	has:     func(e TrashEntry, w Filter) bool { return e.Type == w.Value },
}

func thrownAway(list []TrashEntry, noun string, id uint64, t *model.Trashed) []TrashEntry {
	if t == nil || t.With != "" {
		return list
	}
	return append(list, TrashEntry{noun, id, t.At})
}

func same(has map[Column]string, w Filter) bool {
	return model.Fold(has[w.Column]) == model.Fold(w.Value)
}

// want is the whole list of a query, by the model.
func (l lister[T]) want(w *world, q Query) (ids []uint64) {
	list := slices.DeleteFunc(l.records(w), func(v T) bool {
		at := l.created(v).UnixMicro()
		if !q.CreatedFrom.IsZero() && at < q.CreatedFrom.UnixMicro() || !q.CreatedTo.IsZero() && at > q.CreatedTo.UnixMicro() {
			return true
		}
		if !q.UpdatedFrom.IsZero() && l.updated(v).Before(q.UpdatedFrom) || !q.UpdatedTo.IsZero() && l.updated(v).After(q.UpdatedTo) {
			return true
		}
		if q.OpenOnly && !l.open(v) || (q.DueFrom != "" || q.DueTo != "") && (l.due(v) == "9999" || l.due(v) < q.DueFrom || q.DueTo != "" && l.due(v) > q.DueTo) {
			return true
		}
		return slices.ContainsFunc(q.Filters, func(w Filter) bool { return !l.has(v, w) })
	})
	slices.SortFunc(list, func(a, b T) int {
		by := 0
		switch q.Sort {
		case SortDue:
			by = cmp.Compare(l.due(a), l.due(b))
		case SortUpdated:
			by = cmp.Compare(l.updated(a).UnixMicro(), l.updated(b).UnixMicro())
		case SortOrderNumber:
			by = cmp.Compare(l.number(a), l.number(b))
		case SortFileNumber, SortParcel, SortAddress:
			by = cmp.Compare(cut(l.texts[q.Sort](a)), cut(l.texts[q.Sort](b)))
		}
		by = cmp.Or(by, cmp.Compare(l.created(a).UnixMicro(), l.created(b).UnixMicro()), cmp.Compare(l.id(a), l.id(b)))
		if q.Descending {
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
		if q.Backward {
			ids, next = append(on, ids...), page.Prev
		} else {
			ids = append(ids, on...)
		}
		switch {
		case len(on) > max(q.Limit, 1), pages > 5000:
			return nil, fmt.Errorf("%d on page %d", len(on), pages)
		case next == nil:
			return ids, nil
		case len(on) < q.Limit && q.MaxScanned == 0:
			return nil, errors.New("a short page that is not the last")
		case len(on) == 0 && q.MaxScanned == 0:
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
			q.Backward = back
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
				back.Backward, back.Position = true, page.Prev
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
func queries(sorts []Sort, filters ...[]Filter) (list []Query) {
	filters = append(filters, nil)
	for _, where := range filters {
		for _, sort := range sorts {
			for _, down := range []bool{false, true} {
				q := Query{Sort: sort, Descending: down, Filters: where}
				list = append(list, q)
				q.CreatedFrom = testTime.Add(-5 * time.Hour)
				list = append(list, q)
				q.CreatedTo = testTime.Add(5 * time.Hour)
				list = append(list, q)
				q.CreatedFrom = time.Time{}
				list = append(list, q)
			}
		}
	}
	return list
}

// dueQueries are the queries, and some of them with bounds of the due date, for open
// orders alone, or both.
func dueQueries(list []Query) []Query {
	for i, q := range list {
		switch i % 8 {
		case 0:
			q.OpenOnly = true
		case 1:
			q.DueFrom = "2026-06-14"
		case 3:
			q.DueTo, q.OpenOnly = "2026-06-14", true
		case 4:
			q.DueFrom, q.DueTo = "1969-12-31", "2026-06-15"
		case 6:
			q.DueFrom, q.DueTo = "2026-06-15", "2026-06-14"
		default:
			continue
		}
		list = append(list, q)
	}
	return list
}

// updatedQueries are the queries, and some of them with bounds of the last change.
func updatedQueries(list []Query) []Query {
	for i, q := range list {
		switch i % 30 {
		case 0:
			q.UpdatedFrom = testTime.Add(-5 * time.Hour)
		case 9:
			q.UpdatedFrom, q.UpdatedTo = testTime.Add(-9*time.Hour), testTime.Add(2*time.Hour)
		case 19:
			q.UpdatedTo = testTime.Add(3 * time.Hour)
		default:
			continue
		}
		list = append(list, q)
	}
	return list
}

var (
	created         = []Sort{"", SortCreated}
	abstractQueries = updatedQueries(queries(append(created, SortUpdated, SortFileNumber, SortParcel, SortAddress), []Filter{{ColumnCounty, "rensselaer"}}, []Filter{{ColumnCounty, " doña ana "}}, []Filter{{ColumnCounty, ""}}, []Filter{{ColumnState, "NY"}},
		[]Filter{{ColumnStatus, "NEW"}}, []Filter{{ColumnStatus, ""}}, []Filter{{ColumnTemplate, "2"}}, []Filter{{ColumnTemplate, "77"}}, []Filter{{ColumnStatus, "new"}, {ColumnCounty, "Albany"}},
		[]Filter{{ColumnStatus, "new"}, {ColumnState, "ny"}, {ColumnTemplate, "1"}, {ColumnCounty, "Albany"}}, []Filter{{ColumnStatus, "new"}, {ColumnStatus, "in search"}}))
	orderQueries = updatedQueries(dueQueries(queries([]Sort{SortCreated, SortUpdated, SortDue, SortOrderNumber, SortParcel, SortAddress}, []Filter{{ColumnOrderNumber, "a-1"}}, []Filter{{ColumnOrderNumber, "É 7"}}, []Filter{{ColumnOrderNumber, "12"}}, []Filter{{ColumnOrderNumber, "12:3"}},
		[]Filter{{ColumnOrderNumber, "none"}}, []Filter{{ColumnCounty, "Albany"}}, []Filter{{ColumnStatus, "active"}}, []Filter{{ColumnState, ""}}, []Filter{{ColumnOrderNumber, "a-1"}, {ColumnStatus, "active"}},
		[]Filter{{ColumnStatus, "active"}, {ColumnState, "NM"}, {ColumnCounty, "Doña Ana"}})))
	fileQueries = queries(created, []Filter{{ColumnUnassigned, ""}}, []Filter{{ColumnFolder, "2"}}, []Filter{{ColumnProcessing, "true"}}, []Filter{{ColumnProcessing, "false"}},
		[]Filter{{ColumnFolder, "1"}, {ColumnProcessing, "false"}}, []Filter{{ColumnUnassigned, "true"}, {ColumnProcessing, "true"}})
	eventQueries = queries(created, []Filter{{ColumnActor, "key:2"}}, []Filter{{ColumnActor, "system"}}, []Filter{{ColumnKind, "file.filed"}}, []Filter{{ColumnRecord, "order:7"}}, []Filter{{ColumnRecord, ""}},
		[]Filter{{ColumnRecord, "file:7"}, {ColumnActor, "key"}})
	trashQueries = queries(created, []Filter{{ColumnKind, "file"}}, []Filter{{ColumnKind, "abstract"}}, []Filter{{ColumnKind, "order"}})
)

// some takes a part of the queries by chance, or all.
func some(w *world, list []Query, part int) (chosen []Query) {
	for _, q := range list {
		if w.rng.IntN(part) == 0 {
			q.Limit = pick(w.rng, 1, 3, 25, 1000)
			q.MaxScanned = pick(w.rng, 0, 0, 0, 1, 7, 40)
			q.sortLimit = pick(w.rng, 0, -1, 5)
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
		by[[3]string{"abstract", string(ColumnStatus), model.Fold(a.Status)}]++
	}
	for _, o := range orderLister.records(w) {
		want[CountOrders]++
		by[[3]string{"order", string(ColumnStatus), model.Fold(o.Status)}]++
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
