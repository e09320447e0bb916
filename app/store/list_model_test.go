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

// listModel describes a list of the store and determines its expected content.
type listModel[T any] struct {
	list    func(*Tx, Query) (Page[T], error)
	records func(*oracle) []T
	id      func(T) uint64
	created func(T) time.Time
	updated func(T) time.Time
	has     func(T, Filter) bool
	due     func(T) string
	number  func(T) string
	open    func(T) bool
	texts   map[model.Sort]func(T) string // return the normalized text to sort by
}

// truncateKey returns the part of a normalized text that lists are sorted by. Records without a
// text come last.
func truncateKey(normalized string) string {
	if normalized == "" {
		return "\xff"
	}
	return normalized[:min(len(normalized), 64)]
}

// liveRecords returns the records that are not in the trash.
func liveRecords[T any](m map[uint64]T, trashed func(T) *model.Trashed) (list []T) {
	for _, v := range m {
		if trashed(v) == nil {
			list = append(list, v)
		}
	}
	return list
}

var abstractModel = listModel[model.Abstract]{
	list: (*Tx).ListAbstracts,
	records: func(o *oracle) []model.Abstract {
		return liveRecords(o.abstracts, func(a model.Abstract) *model.Trashed { return a.Trashed })
	},
	id:      func(a model.Abstract) uint64 { return a.ID },
	created: func(a model.Abstract) time.Time { return a.CreatedAt },
	updated: func(a model.Abstract) time.Time { return a.UpdatedAt },
	has: func(a model.Abstract, filter Filter) bool {
		template := fmt.Sprint(a.TemplateID)
		if a.TemplateID == 0 {
			template = ""
		}
		return matchesFilter(map[model.Column]string{model.ColumnCounty: a.County, model.ColumnState: a.State,
			model.ColumnStatus: a.Status, model.ColumnTemplate: template},
			filter)
	},
	texts: map[model.Sort]func(model.Abstract) string{
		model.SortFileNumber: func(a model.Abstract) string { return model.NormalizeNumber(a.FileNumber()) },
		model.SortParcel:     func(a model.Abstract) string { return model.NormalizeNumber(a.ParcelID()) },
		model.SortAddress:    func(a model.Abstract) string { return model.NormalizeText(a.LookupAddress()) },
	},
}

var orderModel = listModel[model.Order]{
	list: (*Tx).ListOrders,
	records: func(o *oracle) []model.Order {
		return liveRecords(o.orders, func(o model.Order) *model.Trashed { return o.Trashed })
	},
	id:      func(o model.Order) uint64 { return o.ID },
	created: func(o model.Order) time.Time { return o.CreatedAt },
	updated: func(o model.Order) time.Time { return o.UpdatedAt },
	due:     func(o model.Order) string { return cmp.Or(o.DueDate, "9999") },
	number:  func(o model.Order) string { return model.Fold(o.Number) },
	has: func(o model.Order, filter Filter) bool {
		assignee := fmt.Sprint(o.AssigneeID)
		if o.AssigneeID == 0 {
			assignee = ""
		}
		return matchesFilter(map[model.Column]string{model.ColumnAssignee: assignee, model.ColumnCounty: o.County, model.ColumnState: o.State,
			model.ColumnStatus:      o.Status,
			model.ColumnOrderNumber: o.Number}, filter)
	},
	open: func(o model.Order) bool { return o.IsOpen() },
	texts: map[model.Sort]func(model.Order) string{
		model.SortParcel:  func(o model.Order) string { return model.NormalizeNumber(o.ParcelID()) },
		model.SortAddress: func(o model.Order) string { return model.NormalizeText(o.LookupAddress()) },
	},
}

var fileModel = listModel[model.File]{
	list: (*Tx).ListFiles,
	records: func(o *oracle) []model.File {
		return liveRecords(o.files, func(f model.File) *model.Trashed { return f.Trashed })
	},
	id:      func(f model.File) uint64 { return f.ID },
	created: func(f model.File) time.Time { return f.CreatedAt },
	has: func(f model.File, filter Filter) bool {
		switch filter.Column {
		case model.ColumnUnassigned:
			return f.FolderID == 0 && f.AbstractID == 0
		case model.ColumnProcessing:
			return fmt.Sprint(f.Processing) == filter.Value
		}
		return fmt.Sprint(f.FolderID) == filter.Value
	},
}

