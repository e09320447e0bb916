package search

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// indexOwed are the files of an abstract that lies elsewhere now: they are found by that.
// There may be thousands of them, with all their text, for one small change, so that they
// wait until all other changes are in the index, and go in a batch at a time between
// those. Until then they are found, but not by where they lie now.
type indexOwed struct {
	Abstract uint64 `json:"abstract"`
	From     uint64 `json:"from,omitempty"` // the next file
}

// mostOwed bounds the mark: with more, what is owed goes first.
const mostOwed = 4096

// owe notes what of the changes up to the mark can wait.
func (m *indexMark) owe(changes []store.Change) {
	m.Owed = slices.Clone(m.Owed) // the mark before has it too
	for _, c := range changes {
		if c.Type != store.FilesOfAbstract || c.Seq > m.Change {
			continue
		}
		m.Owed = slices.DeleteFunc(m.Owed, func(o indexOwed) bool { return o.Abstract == c.ID })
		m.Owed = append(m.Owed, indexOwed{Abstract: c.ID})
	}
}

// repay puts a batch of what is owed into the index.
func (x *Indexer) repay(ctx context.Context, in *volume) error {
	if err := x.roomToIndex(in); err != nil {
		return err
	}
	x.yield(ctx, yieldFor)
	mark, batch := in.mark, x.newBatch(in)
	mark.Owed = slices.Clone(mark.Owed)
	for len(mark.Owed) > 0 && !batch.full() && batch.records < followAtOnce {
		owed := &mark.Owed[0]
		ids, err := x.filesFrom(ctx, *owed)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			mark.Owed = mark.Owed[1:]
			continue
		}
		n, err := batch.fill(ctx, fileNoun, ids)
		if err != nil {
			return err
		}
		owed.From = ids[n-1] + 1
	}
	return x.apply(ctx, in, batch, mark)
}

// filesFrom gives the next files of an abstract by their numbers; none of one that is
// gone, or damaged.
func (x *Indexer) filesFrom(ctx context.Context, owed indexOwed) (ids []uint64, err error) {
	var of model.Abstract
	err = x.store.View(ctx, func(t *store.Tx) (err error) {
		of, err = t.AbstractIncludingTrash(owed.Abstract)
		return err
	})
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
		x.log.Debug("files of an abstract are not looked at", "abstract", owed.Abstract, "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	ids = slices.DeleteFunc(slices.Clone(of.Files), func(id uint64) bool { return id < owed.From })
	slices.Sort(ids)
	return ids[:min(len(ids), recordsAtOnce)], nil
}
