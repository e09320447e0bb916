package vault

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/search"
	"deedkeep/app/store"
)

// walked are the nouns in the order in which their records go into a new index.
var walked = []string{"abstract", "order", "file"}

const (
	// recordsAtOnce bounds one look into the database, which holds up its file's reuse
	// of room.
	recordsAtOnce = 64
	// followAtOnce bounds the changes of one batch, walkAtOnce its records.
	followAtOnce = 1024
	walkAtOnce   = 16_384
	// batchMemory is how much more a batch may hold than it has text.
	batchMemory = 8
)

// walk puts the next batch of records into an index that is being made.
func (x *indexer) walk(ctx context.Context, in *volume) error {
	x.standBack(ctx)
	if err := x.v.roomToIndex(); err != nil {
		return err
	}
	mark, place := in.mark, *in.mark.Place
	batch := x.newBatch(in)
	for !batch.full() && batch.records < walkAtOnce {
		var ids []uint64
		err := x.v.store.View(ctx, func(t *store.Tx) error { ids = t.Numbered(place.Noun, place.From, recordsAtOnce); return nil })
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			at := slices.Index(walked, place.Noun) + 1
			if at == len(walked) {
				mark.Place = nil
				if err := x.apply(ctx, in, batch, mark); err != nil {
					return err
				}
				return x.aim(ctx, in)
			}
			place.Noun, place.From = walked[at], 1
			continue
		}
		n, err := batch.fill(ctx, place.Noun, ids)
		if err != nil {
			return err
		}
		place.From, place.Done = ids[n-1]+1, place.Done+uint64(n)
	}
	mark.Place = &place
	return x.apply(ctx, in, batch, mark)
}

// aim sets what an index that has walked over all records must know to be whole.
func (x *indexer) aim(ctx context.Context, in *volume) error {
	return x.v.store.View(ctx, func(t *store.Tx) error { in.goal = t.LastChange(); return nil })
}

// standBack lets documents that arrive go first, for less long where somebody waits
// to search, as always: other background work is more patient.
func (x *indexer) standBack(ctx context.Context) { x.v.arrivals.waitAtMost(ctx, indexYield) }

// follow puts the next changes into an index that is whole.
func (x *indexer) follow(ctx context.Context, in *volume) (caught bool, err error) {
	mark := in.mark
	var changes []store.Change
	err = x.v.store.View(ctx, func(t *store.Tx) (err error) {
		if changes, err = t.Changes(mark.Change+1, followAtOnce); err != nil || len(changes) == 0 {
			return err
		}
		return mark.seen(t)
	})
	switch {
	case err != nil:
		return true, err
	case len(in.mark.Owed) > mostOwed, len(changes) == 0 && len(in.mark.Owed) > 0:
		return false, x.repay(ctx, in)
	case len(changes) == 0:
		in.single = false
		return true, nil
	}
	if err := x.v.roomToIndex(); err != nil {
		return false, err
	}
	x.v.arrivals.waitAtMost(ctx, indexYield)
	batch := x.newBatch(in)
	mark.Change, err = batch.follow(ctx, changes)
	if err != nil {
		return false, err
	}
	mark.owe(changes)
	return false, x.apply(ctx, in, batch, mark)
}

func (x *indexer) apply(ctx context.Context, in *volume, batch *indexBatch, mark indexMark) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := in.Apply(ctx, batch.wordBatch, mark.raw())
	switch {
	case errors.Is(err, search.ErrTerm) && batch.records > 1:
		in.single = true // one record a batch, until the one is met that it does not take
		return nil
	case errors.Is(err, search.ErrTerm):
		x.v.log.Error("a record is not in the search index", "kind", batch.last.Kind, "id", batch.last.ID, "error", err)
		in.single = false
		without := in.Batch()
		without.Remove(batch.last.Kind, batch.last.ID)
		err = in.Apply(ctx, without, mark.raw())
	}
	if err != nil {
		return err
	}
	in.mark = mark
	in.moved(mark)
	return nil
}

// moved shows a mark to those who look.
func (in *volume) moved(mark indexMark) {
	in.behind.Store(mark.Change)
	in.owed.Store(uint64(len(mark.Owed)))
	if mark.Place == nil {
		in.walkDone.Store(in.walkTotal.Load())
		return
	}
	in.walkTotal.Store(mark.Place.Total)
	in.walkDone.Store(mark.Place.Done)
}

// done is how far the walk has come; records that came after it began count too.
func (in *volume) done() (done, total uint64) {
	total = in.walkTotal.Load()
	return min(in.walkDone.Load(), total), total
}

// indexBatch is a batch and what is in it.
type indexBatch struct {
	wordBatch
	v       *Vault
	records int
	last    search.Document // of which only the place counts
	text    int64           // bytes
	single  bool            // it takes one record
}

func (x *indexer) newBatch(in *volume) *indexBatch {
	return &indexBatch{wordBatch: in.Batch(), v: x.v, single: in.single}
}

func (b *indexBatch) full() bool {
	most := b.v.set.Search.batch()
	return b.records > 0 && (b.single || b.text >= most || int64(b.Bytes()) >= batchMemory*most)
}

// follow puts changed records into the batch, each once, and tells up to which change
// the batch has all of them.
func (b *indexBatch) follow(ctx context.Context, changes []store.Change) (upTo uint64, err error) {
	seen := make(map[store.Change]bool, len(changes))
	for len(changes) > 0 {
		// A stretch of one noun, of records that were not yet in it.
		noun, ids := changes[0].Noun, []uint64(nil)
		seqs := []uint64(nil)
		for len(changes) > 0 && changes[0].Noun == noun && len(ids) < recordsAtOnce {
			c := changes[0]
			changes = changes[1:]
			upTo = c.Seq
			record := store.Change{Noun: c.Noun, ID: c.ID}
			if !seen[record] {
				seen[record] = true
				ids, seqs = append(ids, c.ID), append(seqs, c.Seq)
			}
		}
		if len(ids) == 0 {
			continue
		}
		n, err := b.fill(ctx, noun, ids)
		if err != nil {
			return 0, err
		}
		if n < len(ids) {
			return seqs[n] - 1, nil
		}
		if b.full() {
			return upTo, nil
		}
	}
	return upTo, nil
}

// fill puts records into the batch, or takes those out of the index that are not to
// be found any more, until it is full: it tells how many, one at least.
func (b *indexBatch) fill(ctx context.Context, noun string, ids []uint64) (n int, err error) {
	if noun == store.FilesOf {
		return len(ids), nil // which is owed
	}
	var list []indexed
	err = b.v.store.View(ctx, func(t *store.Tx) error {
		list = list[:0]
		for _, id := range ids {
			list = append(list, b.v.indexed(t, noun, id))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, record := range list {
		if err := b.put(ctx, record); err != nil {
			return 0, err
		}
		if n++; b.full() {
			break
		}
	}
	return n, nil
}

func (b *indexBatch) put(ctx context.Context, r indexed) error {
	b.records++
	b.last = search.Document{Kind: r.Kind, ID: r.ID}
	if !r.found {
		b.Remove(r.Kind, r.ID)
		return nil
	}
	if r.digest != "" {
		r.Text = func(page func(text string) error) error { return b.v.indexText(ctx, r, page, &b.text) }
	}
	return b.Put(r.Document)
}