var eventModel = listModel[model.Event]{
	list:    (*Tx).ListEvents,
	records: func(o *oracle) []model.Event { return slices.Clone(o.events) },
	id:      func(e model.Event) uint64 { return e.Seq },
	created: func(e model.Event) time.Time { return e.At },
	has: func(e model.Event, filter Filter) bool {
		return matchesFilter(map[model.Column]string{model.ColumnActor: e.Actor.Record(), model.ColumnKind: e.Kind,
			model.ColumnRecord: e.Record}, filter)
	},
}

var trashModel = listModel[TrashEntry]{
	list: (*Tx).ListTrash,
	records: func(o *oracle) (list []TrashEntry) {
		for id, a := range o.abstracts {
			list = appendTrashed(list, "abstract", id, a.Trashed)
		}
		for id, o := range o.orders {
			list = appendTrashed(list, "order", id, o.Trashed)
		}
		for id, f := range o.files {
			list = appendTrashed(list, "file", id, f.Trashed)
		}
		return list
	},
	id: func(e TrashEntry) uint64 {
		return uint64(slices.Index([]string{"abstract", "order", "file"}, e.Type))<<32 | e.ID
	},
	created: func(e TrashEntry) time.Time { return e.At },
	has:     func(e TrashEntry, filter Filter) bool { return e.Type == filter.Value },
}

// appendTrashed appends the trash entry of a record to list if the trash list contains the record.
func appendTrashed(list []TrashEntry, typeName string, id uint64, t *model.Trashed) []TrashEntry {
	if t == nil || t.With != "" {
		return list
	}
	return append(list, TrashEntry{typeName, id, t.At})
}

// matchesFilter reports whether a record with these column values matches a filter.
func matchesFilter(columns map[model.Column]string, filter Filter) bool {
	return model.Fold(columns[filter.Column]) == model.Fold(filter.Value)
}

// expectedIDs returns the IDs of the complete list for a query according to the oracle.
func (l listModel[T]) expectedIDs(o *oracle, q Query) (ids []uint64) {
	list := slices.DeleteFunc(l.records(o), func(v T) bool {
		at := l.created(v).UnixMicro()
		if !q.CreatedFrom.IsZero() && at < q.CreatedFrom.UnixMicro() || !q.CreatedTo.IsZero() && at > q.CreatedTo.UnixMicro() {
			return true
		}
		if !q.UpdatedFrom.IsZero() && l.updated(v).Before(q.UpdatedFrom) || !q.UpdatedTo.IsZero() && l.updated(v).After(q.UpdatedTo) {
			return true
		}
		if q.OpenOnly && !l.open(v) || (q.DueFrom != "" || q.DueTo != "") &&
			(l.due(v) == "9999" || l.due(v) < q.DueFrom || q.DueTo != "" && l.due(v) > q.DueTo) {
			return true
		}
		return slices.ContainsFunc(q.Filters, func(f Filter) bool { return !l.has(v, f) })
	})
	slices.SortFunc(list, func(a, b T) int {
		order := 0
		switch q.Sort {
		case model.SortDue:
			order = cmp.Compare(l.due(a), l.due(b))
		case model.SortUpdated:
			order = cmp.Compare(l.updated(a).UnixMicro(), l.updated(b).UnixMicro())
		case model.SortOrderNumber:
			order = cmp.Compare(l.number(a), l.number(b))
		case model.SortFileNumber, model.SortParcel, model.SortAddress:
			order = cmp.Compare(truncateKey(l.texts[q.Sort](a)), truncateKey(l.texts[q.Sort](b)))
		}
		order = cmp.Or(order, cmp.Compare(l.created(a).UnixMicro(), l.created(b).UnixMicro()), cmp.Compare(l.id(a), l.id(b)))
		if q.Descending {
			return -order
		}
		return order
	})
	for _, v := range list {
		ids = append(ids, l.id(v))
	}
	return ids
}

// readPages reads a complete list page by page. It returns an error if a page is invalid.
func (l listModel[T]) readPages(tx *Tx, q Query) (ids []uint64, err error) {
	for pages := 0; ; pages++ {
		page, err := l.list(tx, q)
		if err != nil {
			return nil, err
		}
		var pageIDs []uint64
		for _, v := range page.Items {
			pageIDs = append(pageIDs, l.id(v))
		}
		next := page.Next
		if q.Backward {
			ids, next = append(pageIDs, ids...), page.Prev
		} else {
			ids = append(ids, pageIDs...)
		}
		switch {
		case len(pageIDs) > max(q.Limit, 1), pages > 5000:
			return nil, fmt.Errorf("got %d records on page %d, want up to %d", len(pageIDs), pages, q.Limit)
		case next == nil:
			return ids, nil
		case len(pageIDs) < q.Limit && q.MaxScanned == 0:
			return nil, errors.New("got a short page that is not the last")
		case len(pageIDs) == 0 && q.MaxScanned == 0:
			return nil, errors.New("got an empty page")
		}
		q.Position = next
	}
}

