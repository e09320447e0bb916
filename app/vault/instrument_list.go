package vault

import (
	"context"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// List returns a page of the instruments of all live abstracts. Besides the filters of the store, it
// supports ColumnStatus, the effective status. With it, a page can have fewer instruments than its
// limit although more follow. search.Service finds instruments by their parties.
func (s *Instruments) List(ctx context.Context, q Query) (page Page[InstrumentView], err error) {
	var status string
	filters := q.Filters
	q.Filters = nil
	for _, f := range filters {
		switch f.Column {
		case ColumnStatus:
			status = f.Value
			continue
		case ColumnInstrumentNumber, ColumnBook, ColumnPage:
			f.Value = model.NormalizeRecordingNumber(f.Value)
		}
		q.Filters = append(q.Filters, f)
	}
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		found, err := t.ListInstruments(q)
		if err == nil {
			page, err = s.WithStatus(t, found)
		}
		return err
	})
	page.Items = slices.DeleteFunc(page.Items, func(i InstrumentView) bool { return status != "" && i.Status != status })
	return page, err
}

// WithStatus returns a page of instruments with their types and statuses, but without positions.
func (s *Instruments) WithStatus(t *store.Tx, found store.Page[model.Instrument]) (Page[InstrumentView], error) {
	page := Page[InstrumentView]{Next: found.Next, Prev: found.Prev, Bytes: found.Bytes, Truncated: found.Truncated}
	types, err := t.DocumentTypes()
	if err != nil {
		return page, err
	}
	for _, i := range found.Items {
		view, err := s.withStatus(t, types, i)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, view)
	}
	return page, nil
}
