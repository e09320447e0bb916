package vault

import (
	"cmp"
	"context"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// These types of list queries and pages are declared in package store. They are repeated
// here because the api, ui, and cmd packages must not import store.
type (
	// Query selects, sorts, and pages the records of a list.
	Query = store.Query
	// Page is a page of a list. It includes the positions of the next and previous pages.
	Page[T any] = store.Page[T]
	// Filter restricts a list to records with a given value.
	Filter = store.Filter
)

// EventPosition returns the list position after the audit entry seq, for lists sorted by
// SortSequence. Sequence number 0 is the start of the list.
func EventPosition(seq uint64) []byte { return store.LogPosition(seq) }

// StatusCount is the number of live records with a status.
type StatusCount struct {
	Status string // as spelled in a definition; case-folded if no definition has it; "": no status
	Count  uint64
	Open   bool // whether orders with this status are open (model.IsOpenStatus); unused for abstracts
}

// OrderStatuses returns the defined order statuses in their sequence, followed by any
// other statuses in use.
func OrderStatuses(t *store.Tx) ([]StatusCount, error) {
	names, err := t.OrderStatuses()
	list := orderedCounts(t.ValueCounts(OrderOps.Name, model.ColumnStatus), names)
	for i := range list {
		list[i].Open = model.IsOpenStatus(list[i].Status)
	}
	return list, err
}

// Statuses returns the statuses of abstracts with their counts. The statuses of the
// active templates come first, in the sequence of the first template that has them. Other
// statuses that abstracts have come last, spelled as in a retired template.
func (a *Abstracts) Statuses(ctx context.Context) ([]StatusCount, error) {
	return store.Read(ctx, a.v.Store, AbstractStatuses)
}

// AbstractStatuses implements Abstracts.Statuses within a transaction.
func AbstractStatuses(t *store.Tx) ([]StatusCount, error) {
	templates, err := t.Templates()
	var names []string
	retired := map[string]string{}
	for _, template := range templates {
		for _, name := range template.Statuses {
			switch fold := model.Fold(name); {
			case template.Retired:
				retired[fold] = name
			case !slices.ContainsFunc(names, func(known string) bool { return model.Fold(known) == fold }):
				names = append(names, name)
			}
		}
	}
	list := orderedCounts(t.ValueCounts(AbstractOps.Name, model.ColumnStatus), names)
	for i := range list[len(names):] {
		c := &list[len(names)+i]
		c.Status = cmp.Or(retired[c.Status], c.Status)
	}
	return list, err
}

// orderedCounts returns counts sorted in the order of names. The remaining counts follow
// in alphabetical order.
func orderedCounts(counts []store.ValueCount, names []string) (list []StatusCount) {
	for _, name := range names {
		sc := StatusCount{Status: name}
		fold := model.Fold(name)
		if i := slices.IndexFunc(counts, func(count store.ValueCount) bool { return count.Value == fold }); i >= 0 {
			sc.Count = counts[i].Count
			counts = slices.Delete(counts, i, i+1)
		}
		list = append(list, sc)
	}
	for _, count := range counts {
		list = append(list, StatusCount{Status: count.Value, Count: count.Count})
	}
	return list
}
