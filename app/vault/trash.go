package vault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Trash lists, purges, and empties the trash.
type Trash struct{ v *Vault }

// Trashed is a record in the trash.
type Trashed struct {
	Type          string // "abstract", "order", "file", "instrument", "note"
	ID            uint64
	Heading       string // display name
	At            time.Time
	By            model.Actor
	Until         time.Time // when the record expires; until then, it can be restored
	RetainedUntil time.Time // end of the retention period; zero: no retention
	Abstract      *TrashedFrom
}

// TrashedFrom is the abstract that a trashed document belonged to.
type TrashedFrom struct {
	ID      uint64
	Heading string // "" if the abstract was purged
	Live    bool   // whether the abstract exists and is not in the trash
}

// List returns a page of the records in the trash. Documents that were trashed with their
// abstract are not listed separately.
func (tr *Trash) List(ctx context.Context, q Query) (page Page[Trashed], err error) {
	err = tr.v.Store.View(ctx, func(t *store.Tx) error {
		entries, err := t.ListTrash(q)
		if err != nil {
			return err
		}
		page = Page[Trashed]{Next: entries.Next, Prev: entries.Prev, Bytes: entries.Bytes, Truncated: entries.Truncated,
			Items: make([]Trashed, 0, len(entries.Items))}
		for _, e := range entries.Items {
			if err := ctx.Err(); err != nil {
				return err
			}
			item, err := tr.v.readTrashEntry(t, e)
			// A damaged record is listed with the data from its trash entry.
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return err
			}
			page.Items = append(page.Items, item)
		}
		return nil
	})
	return page, err
}

// readTrashEntry reads the record that a trash entry refers to. If the record is damaged,
// the result contains only the data from the entry.
func (v *Vault) readTrashEntry(t *store.Tx, e store.TrashEntry) (item Trashed, err error) {
	item = Trashed{Type: e.Type, ID: e.ID, At: e.At, Until: e.At.Add(v.Settings.TrashPeriod)}
	var in *model.Trashed
	switch e.Type {
	case AbstractOps.Name:
		in, err = v.readTrashedAbstract(t, &item)
	case OrderOps.Name:
		o, readErr := t.OrderIncludingTrash(e.ID)
		item.Heading, in, err = o.Number, o.Trashed, readErr
	case instrumentType:
		in, err = v.readTrashedInstrument(t, &item)
	case noteOps.Name:
		in, err = v.readTrashedNote(t, &item)
	default:
		in, err = v.readTrashedFile(t, &item)
	}
	if in != nil {
		item.By, item.Until = in.By, v.trashedUntil(model.Trashed{At: e.At}, item.RetainedUntil)
	}
	return item, err
}

func (v *Vault) readTrashedAbstract(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	a, err := t.AbstractIncludingTrash(item.ID)
	if err != nil {
		return nil, err
	}
	item.Heading = v.HeadingIn(t, a)
	item.RetainedUntil, err = v.abstractRetainedUntil(t, a)
	return a.Trashed, err
}

func (v *Vault) readTrashedInstrument(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	i, err := t.InstrumentIncludingTrash(item.ID)
	if err != nil {
		return nil, err
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return nil, err
	}
	kind, _ := types.ByID(i.TypeID)
	item.Heading = i.Heading(kind)
	item.Abstract, item.RetainedUntil = &TrashedFrom{ID: i.AbstractID}, i.RetainedUntil
	a, err := t.AbstractIncludingTrash(i.AbstractID)
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
		return i.Trashed, nil
	case err == nil:
		item.Abstract.Heading, item.Abstract.Live = v.HeadingIn(t, a), a.Trashed == nil
		item.RetainedUntil, err = v.instrumentRetainedUntil(t, i)
	}
	return i.Trashed, err
}

func (v *Vault) readTrashedNote(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	n, err := t.NoteIncludingTrash(item.ID)
	if err != nil {
		return nil, err
	}
	item.Heading = n.Heading()
	if item.RetainedUntil, err = v.noteRetainedUntil(t, n); err != nil {
		return n.Trashed, err
	}
	if recordType, id := noteRecord(n); recordType == AbstractOps.Name {
		a, err := t.AbstractIncludingTrash(id)
		if err != nil {
			return n.Trashed, err
		}
		item.Abstract = &TrashedFrom{ID: id, Heading: v.HeadingIn(t, a), Live: a.Trashed == nil}
	}
	return n.Trashed, nil
}

