package vault

import (
	"context"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// ReorderRequest changes the sequence of documents in an abstract. It either moves one
// document or rearranges several documents among the positions they already occupy. IDs
// of documents that are not in the abstract are ignored.
type ReorderRequest struct {
	File     uint64   // document to move
	Position int      // new position, starting at 1; 0: use Offset
	Offset   int      // number of positions to move down; negative: up
	Sequence []uint64 // if not nil, rearrange these documents in this sequence
}

// Reorder changes the sequence of the documents in an abstract. It ignores documents that
// were removed in the meantime. It returns NotFound if the abstract does not exist.
func (a *Abstracts) Reorder(ctx context.Context, actor model.Actor, id uint64, request ReorderRequest) (AbstractWithFiles, error) {
	return patch(ctx, a.v, AbstractOps, actor, id, Match{}, func(_ *store.Tx, old AbstractWithFiles) (AbstractWithFiles, error) {
		now := old
		now.Abstract.Files = request.apply(old.Abstract.Files)
		now.Files = filesInOrder(old.Files, now.Abstract.Files)
		return now, nil
	})
}

// apply returns the IDs in their new sequence. It doesn't modify files.
func (r ReorderRequest) apply(files []uint64) []uint64 {
	order := slices.Clone(files)
	if r.Sequence != nil {
		return r.applySequence(order)
	}
	at := slices.Index(order, r.File)
	if at < 0 {
		return order
	}
	to := at + r.Offset
	if r.Position != 0 {
		to = r.Position - 1
	}
	return slices.Insert(slices.Delete(order, at, at+1), min(max(to, 0), len(order)-1), r.File)
}

// applySequence places the requested IDs, in their new sequence, into the positions that
// these IDs occupy now.
func (r ReorderRequest) applySequence(order []uint64) []uint64 {
	var list []uint64
	for _, id := range r.Sequence {
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
