package vault

import (
	"context"
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Find reads one record in the trash; NotFound when there is none there, or its time is
// over. A document that went along with its abstract is not there on its own.
func (s *Trash) Find(ctx context.Context, noun string, id uint64) (item Trashed, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if item, err = s.v.inTrash(t, noun, id); err != nil {
			return err
		}
		if !s.v.Now().Before(item.Until) {
			return absentThere(noun, id)
		}
		return nil
	})
	return item, err
}

// inTrash reads one record that is in the trash on its own.
func (v *Vault) inTrash(t *store.Tx, noun string, id uint64) (Trashed, error) {
	var in *model.Trashed
	var err error
	switch noun {
	case AbstractNoun.Name:
		a, failed := t.AbstractIncludingTrash(id)
		in, err = a.Trashed, failed
	case OrderNoun.Name:
		o, failed := t.OrderIncludingTrash(id)
		in, err = o.Trashed, failed
	case FileNoun.Name:
		f, failed := t.FileIncludingTrash(id)
		in, err = f.Trashed, failed
	}
	if err != nil {
		return Trashed{}, err
	}
	if in == nil || in.With != "" {
		return Trashed{}, absentThere(noun, id)
	}
	return v.trashed(t, store.TrashEntry{Type: noun, ID: id, At: in.At})
}

func absentThere(noun string, id uint64) error {
	return errs.RecordNotFound(fmt.Sprintf("%s in the trash", noun), id)
}
