package vault

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Trash are the verbs on what was put into the trash.
type Trash struct{ v *Vault }

// Trashed is one record in the trash.
type Trashed struct {
	Noun    string // "abstract", "order", "file"
	ID      uint64
	Heading string // what people know it by
	At      time.Time
	By      title.Actor
	Until   time.Time // from then on it is gone for good
}

// List reads a page of the trash. A document that went along with its abstract is
// not in it: it comes back with that.
func (s *Trash) List(ctx context.Context, q Query) (page Page[Trashed], err error) {
	err = s.v.store.View(ctx, func(t *store.Tx) error {
		entries, err := t.ListTrash(q)
		if err != nil {
			return err
		}
		page = Page[Trashed]{Next: entries.Next, Prev: entries.Prev, Bytes: entries.Bytes, Cut: entries.Cut, Items: make([]Trashed, 0, len(entries.Items))}
		for _, e := range entries.Items {
			if err := ctx.Err(); err != nil {
				return err
			}
			item, err := s.read(t, e)
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return err // a damaged record is in the list without what it says
			}
			page.Items = append(page.Items, item)
		}
		return nil
	})
	return page, err
}

func (s *Trash) read(t *store.Tx, e store.TrashEntry) (Trashed, error) {
	item := Trashed{Noun: e.Noun, ID: e.ID, At: e.At, Until: e.At.Add(s.v.set.TrashKeep)}
	var in *title.Trashed
	switch e.Noun {
	case abstractNoun.name:
		a, err := t.AnyAbstract(e.ID)
		if err != nil {
			return item, err
		}
		item.Heading, in = s.v.heading(t, a), a.Trashed
	case orderNoun.name:
		o, err := t.AnyOrder(e.ID)
		if err != nil {
			return item, err
		}
		item.Heading, in = o.Number, o.Trashed
	default:
		f, err := t.AnyFile(e.ID)
		if err != nil {
			return item, err
		}
		item.Heading, in = f.Filename, f.Trashed
	}
	if in != nil {
		item.By = in.By
	}
	return item, nil
}

// over reports whether the time in the trash has passed, to the microsecond.
func (v *Vault) over(in title.Trashed) bool { return !v.now().Before(in.At.Add(v.set.TrashKeep)) }

// Keep is how long what is in the trash stays there.
func (s *Trash) Keep() time.Duration { return s.v.set.TrashKeep }

// Trashed reads a document that is in the trash; NotFound when there is none there.
func (f *Files) Trashed(ctx context.Context, id uint64) (file title.File, err error) {
	err = f.v.store.View(ctx, func(t *store.Tx) (err error) {
		file, err = t.AnyFile(id)
		if err == nil && file.Trashed == nil {
			err = title.Absent("file in the trash", id)
		}
		return err
	})
	return file, err
}