func (v *Vault) readTrashedFile(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	f, err := t.FileIncludingTrash(item.ID)
	if err != nil {
		return nil, err
	}
	item.Heading = f.Filename
	if item.RetainedUntil, err = v.fileRetainedUntil(t, f); err != nil || f.AbstractID == 0 {
		return f.Trashed, err
	}
	item.Abstract = &TrashedFrom{ID: f.AbstractID}
	a, err := t.AbstractIncludingTrash(f.AbstractID)
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
		return f.Trashed, nil // Abstract.Heading stays empty
	case err == nil:
		item.Abstract.Heading, item.Abstract.Live = v.HeadingIn(t, a), a.Trashed == nil
	}
	return f.Trashed, err
}

// Period returns how long records without retention stay in the trash.
func (tr *Trash) Period() time.Duration { return tr.v.Settings.TrashPeriod }

// Retention returns the retention settings.
func (tr *Trash) Retention() Retention { return tr.v.Settings.Retention }

// Trashed returns a document in the trash, or NotFound.
func (f *Files) Trashed(ctx context.Context, id uint64) (model.File, error) {
	file, err := store.Read(ctx, f.v.Store, func(t *store.Tx) (model.File, error) { return t.FileIncludingTrash(id) })
	if err == nil && file.Trashed == nil {
		err = errs.RecordNotFound("file in the trash", id)
	}
	return file, err
}

// Find returns a record in the trash. It returns NotFound if the record is not in the
// trash, has expired, or was trashed with its abstract.
func (tr *Trash) Find(ctx context.Context, recordType string, id uint64) (item Trashed, err error) {
	err = tr.v.Store.View(ctx, func(t *store.Tx) error {
		if item, err = tr.v.findInTrash(t, recordType, id); err != nil {
			return err
		}
		if !tr.v.Now().Before(item.Until) {
			return notInTrash(recordType, id)
		}
		return nil
	})
	return item, err
}

// Restore takes a record out of the trash. An abstract is restored with its documents.
func (tr *Trash) Restore(ctx context.Context, actor model.Actor, recordType string, id uint64) (err error) {
	switch recordType {
	case AbstractOps.Name:
		_, err = tr.v.Abstracts.Restore(ctx, actor, id, Idempotency[AbstractWithFiles]{})
	case OrderOps.Name:
		_, err = tr.v.Orders.Restore(ctx, actor, id, Idempotency[model.Order]{})
	case FileOps.Name:
		_, err = tr.v.Files.Restore(ctx, actor, id, Idempotency[model.File]{})
	case instrumentType:
		_, err = tr.v.Instruments.Restore(ctx, actor, id, Idempotency[InstrumentView]{})
	case noteOps.Name:
		_, err = tr.v.Notes.Restore(ctx, actor, id, Idempotency[model.Note]{})
	default:
		err = notInTrash(recordType, id)
	}
	return err
}

// findInTrash reads a record that was trashed on its own, not with its abstract.
func (v *Vault) findInTrash(t *store.Tx, recordType string, id uint64) (Trashed, error) {
	var in *model.Trashed
	var err error
	switch recordType {
	case AbstractOps.Name:
		a, readErr := t.AbstractIncludingTrash(id)
		in, err = a.Trashed, readErr
	case OrderOps.Name:
		o, readErr := t.OrderIncludingTrash(id)
		in, err = o.Trashed, readErr
	case FileOps.Name:
		f, readErr := t.FileIncludingTrash(id)
		in, err = f.Trashed, readErr
	case instrumentType:
		i, readErr := t.InstrumentIncludingTrash(id)
		in, err = i.Trashed, readErr
	case noteOps.Name:
		n, readErr := t.NoteIncludingTrash(id)
		in, err = n.Trashed, readErr
	}
	if err != nil {
		return Trashed{}, err
	}
	if in == nil || in.With != "" {
		return Trashed{}, notInTrash(recordType, id)
	}
	return v.readTrashEntry(t, store.TrashEntry{Type: recordType, ID: id, At: in.At})
}

func notInTrash(recordType string, id uint64) error {
	return errs.RecordNotFound(fmt.Sprintf("%s in the trash", recordType), id)
}

// Purged is the result of a manual purge.
type Purged struct {
	Records    int   // number of records, including documents
	Files      int   // number of documents
	Kept       int   // number of records that were kept because of retention
	FreedBytes int64 // total size of the deleted blobs
	Deferred   bool  // whether blobs are deleted later, for example because a backup is in progress
}

