package vault

import (
	"context"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Find reads one record in the trash, by its noun ("abstract" or "order") and number;
// NotFound when there is none there, or its time is over.
func (s *Trash) Find(ctx context.Context, noun string, id uint64) (item Trashed, err error) {
	err = s.v.store.View(ctx, func(t *store.Tx) error {
		var in *title.Trashed
		if noun == abstractNoun.name {
			a, err := t.AnyAbstract(id)
			if err != nil {
				return err
			}
			in = a.Trashed
		} else {
			o, err := t.AnyOrder(id)
			if err != nil {
				return err
			}
			in = o.Trashed
		}
		if in == nil || s.v.over(*in) {
			return title.Absent(noun+" in the trash", id)
		}
		item, err = s.read(t, store.TrashEntry{Noun: noun, ID: id, At: in.At})
		return err
	})
	return item, err
}
