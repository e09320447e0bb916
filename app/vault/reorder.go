package vault

import (
	"context"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Move is how documents of an abstract change places: one of them goes elsewhere, or
// several stand in another order in the places that they have together. What it says
// of documents that are not there is not looked at.
type Move struct {
	File  uint64   // this one goes
	To    int      // to that place, from 1; or, where it is 0,
	By    int      // so many places down, or up where it is negative
	Named []uint64 // instead: these, in this order
}

// Reorder puts the documents of an abstract into another order, as they stand by then.
// NotFound when there is no such abstract.
func (a *Abstracts) Reorder(ctx context.Context, actor model.Actor, id uint64, move Move) (Filed, error) {
	return patch(ctx, a.v, AbstractNoun, actor, id, Match{}, func(_ *store.Tx, old Filed) (Filed, error) {
		now := old
		now.Abstract.Files = move.order(old.Abstract.Files)
		now.Files = inOrder(old.Files, now.Abstract.Files)
		return now, nil
	})
}

// order gives the numbers in their new order; files stays as it is.
func (m Move) order(files []uint64) []uint64 {
	order := slices.Clone(files)
	if m.Named != nil {
		return m.named(order)
	}
	at := slices.Index(order, m.File)
	if at < 0 {
		return order
	}
	to := at + m.By
	if m.To != 0 {
		to = m.To - 1
	}
	return slices.Insert(slices.Delete(order, at, at+1), min(max(to, 0), len(order)-1), m.File)
}

// named puts the named numbers into the places that they have together.
func (m Move) named(order []uint64) []uint64 {
	var list []uint64
	for _, id := range m.Named {
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
