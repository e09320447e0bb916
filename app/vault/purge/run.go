package purge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// noteType is the type of notes in the trash.
const noteType = "note"

// counts has the numbers of purged and kept records.
type counts struct{ records, files, kept int }

func (c *counts) add(more counts) {
	c.records, c.files, c.kept = c.records+more.records, c.files+more.files, c.kept+more.kept
}

// pass is one pass over the trash.
type pass struct {
	v           *vault.Vault
	actor       model.Actor
	before      time.Time // limits the purge to records trashed before this time
	manual      bool      // whether to include records that have not expired
	clockJumped bool      // whether the clock has jumped; if so, retention periods count as not over
	liftReason  string    // reason to override retention; "": retention applies
}

// mayPurge reports whether a record may be purged now.
func (p *pass) mayPurge(item vault.Trashed) bool {
	now := p.v.Now()
	switch {
	case p.liftReason != "":
		return true
	case !item.RetainedUntil.IsZero() && (p.clockJumped || now.Before(item.RetainedUntil)):
		return false
	}
	return p.manual || !now.Before(item.Until)
}

// run purges all records that may be purged. It skips damaged records and includes them
// in the returned error.
func (p *pass) run(ctx context.Context) (purged counts, err error) {
	var failed error
	for after := (store.TrashEntry{}); ; {
		list, last, kept, err := p.nextEntries(ctx, after)
		if err != nil {
			return purged, errors.Join(failed, err)
		}
		purged.kept += kept
		for len(list) > 0 {
			done, rest, damaged, err := p.commit(ctx, list)
			if err != nil {
				return purged, errors.Join(failed, err)
			}
			purged.add(done)
			failed, list = errors.Join(failed, damaged), rest
			p.v.Activity.WaitIdle(ctx)
		}
		if last.Type == "" {
			return purged, failed
		}
		after = last
	}
}

