package vault

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// WithSameFileNumber returns up to MaxFound other live abstracts whose file number is the
// same, ignoring punctuation. It also reports whether there may be more. File numbers
// don't have to be unique, because title updates reuse them.
func (a *Abstracts) WithSameFileNumber(ctx context.Context, abstract model.Abstract) (list []model.Abstract, more bool, err error) {
	number := abstract.FileNumber()
	if number == "" {
		return nil, false, nil
	}
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		list, more = nil, false
		found, beyond, err := t.FindAbstracts(number, store.Query{Limit: MaxFound + 1})
		for _, f := range found {
			if f.Exact && f.By == store.SortFileNumber && f.Record.ID != abstract.ID {
				list = append(list, f.Record)
			}
		}
		more = len(list) > MaxFound || beyond && len(list) == MaxFound
		return err
	})
	return list[:min(len(list), MaxFound)], more, err
}

// MaxFound is the maximum number of results in each group.
const MaxFound = 20