// check compares a list with the oracle, paging forward and backward.
func (l listModel[T]) check(t *testing.T, o *oracle, q Query) {
	t.Helper()
	want := l.expectedIDs(o, q)
	view(t, o.store, func(tx *Tx) error {
		for _, backward := range []bool{false, true} {
			q.Backward = backward
			ids, err := l.readPages(tx, q)
			if err != nil || !slices.Equal(ids, want) {
				t.Errorf("%+v: got %v, %v\nwant %v", q, ids, err, want)
			}
		}
		return nil
	})
}

// checkBackward verifies for each page that paging forward and then backward returns to the same
// page.
func (l listModel[T]) checkBackward(t *testing.T, o *oracle, q Query) {
	t.Helper()
	view(t, o.store, func(tx *Tx) error {
		var want Page[T]
		for first := true; ; first = false {
			page, err := l.list(tx, q)
			if err != nil || first != (page.Prev == nil) {
				t.Errorf("%+v: got %v, previous page %v; want previous page %v", q, err, page.Prev != nil, !first)
			}
			if !first {
				previous := q
				previous.Backward, previous.Position = true, page.Prev
				if got, err := l.list(tx, previous); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: got previous page %+v, %v\nwant %+v", q, got, err, want)
				}
			}
			if page.Next == nil || t.Failed() {
				return nil
			}
			want, q.Position = page, page.Next
		}
	})
}

