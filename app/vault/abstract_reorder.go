package vault

import (
	"context"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// ReorderRequest is how documents of an abstract change places: one of them goes elsewhere, or
// several stand in another order in the places that they have together. What it says
// of documents that are not there is not looked at.
type ReorderRequest struct {
	File     uint64   // this one goes
	Position int      // to that place, from 1; or, where it is 0,
	Offset   int      // so many places down, or up where it is negative
	Sequence []uint64 // instead: these, in this order
}

// Reorder puts the documents of an abstract into another order, as they stand by then.
// NotFound when there is no such abstract.
func (a *Abstracts) Reorder(ctx context.Context, actor model.Actor, id uint64, move ReorderRequest) (AbstractWithFiles, error) {
	return patch(ctx, a.v, AbstractOps, actor, id, Match{}, func(_ *store.Tx, old AbstractWithFiles) (AbstractWithFiles, error) {
		now := old
		now.Abstract.Files = move.apply(old.Abstract.Files)
		now.Files = filesInOrder(old.Files, now.Abstract.Files)
		return now, nil
	})
}

// apply gives the numbers in their new order; files stays as it is.
func (m ReorderRequest) apply(files []uint64) []uint64 {
	order := slices.Clone(files)
	if m.Sequence != nil {
		return m.applySequence(order)
	}
	at := slices.Index(order, m.File)
	if at < 0 {
		return order
	}
	to := at + m.Offset
	if m.Position != 0 {
		to = m.Position - 1
	}
	return slices.Insert(slices.Delete(order, at, at+1), min(max(to, 0), len(order)-1), m.File)
}

// applySequence puts the named numbers into the places that they have together.
func (m ReorderRequest) applySequence(order []uint64) []uint64 {
	var list []uint64
	for _, id := range m.Sequence {
		if slices.Contains(order, id) && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	next := 0
	for i, id := range order {
		if slices.Contains(list, id) {
			order[i] = list[next]
			next++
		}
	}
	return order
}
