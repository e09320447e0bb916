package search

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// pendingFiles are the files of an abstract that lies elsewhere now: they are found by that.
// There may be thousands of them, with all their text, for one small change, so that they
// wait until all other changes are in the index, and go in a batch at a time between
// those. Until then they are found, but not by where they lie now.
type pendingFiles struct {
	Abstract uint64 `json:"abstract"`
	NextFile uint64 `json:"from,omitempty"` // the next file
}

// maxPendingFiles bounds the mark: with more, what is owed goes first.
const maxPendingFiles = 4096

// addPendingFiles notes what of the changes up to the mark can wait.
func (m *checkpoint) addPendingFiles(changes []store.Change) {
	m.PendingFiles = slices.Clone(m.PendingFiles) // the mark before has it too
	for _, c := range changes {
		if c.Type != store.FilesOfAbstract || c.Seq > m.Change {
			continue
		}
		m.PendingFiles = slices.DeleteFunc(m.PendingFiles, func(o pendingFiles) bool { return o.Abstract == c.ID })
		m.PendingFiles = append(m.PendingFiles, pendingFiles{Abstract: c.ID})
	}
}

// applyPendingFiles puts a batch of what is owed into the index.
func (x *Indexer) applyPendingFiles(ctx context.Context, in *generation) error {
	if err := x.checkGrowthSpace(in); err != nil {
		return err
	}
	x.yield(ctx, maxYield)
	mark, batch := in.checkpoint, x.newBatch(in)
	mark.PendingFiles = slices.Clone(mark.PendingFiles)
	for len(mark.PendingFiles) > 0 && !batch.full() && batch.records < maxChangesPerBatch {
		owed := &mark.PendingFiles[0]
		ids, err := x.nextFiles(ctx, *owed)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			mark.PendingFiles = mark.PendingFiles[1:]
			continue
		}
		n, err := batch.addRecords(ctx, fileType, ids)
		if err != nil {
			return err
		}
		owed.NextFile = ids[n-1] + 1
	}
	return x.applyBatch(ctx, in, batch, mark)
}

// nextFiles gives the next files of an abstract by their numbers; none of one that is
// gone, or damaged.
func (x *Indexer) nextFiles(ctx context.Context, owed pendingFiles) (ids []uint64, err error) {
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
	ids = slices.DeleteFunc(slices.Clone(of.Files), func(id uint64) bool { return id < owed.NextFile })
	slices.Sort(ids)
	return ids[:min(len(ids), recordsPerRead)], nil
}
