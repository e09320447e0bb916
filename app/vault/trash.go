package vault

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Trash are the verbs on what was put into the trash.
type Trash struct{ v *Vault }

// Trashed is one record in the trash.
type Trashed struct {
	Noun     string // "abstract", "order", "file"
	ID       uint64
	Heading  string // what people know it by
	At       time.Time
	By       model.Actor
	Until    time.Time // restorable until then, and then permanently deleted
	Retained time.Time // until then no one may purge it; zero where no retention covers it
	Abstract *TrashedFrom
}

// TrashedFrom is the abstract that a document was on.
type TrashedFrom struct {
	ID      uint64
	Heading string // "" when the abstract is permanently deleted
	Live    bool   // not in the trash itself
}

// List reads a page of the trash. A document that went along with its abstract is
// not in it: it comes back with that.
func (s *Trash) List(ctx context.Context, q Query) (page Page[Trashed], err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		entries, err := t.ListTrash(q)
		if err != nil {
			return err
		}
		page = Page[Trashed]{Next: entries.Next, Prev: entries.Prev, Bytes: entries.Bytes, Truncated: entries.Truncated, Items: make([]Trashed, 0, len(entries.Items))}
		for _, e := range entries.Items {
			if err := ctx.Err(); err != nil {
				return err
			}
			item, err := s.v.trashed(t, e)
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return err // a damaged record is in the list without what it says
			}
			page.Items = append(page.Items, item)
		}
		return nil
	})
	return page, err
}

// trashed reads the record of an entry. When it is damaged, the item has what the entry
// says.
func (v *Vault) trashed(t *store.Tx, e store.TrashEntry) (item Trashed, err error) {
	item = Trashed{Noun: e.Type, ID: e.ID, At: e.At, Until: e.At.Add(v.Set.TrashKeep)}
	var in *model.Trashed
	switch e.Type {
	case AbstractNoun.Name:
		in, err = v.trashedAbstract(t, &item)
	case OrderNoun.Name:
		o, failed := t.OrderIncludingTrash(e.ID)
		item.Heading, in, err = o.Number, o.Trashed, failed
	default:
		in, err = v.trashedFile(t, &item)
	}
	if in != nil {
		item.By, item.Until = in.By, v.until(model.Trashed{At: e.At}, item.Retained)
	}
	return item, err
}

func (v *Vault) trashedAbstract(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	a, err := t.AbstractIncludingTrash(item.ID)
	if err != nil {
		return nil, err
	}
	item.Heading = v.HeadingIn(t, a)
	item.Retained, err = v.abstractRetained(t, a)
	return a.Trashed, err
}

func (v *Vault) trashedFile(t *store.Tx, item *Trashed) (*model.Trashed, error) {
	f, err := t.FileIncludingTrash(item.ID)
	if err != nil {
		return nil, err
	}
	item.Heading = f.Filename
	if item.Retained, err = v.fileRetained(t, f); err != nil || f.AbstractID == 0 {
		return f.Trashed, err
	}
	item.Abstract = &TrashedFrom{ID: f.AbstractID}
	a, err := t.AbstractIncludingTrash(f.AbstractID)
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
		return f.Trashed, nil // it is named without its heading
	case err == nil:
		item.Abstract.Heading, item.Abstract.Live = v.HeadingIn(t, a), a.Trashed == nil
	}
	return f.Trashed, err
}

// Keep is how long what is in the trash stays there, where no retention covers it.
func (s *Trash) Keep() time.Duration { return s.v.Set.TrashKeep }

// Retention is how long what belongs to an abstract stays there.
func (s *Trash) Retention() Retention { return s.v.Set.Retention }

// Trashed reads a document that is in the trash; NotFound when there is none there.
func (f *Files) Trashed(ctx context.Context, id uint64) (file model.File, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		file, err = t.FileIncludingTrash(id)
		if err == nil && file.Trashed == nil {
			err = errs.RecordNotFound("file in the trash", id)
		}
		return err
	})
	return file, err
}
