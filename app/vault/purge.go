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

// Purger deletes expired records in the trash and expired stored responses.
type Purger struct {
	v *Vault

	mu            sync.Mutex
	lastRun       time.Time // the turn before
	clockJumpedAt time.Time // of the clock, as far as known (leap.go)
}

const (
	// purgeInterval is the time between two runs. Expired records are inaccessible before
	// that, and each run that deletes documents causes a sweep.
	purgeInterval = 10 * time.Minute
	// purgeBatchSize is the number of records after which a commit ends. An abstract is
	// always purged together with all its documents.
	purgeBatchSize = 64
	// trashScanSize is the maximum number of trash entries read in one transaction.
	trashScanSize = 256
)

// Run purges at intervals until ctx is done or the store is read-only.
func (p *Purger) Run(ctx context.Context) {
	tick := time.NewTicker(purgeInterval)
	defer tick.Stop()
	for {
		if !p.v.ShouldContinue(ctx, "purge", p.runOnce(ctx)) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// runOnce purges expired records, unless the clock has jumped.
func (p *Purger) runOnce(ctx context.Context) error {
	defer p.v.Reserve.Fill(p.v.Log)
	if p.holdsAfterClockJump(ctx) {
		return nil
	}
	return p.v.Purge(ctx)
}

// purgeCounts counts purged and kept records.
type purgeCounts struct{ records, files, kept int }

func (p *purgeCounts) add(more purgeCounts) {
	p.records, p.files, p.kept = p.records+more.records, p.files+more.files, p.kept+more.kept
}

// Purge permanently deletes expired records in the trash and expired stored responses. A
// sweep that it requests deletes the blobs that no record refers to.
func (v *Vault) Purge(ctx context.Context) error {
	// Every time is in microseconds: this is the first at which nothing is due yet.
	due := purgeRun{v: v, actor: model.SystemActor(), before: v.Now().Add(time.Microsecond - v.Settings.TrashPeriod)}
	gone, err := due.run(ctx)
	if gone.records > 0 {
		v.Log.Info("purged the trash", "records", gone.records, "files", gone.files)
	}
	if gone.files > 0 {
		v.Orphans.Notify()
	}
	if err := errors.Join(err, v.pruneStoredResponses(ctx)); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// purgeRun is one pass over the trash.
type purgeRun struct {
	v           *Vault
	actor       model.Actor
	before      time.Time // what went into the trash before then
	manual      bool      // also what has not had its time in the trash
	clockJumped bool      // the clock leapt: no retention is taken to be over
	liftReason  string    // why the retention does not count; "" where it does
}

// mayPurge reports whether a record may be purged now.
func (p *purgeRun) mayPurge(item Trashed) bool {
	now := p.v.Now()
	switch {
	case p.liftReason != "":
		return true
	case !item.RetainedUntil.IsZero() && (p.clockJumped || now.Before(item.RetainedUntil)):
		return false
	}
	return p.manual || !now.Before(item.Until)
}

// run purges all records that may be purged. It skips damaged records and returns them
// in the error, so that verification can report them.
func (p *purgeRun) run(ctx context.Context) (gone purgeCounts, err error) {
	var stuck error
	for behind := (store.TrashEntry{}); ; {
		list, last, kept, err := p.nextEntries(ctx, behind)
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

// nextEntries reads a batch of trash entries. It returns those that may be purged, the
// last one read (zero at the end of the trash), and the number of kept ones.
func (p *purgeRun) nextEntries(ctx context.Context, behind store.TrashEntry) (list []store.TrashEntry, last store.TrashEntry, kept int, err error) {
	err = p.v.Store.View(ctx, func(t *store.Tx) error {
		entries, err := t.TrashedBefore(p.before, behind, trashScanSize)
		if err != nil {
			return err
		}
		for _, e := range entries {
			item, err := p.v.readTrashEntry(t, e)
			switch {
			case err != nil && !errors.Is(err, store.ErrDamaged):
				return err
			case err != nil || p.mayPurge(item): // a damaged one is named where it would be purged
				list = append(list, e)
			default:
				kept++
			}
		}
		if len(entries) == trashScanSize {
			last = entries[trashScanSize-1]
		}
		return nil
	})
	return list, last, kept, err
}

// commit purges the first entries of a list in one transaction and returns the rest.
func (p *purgeRun) commit(ctx context.Context, list []store.TrashEntry) (done purgeCounts, left []store.TrashEntry, stuck, err error) {
	items := make([]Trashed, len(list))
	err = p.v.UpdateFromReserve(ctx, p.actor, func(t *store.Tx) error {
		if err := p.v.AuthorizeAdmin(t, p.actor); err != nil {
			return err
		}
		clear(items)
		some := false
		stuck = nil
		for i, e := range list {
			item, err := p.reread(t, e)
			switch {
			case errors.Is(err, store.ErrDamaged):
				stuck = errors.Join(stuck, fmt.Errorf("%s %d: %w", e.Type, e.ID, err))
			case err != nil:
				return err
			case item.Type != "":
				items[i], some = item, true
			}
		}
		if !some {
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) error {
		done, left = purgeCounts{}, nil
		for i, item := range items {
			if done.records >= purgeBatchSize {
				left = list[i:]
				return nil
			}
			if item.Type == "" {
				continue
			}
			one, err := p.purge(t, item)
			if errors.Is(err, store.ErrDamaged) {
				stuck = errors.Join(stuck, fmt.Errorf("%s %d: %w", item.Type, item.ID, err))
				continue
			}
			if err != nil {
				return fmt.Errorf("%s %d: %w", item.Type, item.ID, err)
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

// reread reads an entry inside the transaction. It returns the zero Trashed if the
// record was restored or may no longer be purged.
func (p *purgeRun) reread(t *store.Tx, e store.TrashEntry) (Trashed, error) {
	item, err := p.v.findInTrash(t, e.Type, e.ID)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return Trashed{}, nil
	case err != nil || item.At.Equal(e.At) && p.mayPurge(item):
		return item, err
	}
	return Trashed{}, nil
}

// purge deletes the record of one entry. It reads before it writes, so that a damaged
// record leaves everything unchanged.
func (p *purgeRun) purge(t *store.Tx, item Trashed) (done purgeCounts, err error) {
	at := p.v.Now()
	var in AbstractWithFiles
	switch item.Type {
	case AbstractOps.Name:
		if in, err = AbstractOps.getIncludingTrash(t, item.ID); err != nil {
			return done, err
		}
	case FileOps.Name:
		file, err := t.FileIncludingTrash(item.ID)
		if err != nil {
			return done, err
		}
		in.Files = []model.File{file}
	}
	if err := p.logLiftedRetention(t, at, item); err != nil {
		return done, err
	}
	for _, file := range in.Files {
		if err := errors.Join(t.RemoveFile(file.ID), p.addEvent(t, at, FileOps.Name, file.ID, file.Filename, fileEventDetail(file))); err != nil {
			return done, err
		}
	}
	done = purgeCounts{records: len(in.Files), files: len(in.Files)}
	switch item.Type {
	case AbstractOps.Name:
		done.records++
		err = errors.Join(t.RemoveAbstract(item.ID), p.addEvent(t, at, item.Type, item.ID, item.Heading, fileCountDetail(in)))
	case OrderOps.Name:
		done.records++
		err = errors.Join(t.RemoveOrder(item.ID), p.addEvent(t, at, item.Type, item.ID, item.Heading, nil))
	}
	return done, err
}

// addEvent writes the audit entry of a purge. A manual purge includes the name, because
// it cannot be looked up afterward.
func (p *purgeRun) addEvent(t *store.Tx, at time.Time, recordType string, id uint64, name string, detail map[string]string) error {
	if p.manual {
		named := map[string]string{"name": name}
		maps.Copy(named, detail)
		detail = named
	}
	return p.v.AddEvent(t, at, p.actor, recordType+".purged", txn.RecordRef(recordType, id), detail)
}

// logLiftedRetention writes an audit entry if a retention is overridden.
func (p *purgeRun) logLiftedRetention(t *store.Tx, at time.Time, item Trashed) error {
	if p.liftReason == "" || !at.Before(item.RetainedUntil) {
		return nil
	}
	return p.v.AddEvent(t, at, p.actor, "retention.lifted", txn.RecordRef(item.Type, item.ID), map[string]string{
		"name": item.Heading, "reason": p.liftReason, "until": item.RetainedUntil.Format(time.RFC3339),
	})
}

// fileEventDetail returns the details of a document in an audit entry.
func fileEventDetail(f model.File) map[string]string {
	detail := map[string]string{"sha256": f.Digest}
	if f.AbstractID != 0 {
		detail["abstract"] = txn.RecordRef("abstract", f.AbstractID)
	}
	return detail
}

const pruneBatchSize = 256

func (v *Vault) pruneStoredResponses(ctx context.Context) error {
	for ctx.Err() == nil {
		var pruned int
		before := v.Now().Add(time.Microsecond - v.Settings.IdempotencyPeriod)
		err := v.Store.Update(ctx, func(t *store.Tx) error {
			if !t.HasStoredResponsesBefore(before) {
				return txn.ErrNoChange
			}
			return nil
		}, func(t *store.Tx) (err error) {
			pruned, err = t.PruneStoredResponses(before, pruneBatchSize)
			return err
		})
		if errors.Is(err, txn.ErrNoChange) {
			return nil
		}
		if err != nil || pruned < pruneBatchSize {
			return err
		}
	}
	return ctx.Err()
}
