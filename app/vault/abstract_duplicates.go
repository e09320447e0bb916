package vault

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// WithSameFileNumber gives at most MaxFound other live abstracts with the file number of one,
// compared without its punctuation, and whether there may be more. Nothing forbids it:
// updates reuse numbers.
func (a *Abstracts) WithSameFileNumber(ctx context.Context, of model.Abstract) (list []model.Abstract, more bool, err error) {
	number := of.FileNumber()
	if number == "" {
		return nil, false, nil
	}
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		list, more = nil, false
		found, beyond, err := t.FindAbstracts(number, MaxFound+1)
		for _, f := range found {
			if f.Exact && f.By == store.SortFileNumber && f.Record.ID != of.ID {
				list = append(list, f.Record)
			}
		}
		more = len(list) > MaxFound || beyond && len(list) == MaxFound
		return err
	})
	return list[:min(len(list), MaxFound)], more, err
}

// MaxFound is how many hits a group has at most.
const MaxFound = 20