// Purge permanently deletes a record from the trash and frees its disk space. Purging an
// abstract includes its documents. The actor must be an administrator or the operator.
// Purge returns Conflict if the record is under retention, unless lift states a reason to
// override it. It returns NotFound if the record is not in the trash or was trashed with
// its abstract.
func (tr *Trash) Purge(ctx context.Context, actor model.Actor, recordType string, id uint64, lift string) (Purged, error) {
	lift, err := checkLiftReason(lift)
	if err != nil {
		return Purged{}, err
	}
	p := tr.v.newManualPurge(ctx, actor)
	p.liftReason = lift
	var item Trashed
	err = tr.v.ViewAsAdmin(ctx, actor, func(t *store.Tx) (err error) {
		if item, err = tr.v.findInTrash(t, recordType, id); err != nil {
			return err
		}
		return p.checkAllowed(item)
	})
	if err != nil {
		return Purged{}, err
	}
	purged, _, damaged, err := p.commit(ctx, []store.TrashEntry{{Type: recordType, ID: id, At: item.At}})
	switch err = errors.Join(damaged, err); {
	case err != nil:
		return Purged{}, err
	case purged.records == 0:
		return Purged{}, notInTrash(recordType, id) // the record was restored or purged concurrently
	}
	return tr.freeSpace(ctx, purged)
}

// Empty permanently deletes all records in the trash, except those under retention, and
// frees their disk space. The actor must be an administrator or the operator.
func (tr *Trash) Empty(ctx context.Context, actor model.Actor) (Purged, error) {
	if err := tr.v.ViewAsAdmin(ctx, actor, nil); err != nil {
		return Purged{}, err
	}
	purged, err := tr.v.newManualPurge(ctx, actor).run(ctx)
	if purged.records > 0 {
		detail := map[string]string{}
		for name, n := range map[string]int{"records": purged.records, "files": purged.files, "kept": purged.kept} {
			if n > 0 {
				detail[name] = strconv.Itoa(n)
			}
		}
		// Log the purge even if the request was canceled, because records were deleted.
		err = errors.Join(err, tr.v.UpdateFromReserve(context.WithoutCancel(ctx), actor, nil, func(t *store.Tx) error {
			return tr.v.AddEvent(t, tr.v.Now(), actor, "trash.emptied", "", detail)
		}))
	}
	result, sweepErr := tr.freeSpace(context.WithoutCancel(ctx), purged)
	return result, errors.Join(err, sweepErr)
}

// Purgeable returns how many records Empty would delete (due) and how many it would keep
// (kept).
func (tr *Trash) Purgeable(ctx context.Context) (due, kept int, err error) {
	p := tr.v.newManualPurge(ctx, model.SystemActor())
	for after := (store.TrashEntry{}); ; {
		list, last, retained, err := p.nextEntries(ctx, after)
		due, kept = due+len(list), kept+retained
		if err != nil || last.Type == "" {
			return due, kept, err
		}
		after = last
	}
}

// newManualPurge returns a manual purge that covers all records now in the trash.
func (v *Vault) newManualPurge(ctx context.Context, actor model.Actor) *purgeRun {
	return &purgeRun{v: v, actor: actor, before: v.Now().Add(time.Microsecond), manual: true, clockJumped: v.Purger.holdsAfterClockJump(ctx)}
}

// checkAllowed returns Conflict if the record must not be purged.
func (p *purgeRun) checkAllowed(item Trashed) error {
	switch {
	case p.mayPurge(item):
		return nil
	case p.v.Now().Before(item.RetainedUntil):
		return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf(
			"The retention setting keeps this record until %s. An administrator can lift the retention of this record with a reason.",
			item.RetainedUntil.Format("Jan 2, 2006"))}
	}
	return &errs.Error{Kind: errs.Conflict,
		Message: "The clock jumped ahead less than a day ago, so the retention of this record may not be over. " +
			"Check the clock and try again tomorrow."}
}

// maxReasonLength is the maximum length of a reason, in characters.
const maxReasonLength = model.MaxLineLength

func checkLiftReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if utf8.RuneCountInString(reason) > maxReasonLength {
		return "", errs.InvalidField("reason", "The reason must not be longer than %d characters.", maxReasonLength)
	}
	if !utf8.ValidString(reason) || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", errs.InvalidField("reason", "The reason must be one line of text.")
	}
	return reason, nil
}

// freeSpace sweeps the blobs of purged documents. Blobs that a backup in progress may
// need are swept after the backup.
func (tr *Trash) freeSpace(ctx context.Context, purged purgeCounts) (Purged, error) {
	result := Purged{Records: purged.records, Files: purged.files, Kept: purged.kept}
	if purged.files == 0 {
		return result, nil
	}
	_, own, err := tr.v.CheckGeneration(ctx)
	if err != nil || !own {
		result.Deferred = true // if the database is an older copy, blobs must not be swept (see GenerationFile)
		return result, err
	}
	swept, err := tr.v.Sweeper.SweepBlobs(ctx)
	result.FreedBytes, result.Deferred = swept.Bytes, tr.v.Sweeper.IsHeld()
	tr.v.Reserve.Fill(tr.v.Log)
	return result, err
}
