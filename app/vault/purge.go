package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// purger ends what has had its time: records in the trash and kept answers.
type Purger struct {
	v *Vault

	mu      sync.Mutex
	seen    time.Time // the turn before
	leaptAt time.Time // of the clock, as far as known (leap.go)
}

const (
	// purgeEvery is how often it looks. What is due is refused to everybody before
	// that, and each purge costs the sweep a walk over all documents.
	purgeEvery = 10 * time.Minute
	// purgeAtOnce bounds the records of one commit. An abstract goes as a whole, with
	// all its documents, so that none is ever seen in part.
	purgeAtOnce = 64
	// lookAtOnce bounds the entries of the trash that one transaction reads.
	lookAtOnce = 256
)

func (p *Purger) Run(ctx context.Context) {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		if !p.v.ShouldContinue(ctx, "purge", p.turn(ctx)) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turn purges what is due, unless the clock is in doubt.
func (p *Purger) turn(ctx context.Context) error {
	defer p.v.Reserve.Fill(p.v.Log)
	if p.rests(ctx) {
		return nil
	}
	return p.v.Purge(ctx)
}

// purged is how much of the trash went, and how much stays.
type purged struct{ records, files, kept int }

func (p *purged) add(more purged) {
	p.records, p.files, p.kept = p.records+more.records, p.files+more.files, p.kept+more.kept
}

// Purge removes permanently what has been in the trash for its time, and answers that
// were kept for theirs. The bytes of documents go with the sweep that it asks for,
// unless another record has them.
func (v *Vault) Purge(ctx context.Context) error {
	// Every time is in microseconds: this is the first at which nothing is due yet.
	due := purging{v: v, actor: model.SystemActor(), before: v.Now().Add(time.Microsecond - v.Set.TrashKeep)}
	gone, err := due.run(ctx)
	if gone.records > 0 {
		v.Log.Info("purged the trash", "records", gone.records, "files", gone.files)
	}
	if gone.files > 0 {
		v.Orphans.Notify()
	}
	if err := errors.Join(err, v.pruneReplays(ctx)); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// purging is one way through the trash.
type purging struct {
	v      *Vault
	actor  model.Actor
	before time.Time // what went into the trash before then
	byHand bool      // also what has not had its time in the trash
	doubt  bool      // the clock leapt: no retention is taken to be over
	lift   string    // why the retention does not count; "" where it does
}

// lets reports whether a record may go now.
func (p *purging) lets(item Trashed) bool {
	now := p.v.Now()
	switch {
	case p.lift != "":
		return true
	case !item.Retained.IsZero() && (p.doubt || now.Before(item.Retained)):
		return false
	}
	return p.byHand || !now.Before(item.Until)
}

// run purges what may go. A damaged record stays, for a verification to name, and those
// behind it need not wait.
func (p *purging) run(ctx context.Context) (gone purged, err error) {
	var stuck error
	for behind := (store.TrashEntry{}); ; {
		list, last, kept, err := p.look(ctx, behind)
		if err != nil {
			return gone, errors.Join(stuck, err)
		}
		gone.kept += kept
		for len(list) > 0 {
			done, left, damaged, err := p.commit(ctx, list)
			if err != nil {
				return gone, errors.Join(stuck, err)
			}
			gone.add(done)
			stuck, list = errors.Join(stuck, damaged), left
			p.v.Activity.WaitIdle(ctx)
		}
		if last.Type == "" {
			return gone, stuck
		}
		behind = last
	}
}

// look reads some entries: those that may go, the last one read (none at the end of the
// trash), and how many stay.
func (p *purging) look(ctx context.Context, behind store.TrashEntry) (list []store.TrashEntry, last store.TrashEntry, kept int, err error) {
	err = p.v.Store.View(ctx, func(t *store.Tx) error {
		entries, err := t.TrashedBefore(p.before, behind, lookAtOnce)
		if err != nil {
			return err
		}
		for _, e := range entries {
			item, err := p.v.trashed(t, e)
			switch {
			case err != nil && !errors.Is(err, store.ErrDamaged):
				return err
			case err != nil || p.lets(item): // a damaged one is named where it would be purged
				list = append(list, e)
			default:
				kept++
			}
		}
		if len(entries) == lookAtOnce {
			last = entries[lookAtOnce-1]
		}
		return nil
	})
	return list, last, kept, err
}

// commit purges the first of a list, as many as one commit takes, and gives those that
// are left.
func (p *purging) commit(ctx context.Context, list []store.TrashEntry) (done purged, left []store.TrashEntry, stuck, err error) {
	items := make([]Trashed, len(list))
	err = p.v.UpdateFromReserve(ctx, p.actor, func(t *store.Tx) error {
		if err := p.v.AuthorizeAdmin(t, p.actor); err != nil {
			return err
		}
		clear(items)
		some := false
		stuck = nil
		for i, e := range list {
			item, err := p.again(t, e)
			switch {
			case errors.Is(err, store.ErrDamaged):
				stuck = errors.Join(stuck, fmt.Errorf("%s %d: %w", e.Type, e.ID, err))
			case err != nil:
				return err
			case item.Noun != "":
				items[i], some = item, true
			}
		}
		if !some {
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) error {
		done, left = purged{}, nil
		for i, item := range items {
			if done.records >= purgeAtOnce {
				left = list[i:]
				return nil
			}
			if item.Noun == "" {
				continue
			}
			one, err := p.purge(t, item)
			if errors.Is(err, store.ErrDamaged) {
				stuck = errors.Join(stuck, fmt.Errorf("%s %d: %w", item.Noun, item.ID, err))
				continue
			}
			if err != nil {
				return fmt.Errorf("%s %d: %w", item.Noun, item.ID, err)
			}
			done.add(one)
		}
		return nil
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return done, left, stuck, err
}

// again reads an entry in the transaction that would purge it; without a noun when it was
// restored since, or may no longer go.
func (p *purging) again(t *store.Tx, e store.TrashEntry) (Trashed, error) {
	item, err := p.v.inTrash(t, e.Type, e.ID)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return Trashed{}, nil
	case err != nil || item.At.Equal(e.At) && p.lets(item):
		return item, err
	}
	return Trashed{}, nil
}

// purge removes one entry of the trash. It reads before it writes: a damaged record
// leaves everything as it is.
func (p *purging) purge(t *store.Tx, item Trashed) (done purged, err error) {
	at := p.v.Now()
	var in Filed
	switch item.Noun {
	case AbstractNoun.Name:
		if in, err = AbstractNoun.any(t, item.ID); err != nil {
			return done, err
		}
	case FileNoun.Name:
		file, err := t.FileIncludingTrash(item.ID)
		if err != nil {
			return done, err
		}
		in.Files = []model.File{file}
	}
	if err := p.lifted(t, at, item); err != nil {
		return done, err
	}
	for _, file := range in.Files {
		if err := errors.Join(t.RemoveFile(file.ID), p.event(t, at, FileNoun.Name, file.ID, file.Filename, fileDetail(file))); err != nil {
			return done, err
		}
	}
	done = purged{records: len(in.Files), files: len(in.Files)}
	switch item.Noun {
	case AbstractNoun.Name:
		done.records++
		err = errors.Join(t.RemoveAbstract(item.ID), p.event(t, at, item.Noun, item.ID, item.Heading, filesDetail(in)))
	case OrderNoun.Name:
		done.records++
		err = errors.Join(t.RemoveOrder(item.ID), p.event(t, at, item.Noun, item.ID, item.Heading, nil))
	}
	return done, err
}

// event logs a purge. By hand it names what went: no one can look it up afterward.
func (p *purging) event(t *store.Tx, at time.Time, noun string, id uint64, name string, detail map[string]string) error {
	if p.byHand {
		named := map[string]string{"name": name}
		maps.Copy(named, detail)
		detail = named
	}
	return p.v.AddEvent(t, at, p.actor, noun+".purged", txn.RecordRef(noun, id), detail)
}

// lifted logs that the retention of a record does not count, where there is one.
func (p *purging) lifted(t *store.Tx, at time.Time, item Trashed) error {
	if p.lift == "" || !at.Before(item.Retained) {
		return nil
	}
	return p.v.AddEvent(t, at, p.actor, "retention.lifted", txn.RecordRef(item.Noun, item.ID), map[string]string{
		"name": item.Heading, "reason": p.lift, "until": item.Retained.Format(time.RFC3339),
	})
}

// fileDetail is what the log says of a document besides its number.
func fileDetail(f model.File) map[string]string {
	detail := map[string]string{"sha256": f.Digest}
	if f.AbstractID != 0 {
		detail["abstract"] = txn.RecordRef("abstract", f.AbstractID)
	}
	return detail
}

const pruneAtOnce = 256

func (v *Vault) pruneReplays(ctx context.Context) error {
	for ctx.Err() == nil {
		var pruned int
		before := v.Now().Add(time.Microsecond - v.Set.ReplayKeep)
		err := v.Store.Update(ctx, func(t *store.Tx) error {
			if !t.HasStoredResponsesBefore(before) {
				return txn.ErrNoChange
			}
			return nil
		}, func(t *store.Tx) (err error) {
			pruned, err = t.PruneStoredResponses(before, pruneAtOnce)
			return err
		})
		if errors.Is(err, txn.ErrNoChange) {
			return nil
		}
		if err != nil || pruned < pruneAtOnce {
			return err
		}
	}
	return ctx.Err()
}
