package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	lastRun       time.Time
	clockJumpedAt time.Time // time of the last clock jump; see holdsAfterClockJump
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
		if !p.v.ShouldContinue(ctx, "trash purge failed", p.runOnce(ctx)) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// runOnce purges expired records. After a clock jump, it does nothing until the hold
// ends.
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

// Purge permanently deletes expired records in the trash and expired stored responses. If
// it deletes any documents, it requests a sweep, which deletes the blobs that no record
// refers to.
func (v *Vault) Purge(ctx context.Context) error {
	// Times have microsecond precision, so this is the first time at which a record is not due yet.
	due := purgeRun{v: v, actor: model.SystemActor(), before: v.Now().Add(time.Microsecond - v.Settings.TrashPeriod)}
	purged, err := due.run(ctx)
	if purged.records > 0 {
		v.Log.Info("trash purged", "records", purged.records, "files", purged.files)
	}
	if purged.files > 0 {
		v.Orphans.Notify()
	}
	if err := errors.Join(err, v.pruneStoredResponses(ctx)); err != nil {
		return fmt.Errorf("purge trash: %w", err)
	}
	return nil
}

// purgeRun is one pass over the trash.
type purgeRun struct {
	v           *Vault
	actor       model.Actor
	before      time.Time // limits the purge to records trashed before this time
	manual      bool      // whether to include records that have not expired
	clockJumped bool      // whether the clock has jumped; if so, retention periods count as not over
	liftReason  string    // reason to override retention; "": retention applies
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

// run purges all records that may be purged. It skips damaged records and includes them
// in the returned error.
func (p *purgeRun) run(ctx context.Context) (purged purgeCounts, err error) {
	var failed error
	for after := (store.TrashEntry{}); ; {
		list, last, kept, err := p.nextEntries(ctx, after)
		if err != nil {
			return purged, errors.Join(failed, err)
		}
		purged.kept += kept
		for len(list) > 0 {
			counts, rest, damaged, err := p.commit(ctx, list)
			if err != nil {
				return purged, errors.Join(failed, err)
			}
			purged.add(counts)
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
func (p *purgeRun) nextEntries(ctx context.Context, after store.TrashEntry) (list []store.TrashEntry, last store.TrashEntry,
	kept int, err error) {
	err = p.v.Store.View(ctx, func(t *store.Tx) error {
		entries, err := t.TrashedBefore(p.before, after, trashScanSize)
		if err != nil {
			return err
		}
		for _, e := range entries {
			item, err := p.v.readTrashEntry(t, e)
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
func (p *purgeRun) commit(ctx context.Context, list []store.TrashEntry) (done purgeCounts, rest []store.TrashEntry, damaged, err error) {
	items := make([]Trashed, len(list))
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
		done, rest = purgeCounts{}, nil
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
// Trashed if the record was restored or may no longer be purged.
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

// purge deletes a record. It reads everything before the first write, so that nothing
// changes if the record is damaged.
func (p *purgeRun) purge(t *store.Tx, item Trashed) (purged purgeCounts, err error) {
	at := p.v.Now()
	var in AbstractWithFiles
	var instrument model.Instrument
	var note model.Note
	switch item.Type {
	case AbstractOps.Name:
		in, err = AbstractOps.getIncludingTrash(t, item.ID)
	case FileOps.Name:
		in.Files = make([]model.File, 1)
		in.Files[0], err = t.FileIncludingTrash(item.ID)
	case instrumentType:
		instrument, err = t.InstrumentIncludingTrash(item.ID)
	case noteOps.Name:
		note, err = t.NoteIncludingTrash(item.ID)
	}
	isPart := item.Type == instrumentType || item.Type == noteOps.Name
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
			p.addEvent(t, at, FileOps.Name, file.ID, file.Filename, fileEventDetail(file)), t.RemoveNotesOf(model.RecordRef(FileOps.Name,
				file.ID)), t.RemoveFile(file.ID)); err != nil {
			return purged, err
		}
	}
	purged = purgeCounts{records: len(in.Files), files: len(in.Files)}
	switch item.Type {
	case AbstractOps.Name:
		purged.records++
		err = errors.Join(p.unlinkInstruments(t, item.ID), p.addEvent(t, at, item.Type, item.ID, item.Heading, fileCountDetail(in)),
			t.RemoveTitleRecords(item.ID), t.RemoveAbstract(item.ID))
	case OrderOps.Name:
		purged.records++
		err = errors.Join(p.unlinkOrder(t, item.ID), p.addEvent(t, at, item.Type, item.ID, item.Heading, nil),
			t.RemoveNotesOf(model.RecordRef(OrderOps.Name, item.ID)), t.RemoveOrder(item.ID))
	case instrumentType:
		purged.records++
		err = errors.Join(p.unlinkInstrument(t, instrument), p.addEvent(t, at, item.Type, item.ID, item.Heading, nil),
			t.RemoveInstrument(item.ID))
	case noteOps.Name:
		purged.records++
		err = errors.Join(p.v.AddEntry(t, noteOps.entry(at, p.actor, "purged", item.ID, note)), t.RemoveNote(item.ID))
	}
	return purged, err
}

// logUnlinked adds the audit entry for a record that changes because it refers to the purged one.
func (p *purgeRun) logUnlinked(t *store.Tx, kind, record, purgedType string, purged uint64, changes []model.Change) error {
	return p.v.AddEntry(t, model.Event{At: p.v.Now(), Actor: p.actor, Kind: kind, Record: record,
		Detail: map[string]string{purgedType: model.RecordRef(purgedType, purged)}, Changes: changes})
}

// unlinkInstruments prepares the purge of an abstract. In other abstracts, such as its bring-down,
// relations to its instruments become text.
func (p *purgeRun) unlinkInstruments(t *store.Tx, abstract uint64) error {
	list, err := t.InstrumentsOfAbstract(abstract, func(*model.Instrument) bool { return true })
	if err != nil {
		return err
	}
	for _, i := range list {
		if err := p.replaceRelations(t, i, func(other model.Instrument) bool { return other.AbstractID != abstract }); err != nil {
			return err
		}
	}
	return nil
}

// unlinkInstrument prepares the purge of an instrument: relations to it become text, and the rows of
// requirements and the sequence of the runsheet no longer contain it.
func (p *purgeRun) unlinkInstrument(t *store.Tx, i model.Instrument) error {
	if err := p.replaceRelations(t, i, func(model.Instrument) bool { return true }); err != nil {
		return err
	}
	work, err := t.TitleWork(i.AbstractID)
	if err != nil {
		return err
	}
	isRow := func(r model.RequirementRow) bool { return r.InstrumentID == i.ID }
	if !slices.Contains(work.Sequence, i.ID) && !slices.ContainsFunc(work.Requirements, isRow) {
		return nil
	}
	old := work
	work.Sequence = slices.DeleteFunc(slices.Clone(work.Sequence), func(id uint64) bool { return id == i.ID })
	work.Requirements = slices.Clone(work.Requirements)
	changed := false
	for n := range work.Requirements {
		if isRow(work.Requirements[n]) {
			work.Requirements[n].InstrumentID, changed = 0, true
			work.Versions.Requirements++
		}
	}
	if changed {
		err = p.logUnlinked(t, requirementsPart.event, model.RecordRef(AbstractOps.Name, i.AbstractID), instrumentType, i.ID, old.Changes(work))
	}
	return errors.Join(err, t.PutTitleWork(work))
}

// replaceRelations replaces the relations of other instruments to an instrument with text that says
// where it is recorded.
func (p *purgeRun) replaceRelations(t *store.Tx, i model.Instrument, affected func(other model.Instrument) bool) error {
	others, err := t.InstrumentsReferringTo(i.ID)
	if err != nil {
		return err
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return err
	}
	of, _ := types.ByID(i.TypeID)
	text := cmp.Or(i.RecordingReference(), i.Heading(of))
	for _, other := range others {
		if !affected(other) {
			continue
		}
		old := other
		other.Relations = slices.Clone(other.Relations)
		for n, r := range other.Relations {
			if r.InstrumentID == i.ID {
				other.Relations[n].InstrumentID, other.Relations[n].Text = 0, cmp.Or(r.Text, text)
			}
		}
		nextVersion(&other.Version, &other.UpdatedAt, p.v.Now())
		if err := errors.Join(putInstrument(t, other), p.logUnlinked(t, "instrument.changed", model.RecordRef(instrumentType, other.ID),
			instrumentType, i.ID, old.Changes(other))); err != nil {
			return err
		}
	}
	return nil
}

// addEvent adds the audit entry for a purged record. For a manual purge, the entry
// includes the record's name, because it can't be looked up afterward.
func (p *purgeRun) addEvent(t *store.Tx, at time.Time, recordType string, id uint64, name string, detail map[string]string) error {
	if p.manual {
		withName := map[string]string{"name": name}
		maps.Copy(withName, detail)
		detail = withName
	}
	return p.v.AddEvent(t, at, p.actor, recordType+".purged", model.RecordRef(recordType, id), detail)
}

// logLiftedRetention adds an audit entry if the purge overrides the retention of a
// record.
func (p *purgeRun) logLiftedRetention(t *store.Tx, at time.Time, item Trashed) error {
	if p.liftReason == "" || !at.Before(item.RetainedUntil) {
		return nil
	}
	return p.v.AddEvent(t, at, p.actor, "retention.lifted", model.RecordRef(item.Type, item.ID), map[string]string{
		"name": item.Heading, "reason": p.liftReason, "until": item.RetainedUntil.Format(time.RFC3339),
	})
}

const (
	// If the clock is set far ahead, everything in the trash seems to have expired. To
	// let an administrator correct the clock without losing data, nothing is purged on
	// the first day after the clock jumps ahead. The same delay applies if the vault was
	// not used for longer than minClockJump or was restored from an old backup.
	minClockJump  = 7 * 24 * time.Hour
	clockJumpHold = 24 * time.Hour
)

// holdsAfterClockJump reports whether purges are on hold because the clock has jumped
// ahead. It logs each new jump. To detect one, it compares the current time with the time
// of the previous run or, after a restart, of the last audit entry.
func (p *Purger) holdsAfterClockJump(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, before := p.v.Now(), p.lastRun
	p.lastRun = now
	if before.IsZero() {
		before = p.v.lastEventTime(ctx)
	}
	state := p.v.ReadServerState()
	if p.clockJumpedAt.IsZero() {
		p.clockJumpedAt = state.ClockJumpedAt
	}
	switch known := p.clockJumpedAt; {
	case !before.IsZero() && now.Sub(before) > minClockJump && (known.Before(before) || known.After(now)):
		p.clockJumpedAt = now
		p.v.Log.Warn("the clock jumped far ahead; the trash is not purged for a day. If the clock is wrong, correct it",
			"now", now, "last", before, "until", now.Add(clockJumpHold))
	case known.After(now):
		p.clockJumpedAt = time.Time{} // the clock was set back
	}
	if !state.ClockJumpedAt.Equal(p.clockJumpedAt) {
		state.ClockJumpedAt = p.clockJumpedAt
		p.v.WriteServerState(state)
	}
	return !p.clockJumpedAt.IsZero() && now.Before(p.clockJumpedAt.Add(clockJumpHold))
}

// lastEventTime returns the time of the last audit entry. It returns zero if the entry
// can't be read; verification reports that error.
func (v *Vault) lastEventTime(ctx context.Context) time.Time {
	last, _ := store.Read(ctx, v.Store, (*store.Tx).LastEvent)
	return last.At
}
