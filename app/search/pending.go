package search

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// pendingFiles refers to the files of an abstract whose property or template changed. One small change
// may affect thousands of files with all their text, so they are reindexed in batches after all other
// changes. Until then, searches find them under the old property.
type pendingFiles struct {
	Abstract uint64 `json:"abstract"`
	NextFile uint64 `json:"next_file,omitempty"` // ID of the next file to reindex
}

// maxPending limits the size of the checkpoint. If there are more entries, pending files are
// indexed before other changes.
const maxPending = 4096

// addPending adds an entry for each abstract in changes whose files have to be reindexed, and for each
// document type that was renamed. It ignores changes that the checkpoint does not cover.
func (ch *checkpoint) addPending(changes []store.Change) {
	ch.PendingFiles, ch.PendingInstruments = slices.Clone(ch.PendingFiles), slices.Clone(ch.PendingInstruments) // the current checkpoint shares them
	for _, c := range changes {
		if c.Seq > ch.Change {
			continue
		}
		if c.Type == store.InstrumentsOfType {
			ch.addInstruments(c.ID)
		}
		if c.Type != store.FilesOfAbstract {
			continue
		}
		ch.PendingFiles = slices.DeleteFunc(ch.PendingFiles, func(o pendingFiles) bool { return o.Abstract == c.ID })
		ch.PendingFiles = append(ch.PendingFiles, pendingFiles{Abstract: c.ID})
	}
}

// applyPending reindexes the next batch of pending files and instruments.
func (in *Indexer) applyPending(ctx context.Context, gen *generation) error {
	if err := in.checkGrowthSpace(gen); err != nil {
		return err
	}
	in.options.Yield(ctx, maxYield)
	cp, batch := gen.checkpoint, in.newBatch(gen)
	cp.PendingFiles = slices.Clone(cp.PendingFiles)
	for len(cp.PendingFiles) > 0 && !batch.full() && batch.records < maxChangesPerBatch {
		pending := &cp.PendingFiles[0]
		ids, err := in.nextFiles(ctx, *pending)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			cp.PendingFiles = cp.PendingFiles[1:]
			continue
		}
		n, err := batch.addIDs(ctx, query.File, ids)
		if err != nil {
			return err
		}
		pending.NextFile = ids[n-1] + 1
	}
	if err := in.addPendingInstruments(ctx, batch, &cp); err != nil {
		return err
	}
	return in.applyBatch(ctx, gen, batch, cp)
}

// nextFiles returns the IDs of the next pending files of an abstract in ascending order. It returns
// none if the abstract is deleted or damaged.
func (in *Indexer) nextFiles(ctx context.Context, pending pendingFiles) (ids []uint64, err error) {
	abstract, err := store.Read(ctx, in.options.Store, func(t *store.Tx) (model.Abstract, error) {
		return t.AbstractIncludingTrash(pending.Abstract)
	})
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
		in.options.Log.Debug("documents of an abstract not updated in the search index", "abstract", pending.Abstract, "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	ids = slices.DeleteFunc(slices.Clone(abstract.Files), func(id uint64) bool { return id < pending.NextFile })
	slices.Sort(ids)
	return ids[:min(len(ids), recordsPerRead)], nil
}

// pendingInstruments refers to the instruments of a document type that was renamed. Like pendingFiles,
// they are reindexed in batches after all other changes. Until then,
// searches find them under the old name of their type.
type pendingInstruments struct {
	Type     uint64 `json:"type"`
	Position []byte `json:"position,omitempty"` // position in the list of these instruments, see store.Query
}

// addInstruments adds an entry for a document type. An entry for the same type starts again.
func (ch *checkpoint) addInstruments(documentType uint64) {
	ch.PendingInstruments = slices.DeleteFunc(ch.PendingInstruments, func(o pendingInstruments) bool { return o.Type == documentType })
	ch.PendingInstruments = append(ch.PendingInstruments, pendingInstruments{Type: documentType})
}

// addPendingInstruments adds the next pending instruments to a batch. cp is the checkpoint of the
// batch.
func (in *Indexer) addPendingInstruments(ctx context.Context, batch *indexBatch, cp *checkpoint) error {
	cp.PendingInstruments = slices.Clone(cp.PendingInstruments)
	for len(cp.PendingInstruments) > 0 && !batch.full() && batch.records < maxChangesPerBatch {
		pending := &cp.PendingInstruments[0]
		limit := recordsPerRead
		if batch.singleRecord {
			limit = 1
		}
		page, err := in.nextInstruments(ctx, *pending, limit)
		if err != nil {
			return err
		}
		ids := make([]uint64, len(page.Items))
		for i, item := range page.Items {
			ids[i] = item.ID
		}
		for len(ids) > 0 { // even if the batch is full, because the position is that of the page
			n, err := batch.addIDs(ctx, query.Instrument, ids)
			if err != nil {
				return err
			}
			ids = ids[n:]
		}
		if pending.Position = page.Next; page.Next == nil {
			cp.PendingInstruments = cp.PendingInstruments[1:]
		}
	}
	return nil
}

// nextInstruments returns up to limit pending instruments of a document type, oldest first.
func (in *Indexer) nextInstruments(ctx context.Context, pending pendingInstruments, limit int) (page store.Page[model.Instrument],
	err error) {
	q := store.Query{Position: pending.Position, Limit: limit,
		Filters: []store.Filter{{Column: model.ColumnDocumentType, Value: strconv.FormatUint(pending.Type, 10)}}}
	err = in.options.Store.View(ctx, func(t *store.Tx) (err error) { page, err = t.ListInstruments(q); return err })
	return page, err
}
