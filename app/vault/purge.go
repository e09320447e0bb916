package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// purger ends what has had its time: records in the trash and kept answers.
type purger struct{ v *Vault }

const (
	// purgeEvery is how often it looks. What is due is refused to everybody before
	// that, and each purge costs the sweep a walk over all documents.
	purgeEvery = 10 * time.Minute
	// purgeAtOnce bounds the records of one commit. An abstract goes as a whole, with
	// all its documents, so that none is ever seen in part.
	purgeAtOnce = 64
)

func (p *purger) run(ctx context.Context) {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		if !p.v.goesOn(ctx, "purge", p.v.Purge(ctx)) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// purged is how much of the trash went.
type purged struct{ records, files int }

func (p *purged) add(more purged) { p.records, p.files = p.records+more.records, p.files+more.files }

// Purge removes for good what has been in the trash for its time, and answers that
// were kept for theirs. The bytes of documents go with the sweep that it asks for,
// unless another record has them.
func (v *Vault) Purge(ctx context.Context) error {
	gone, err := v.purgeTrash(ctx)
	if gone.records > 0 {
		v.log.Info("purged the trash", "records", gone.records, "files", gone.files)
	}
	if gone.files > 0 {
		v.sweeper.poke()
	}
	if err := errors.Join(err, v.pruneReplays(ctx)); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

func (v *Vault) purgeTrash(ctx context.Context) (gone purged, err error) {
	for ctx.Err() == nil {
		var due []store.TrashEntry
		var done purged
		var stuck error
		err := v.store.Update(ctx, func(t *store.Tx) (err error) {
			if due, err = v.due(t); err == nil && len(due) == 0 {
				return errSame
			}
			return err
		}, func(t *store.Tx) (err error) {
			done, stuck, err = v.purgeSome(t, due)
			return err
		})
		switch {
		case errors.Is(err, errSame):
			return gone, nil
		case err != nil:
			return gone, err
		case done.records == 0:
			return gone, stuck
		}
		gone.add(done)
		v.arrivals.wait(ctx)
	}
	return gone, ctx.Err()
}

// purgeSome tells what went. A damaged record stays, for a verification to name,
// and those behind it need not wait.
func (v *Vault) purgeSome(t *store.Tx, due []store.TrashEntry) (done purged, stuck, err error) {
	for _, e := range due {
		one, err := v.purge(t, e)
		if errors.Is(err, store.ErrDamaged) {
			stuck = fmt.Errorf("%s %d: %w", e.Noun, e.ID, err)
			continue
		}
		if err != nil {
			return purged{}, nil, fmt.Errorf("%s %d: %w", e.Noun, e.ID, err)
		}
		if done.add(one); done.records >= purgeAtOnce {
			break
		}
	}
	return done, stuck, nil
}

// due are records whose time in the trash is over, the oldest first.
func (v *Vault) due(t *store.Tx) ([]store.TrashEntry, error) {
	// Every time is in microseconds: this is the first at which nothing is due yet.
	return t.TrashedBefore(v.now().Add(time.Microsecond-v.set.TrashKeep), purgeAtOnce)
}

// purge removes one entry of the trash. It reads before it writes: a damaged record
// leaves everything as it is.
func (v *Vault) purge(t *store.Tx, e store.TrashEntry) (purged, error) {
	switch e.Noun {
	case abstractNoun.name:
		return v.purgeAbstract(t, e.ID)
	case orderNoun.name:
		if err := t.RemoveOrder(e.ID); err != nil {
			return purged{}, err
		}
		return purged{records: 1}, v.event(t, v.now(), title.System(), "order.purged", record("order", e.ID), nil)
	}
	file, err := t.AnyFile(e.ID)
	if err != nil {
		return purged{}, err
	}
	return purged{1, 1}, v.purgeFile(t, file)
}

func (v *Vault) purgeAbstract(t *store.Tx, id uint64) (purged, error) {
	in, err := abstractNoun.any(t, id)
	if err != nil {
		return purged{}, err
	}
	for _, file := range in.Files {
		if err := v.purgeFile(t, file); err != nil {
			return purged{}, err
		}
	}
	return purged{1 + len(in.Files), len(in.Files)}, errors.Join(t.RemoveAbstract(id),
		v.event(t, v.now(), title.System(), "abstract.purged", record("abstract", id), filesDetail(in)))
}

func (v *Vault) purgeFile(t *store.Tx, f title.File) error {
	return errors.Join(t.RemoveFile(f.ID), v.event(t, v.now(), title.System(), "file.purged", record("file", f.ID), fileDetail(f)))
}

// fileDetail is what the log says of a document besides its number.
func fileDetail(f title.File) map[string]string {
	detail := map[string]string{"sha256": f.Digest}
	if f.AbstractID != 0 {
		detail["abstract"] = record("abstract", f.AbstractID)
	}
	return detail
}

const pruneAtOnce = 256

func (v *Vault) pruneReplays(ctx context.Context) error {
	for ctx.Err() == nil {
		var pruned int
		err := v.store.Update(ctx, nil, func(t *store.Tx) (err error) {
			pruned, err = t.PruneReplays(v.now().Add(time.Microsecond-v.set.ReplayKeep), pruneAtOnce)
			return err
		})
		if err != nil || pruned < pruneAtOnce {
			return err
		}
	}
	return ctx.Err()
}