// queries returns queries with each of the given filters and without a filter, in each sort order
// and direction, with and without a range of creation times.
func queries(sorts []model.Sort, filters ...[]Filter) (list []Query) {
	filters = append(filters, nil)
	for _, filter := range filters {
		for _, sort := range sorts {
			for _, descending := range []bool{false, true} {
				q := Query{Sort: sort, Descending: descending, Filters: filter}
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

// dueQueries appends variants of some queries with a due date range, OpenOnly, or both.
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

// updatedQueries appends variants of some queries with a range for the last change.
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
	created         = []model.Sort{"", model.SortCreated}
	abstractQueries = updatedQueries(queries(append(created, model.SortUpdated, model.SortFileNumber,
		model.SortParcel, model.SortAddress),
		[]Filter{{model.ColumnCounty, "rensselaer"}}, []Filter{{model.ColumnCounty, " doña ana "}},
		[]Filter{{model.ColumnCounty, ""}}, []Filter{{model.ColumnState,
			"NY"}},
		[]Filter{{model.ColumnStatus, "NEW"}}, []Filter{{model.ColumnStatus, ""}},
		[]Filter{{model.ColumnTemplate, "2"}}, []Filter{{model.ColumnTemplate,
			"77"}}, []Filter{{model.ColumnStatus, "new"}, {model.ColumnCounty, "Albany"}},
		[]Filter{{model.ColumnStatus, "new"}, {model.ColumnState, "ny"}, {model.ColumnTemplate, "1"},
			{model.ColumnCounty, "Albany"}}, []Filter{{model.ColumnStatus, "new"},
			{model.ColumnStatus, "in search"}}))
	orderQueries = updatedQueries(dueQueries(queries([]model.Sort{model.SortCreated, model.SortUpdated,
		model.SortDue, model.SortOrderNumber, model.SortParcel, model.SortAddress},
		[]Filter{{model.ColumnOrderNumber, "a-1"}}, []Filter{{model.ColumnOrderNumber, "É 7"}}, []Filter{{model.ColumnOrderNumber,
			"12"}}, []Filter{{model.ColumnOrderNumber, "12:3"}},
		[]Filter{{model.ColumnOrderNumber, "none"}}, []Filter{{model.ColumnCounty, "Albany"}},
		[]Filter{{model.ColumnStatus, "active"}}, []Filter{{model.ColumnState,
			""}}, []Filter{{model.ColumnOrderNumber, "a-1"}, {model.ColumnStatus, "active"}},
		[]Filter{{model.ColumnAssignee, "4"}}, []Filter{{model.ColumnAssignee, ""}},
		[]Filter{{model.ColumnAssignee, "44"}, {model.ColumnStatus, "active"}},
		[]Filter{{model.ColumnStatus, "active"}, {model.ColumnState, "NM"}, {model.ColumnCounty, "Doña Ana"}})))
	fileQueries = queries(created, []Filter{{model.ColumnUnassigned, ""}}, []Filter{{model.ColumnFolder, "2"}},
		[]Filter{{model.ColumnProcessing, "true"}},
		[]Filter{{model.ColumnProcessing, "false"}},
		[]Filter{{model.ColumnFolder, "1"}, {model.ColumnProcessing, "false"}},
		[]Filter{{model.ColumnUnassigned, "true"}, {model.ColumnProcessing, "true"}})
	eventQueries = queries(created, []Filter{{model.ColumnActor, "key:2"}}, []Filter{{model.ColumnActor, "system"}},
		[]Filter{{model.ColumnKind, "file.filed"}}, []Filter{{model.ColumnRecord, "order:7"}}, []Filter{{model.ColumnRecord, ""}},
		[]Filter{{model.ColumnRecord, "file:7"}, {model.ColumnActor, "key"}})
	trashQueries = queries(created, []Filter{{model.ColumnKind, "file"}}, []Filter{{model.ColumnKind, "abstract"}},
		[]Filter{{model.ColumnKind, "order"}})
)

// sampleQueries returns a random fraction (1/part) of the queries, with random limits.
func sampleQueries(o *oracle, list []Query, part int) (chosen []Query) {
	for _, q := range list {
		if o.rng.IntN(part) == 0 {
			q.Limit = pick(o.rng, 1, 3, 25, 1000)
			q.MaxScanned = pick(o.rng, 0, 0, 0, 1, 7, 40)
			q.sortLimit = pick(o.rng, 0, -1, 5)
			chosen = append(chosen, q)
		}
	}
	return chosen
}

// checkLists compares the results of sample queries of all lists with the oracle.
func (o *oracle) checkLists(t *testing.T, part int) {
	t.Helper()
	for _, q := range sampleQueries(o, abstractQueries, part) {
		abstractModel.check(t, o, q)
	}
	for _, q := range sampleQueries(o, orderQueries, part) {
		orderModel.check(t, o, q)
	}
	for _, q := range sampleQueries(o, fileQueries, part) {
		fileModel.check(t, o, q)
	}
	for _, q := range sampleQueries(o, eventQueries, part) {
		eventModel.check(t, o, q)
	}
	for _, q := range sampleQueries(o, trashQueries, part) {
		trashModel.check(t, o, q)
	}
}

// checkCounts compares the counters with the oracle.
func (o *oracle) checkCounts(t *testing.T) {
	t.Helper()
	want := map[Counter]uint64{CountFileRecords: uint64(len(o.files)), CountTrashed: uint64(len(trashModel.records(o)))}
	by := map[[3]string]uint64{}
	for _, a := range abstractModel.records(o) {
		want[CountAbstracts]++
		by[[3]string{"abstract", string(model.ColumnStatus), model.Fold(a.Status)}]++
	}
	for _, o := range orderModel.records(o) {
		want[CountOrders]++
		by[[3]string{"order", string(model.ColumnStatus), model.Fold(o.Status)}]++
	}
	for _, f := range fileModel.records(o) {
		want[CountFiles]++
		want[CountBytes] += uint64(f.Size)
		by[[3]string{"file", string(model.ColumnFolder), fmt.Sprint(f.FolderID)}]++
		if f.Failure != "" {
			want[CountFailed]++
		}
	}
	view(t, o.store, func(tx *Tx) error {
		for c, n := range want {
			if tx.Count(c) != n {
				t.Errorf("Count(%s) = %d, want %d", c, tx.Count(c), n)
			}
		}
		for c, n := range by {
			if got := tx.CountBy(c[0], model.Column(c[1]), strings.ToUpper(c[2])); c[2] != "0" && got != n {
				t.Errorf("CountBy(%v) = %d, want %d", c, got, n)
			}
		}
		for id := range uint64(4) {
			if want := by[[3]string{"file", string(model.ColumnFolder), fmt.Sprint(id)}] > 0; id > 0 && tx.FolderInUse(id) != want {
				t.Errorf("FolderInUse(%d) = %v, want %v", id, !want, want)
			}
		}
		return nil
	})
}