// nextEntries reads a batch of trash entries. It returns the entries that may be purged
// and the number of the others. last is the last entry read, or zero if it was the last
// one in the trash.
func (p *pass) nextEntries(ctx context.Context, after store.TrashEntry) (list []store.TrashEntry, last store.TrashEntry,
	kept int, err error) {
	err = p.v.Store.View(ctx, func(t *store.Tx) error {
		entries, err := t.TrashedBefore(p.before, after, trashScanSize)
		if err != nil {
			return err
		}
		for _, e := range entries {
			item, err := p.v.Trash.ReadEntry(t, e)
			switch {
			case err != nil && !errors.Is(err, store.ErrDamaged):
				return err
			case err != nil || p.mayPurge(item): // commit reports damaged records
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

// commit purges the first entries of list in one transaction and returns the remaining
// entries in rest. damaged lists the damaged records, which it skips.
func (p *pass) commit(ctx context.Context, list []store.TrashEntry) (done counts, rest []store.TrashEntry, damaged, err error) {
	items := make([]vault.Trashed, len(list))
	err = p.v.UpdateFromReserve(ctx, p.actor, func(t *store.Tx) error {
		if err := p.v.AuthorizeAdmin(t, p.actor); err != nil {
			return err
		}
		clear(items)
		found := false
		damaged = nil
		for i, e := range list {
			item, err := p.reread(t, e)
			switch {
			case errors.Is(err, store.ErrDamaged):
				damaged = errors.Join(damaged, fmt.Errorf("%s %d: %w", e.Type, e.ID, err))
			case err != nil:
				return err
			case item.Type != "":
				items[i], found = item, true
			}
		}
		if !found {
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) error {
		done, rest = counts{}, nil
		for i, item := range items {
			if done.records >= purgeBatchSize {
				rest = list[i:]
				return nil
			}
			if item.Type == "" {
				continue
			}
			purged, err := p.purge(t, item)
			if errors.Is(err, store.ErrDamaged) {
				damaged = errors.Join(damaged, fmt.Errorf("%s %d: %w", item.Type, item.ID, err))
				continue
			}
			if err != nil {
				return fmt.Errorf("%s %d: %w", item.Type, item.ID, err)
			}
			done.add(purged)
		}
		return nil
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return done, rest, damaged, err
}

// reread reads a trash entry again inside the write transaction. It returns the zero
// vault.Trashed if the record was restored or may no longer be purged.
func (p *pass) reread(t *store.Tx, e store.TrashEntry) (vault.Trashed, error) {
	item, err := p.v.Trash.FindIn(t, e.Type, e.ID)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return vault.Trashed{}, nil
	case err != nil || item.At.Equal(e.At) && p.mayPurge(item):
		return item, err
	}
	return vault.Trashed{}, nil
}

// purge deletes a record. It reads everything before the first write, so that nothing
// changes if the record is damaged.
func (p *pass) purge(t *store.Tx, item vault.Trashed) (purged counts, err error) {
	at := p.v.Now()
	var in vault.AbstractWithFiles
	var instrument model.Instrument
	var note model.Note
	switch item.Type {
	case vault.AbstractOps.Name:
		in, err = vault.AbstractIncludingTrash(t, item.ID)
	case vault.FileOps.Name:
		in.Files = make([]model.File, 1)
		in.Files[0], err = t.FileIncludingTrash(item.ID)
	case vault.InstrumentType:
		instrument, err = t.InstrumentIncludingTrash(item.ID)
	case noteType:
		note, err = t.NoteIncludingTrash(item.ID)
	}
	isPart := item.Type == vault.InstrumentType || item.Type == noteType
	switch {
	case isPart && errs.KindOf(err) == errs.NotFound:
		return purged, nil // the record that it belongs to was purged earlier in the transaction
	case err != nil:
		return purged, err
	}
	if err := p.logLiftedRetention(t, at, item); err != nil {
		return purged, err
	}
	for _, file := range in.Files {
		if err := errors.Join(p.unlinkDocument(t, file.ID, item),
			p.addEvent(t, at, vault.FileOps.Name, file.ID, file.Filename, vault.FileDetail(file)),
			t.RemoveNotesOf(model.RecordRef(vault.FileOps.Name, file.ID)), t.RemoveFile(file.ID)); err != nil {
			return purged, err
		}
	}
	purged = counts{records: len(in.Files), files: len(in.Files)}
	switch item.Type {
	case vault.AbstractOps.Name:
		purged.records++
		err = errors.Join(p.unlinkInstruments(t, item.ID), p.addEvent(t, at, item.Type, item.ID, item.Heading,
			map[string]string{"files": strconv.Itoa(len(in.Files))}),
			t.RemoveTitleRecords(item.ID), t.RemoveAbstract(item.ID))
	case vault.OrderOps.Name:
		purged.records++
		err = errors.Join(p.unlinkOrder(t, item.ID), p.addEvent(t, at, item.Type, item.ID, item.Heading, nil),
			t.RemoveNotesOf(model.RecordRef(vault.OrderOps.Name, item.ID)), t.RemoveOrder(item.ID))
	case vault.InstrumentType:
		purged.records++
		err = errors.Join(p.unlinkInstrument(t, instrument), p.addEvent(t, at, item.Type, item.ID, item.Heading, nil),
			t.RemoveInstrument(item.ID))
	case noteType:
		purged.records++
		err = errors.Join(p.v.AddEntry(t, vault.NoteEvent(at, p.actor, "purged", note)), t.RemoveNote(item.ID))
	}
	return purged, err
}

// addEvent adds the audit entry for a purged record. For a manual purge, the entry
// includes the record's name, because it can't be looked up afterward.
func (p *pass) addEvent(t *store.Tx, at time.Time, recordType string, id uint64, name string, detail map[string]string) error {
	if p.manual {
		withName := map[string]string{"name": name}
		maps.Copy(withName, detail)
		detail = withName
	}
	return p.v.AddEvent(t, at, p.actor, recordType+".purged", model.RecordRef(recordType, id), detail)
}

// logLiftedRetention adds an audit entry if the purge overrides the retention of a
// record.
func (p *pass) logLiftedRetention(t *store.Tx, at time.Time, item vault.Trashed) error {
	if p.liftReason == "" || !at.Before(item.RetainedUntil) {
		return nil
	}
	return p.v.AddEvent(t, at, p.actor, "retention.lifted", model.RecordRef(item.Type, item.ID), map[string]string{
		"name": item.Heading, "reason": p.liftReason, "until": item.RetainedUntil.Format(time.RFC3339),
	})
}
