package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Trash lists the trash and restores what is in it. Package purge deletes it.
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
	Abstract      *trashedFrom
}

// trashedFrom is the abstract that a trashed document belonged to.
type trashedFrom struct {
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
			item, err := tr.ReadEntry(t, e)
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

// trashTypes are the types of records that go to the trash. read reads one, also if it isn't there, and restore takes it
// out.
var trashTypes = map[string]struct {
	read    func(*Vault, *store.Tx, *Trashed) (*model.Trashed, error)
	restore func(*Vault, context.Context, model.Actor, uint64) error
}{
	AbstractOps.Name: {(*Vault).readTrashedAbstract, func(v *Vault, ctx context.Context, actor model.Actor, id uint64) error {
		_, err := v.Abstracts.Restore(ctx, actor, id, Idempotency[AbstractWithFiles]{})
		return err
	}},
	OrderOps.Name: {(*Vault).readTrashedOrder, func(v *Vault, ctx context.Context, actor model.Actor, id uint64) error {
		_, err := v.Orders.Restore(ctx, actor, id, Idempotency[model.Order]{})
		return err
	}},
	FileOps.Name: {(*Vault).readTrashedFile, func(v *Vault, ctx context.Context, actor model.Actor, id uint64) error {
		_, err := v.Files.Restore(ctx, actor, id, Idempotency[model.File]{})
		return err
	}},
	InstrumentType: {(*Vault).readTrashedInstrument, func(v *Vault, ctx context.Context, actor model.Actor, id uint64) error {
		_, err := v.Instruments.Restore(ctx, actor, id, Idempotency[InstrumentView]{})
		return err
	}},
	noteOps.Name: {(*Vault).readTrashedNote, func(v *Vault, ctx context.Context, actor model.Actor, id uint64) error {
		_, err := v.Notes.Restore(ctx, actor, id, Idempotency[model.Note]{})
		return err
	}},
}

// ReadEntry reads the record that a trash entry refers to. If the record is damaged,
// the result contains only the data from the entry.
func (tr *Trash) ReadEntry(t *store.Tx, e store.TrashEntry) (item Trashed, err error) {
	item = Trashed{Type: e.Type, ID: e.ID, At: e.At, Until: e.At.Add(tr.v.Settings.TrashPeriod())}
	of, found := trashTypes[e.Type]
	if !found {
		return item, notInTrash(e.Type, e.ID)
	}
	in, err := of.read(tr.v, t, &item)
	if in != nil {
		item.By, item.Until = in.By, tr.v.trashedUntil(model.Trashed{At: e.At}, item.RetainedUntil)
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

func (v *Vault) readTrashedOrder(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	o, err := t.OrderIncludingTrash(item.ID)
	item.Heading = o.Number
	return o.Trashed, err
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
	item.Abstract, item.RetainedUntil = &trashedFrom{ID: i.AbstractID}, i.RetainedUntil
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
		item.Abstract = &trashedFrom{ID: id, Heading: v.HeadingIn(t, a), Live: a.Trashed == nil}
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
	item.Abstract = &trashedFrom{ID: f.AbstractID}
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
func (tr *Trash) Period() time.Duration { return tr.v.Settings.TrashPeriod() }

// Retention returns the retention settings.
func (tr *Trash) Retention() Retention { return tr.v.Settings.Retention() }

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
		if item, err = tr.FindIn(t, recordType, id); err != nil {
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
func (tr *Trash) Restore(ctx context.Context, actor model.Actor, recordType string, id uint64) error {
	of, found := trashTypes[recordType]
	if !found {
		return notInTrash(recordType, id)
	}
	return of.restore(tr.v, ctx, actor, id)
}

// FindIn reads a record that was trashed on its own, not with its abstract.
func (tr *Trash) FindIn(t *store.Tx, recordType string, id uint64) (Trashed, error) {
	of, found := trashTypes[recordType]
	if !found {
		return Trashed{}, notInTrash(recordType, id)
	}
	in, err := of.read(tr.v, t, &Trashed{Type: recordType, ID: id})
	if err != nil {
		return Trashed{}, err
	}
	if in == nil || in.With != "" {
		return Trashed{}, notInTrash(recordType, id)
	}
	return tr.ReadEntry(t, store.TrashEntry{Type: recordType, ID: id, At: in.At})
}

// notInTrash returns a NotFound error for a record that is not in the trash.
func notInTrash(recordType string, id uint64) error {
	return errs.RecordNotFound(fmt.Sprintf("%s in the trash", recordType), id)
}
