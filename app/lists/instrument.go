package lists

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Instrument is an instrument in a list of those of all abstracts.
type Instrument struct {
	vault.InstrumentView
	Heading string // of its abstract
}

// Names of columns of instruments.
const (
	columnAbstract = "abstract"
	columnStatus   = "status"
	recorded       = "recorded"
)

// Instruments returns the table of the instruments of all abstracts. It has the columns of runsheet files.
func (s *Service) Instruments(ctx context.Context) (Table[Instrument], error) {
	t := Table[Instrument]{Name: "Instruments", zone: s.zone, hidden: []string{"id", "abstract_id"}}
	t.Columns = []Column[Instrument]{
		{Name: "id", Label: "ID", Type: model.Number, Width: narrow,
			Text: func(i *Instrument) string { return strconv.FormatUint(i.ID, 10) }},
		{Name: "abstract_id", Label: "Abstract ID", Width: medium,
			Text: func(i *Instrument) string { return s.ids.Abstracts.Encode(i.AbstractID) }},
		{Name: columnAbstract, Label: "Abstract", Width: medium, Text: func(i *Instrument) string { return i.Heading }},
	}
	for _, c := range runsheet.FileColumns() {
		f, _ := model.InstrumentFieldByName(c.Field)
		column := Column[Instrument]{Name: c.Field, Label: cmp.Or(f.Label, c.Title), Type: f.Type, Width: c.Width,
			Text: func(i *Instrument) string {
				return c.Value(&runsheet.Row{Instrument: i.Instrument, Position: i.Position, Type: i.Type, Status: i.Status})
			}}
		if c.Field == columnStatus {
			column.Type = "" // the status has its words already
		}
		t.Columns = append(t.Columns, column)
	}
	t.Columns = slices.Concat(t.Columns,
		timeColumns(func(i *Instrument) time.Time { return i.CreatedAt }, func(i *Instrument) time.Time { return i.UpdatedAt }))
	t.setSorts(map[string]model.Sort{string(model.SortCreated): model.SortCreated, recorded: model.SortDue})
	for n := range t.Columns {
		if t.Columns[n].Name == recorded { // the index is that of the due dates of orders
			t.Columns[n].Sort = recorded
		}
	}
	t.rows = func(tx *store.Tx, stored any, column string) ([]Instrument, error) {
		return s.sortedInstruments(ctx, tx, stored.([]model.Instrument), column)
	}
	t.Page = []string{"type", columnAbstract, recorded, "instrument_number", "book", "page", "grantors", "grantees", "consideration", "status"}
	return t, nil
}

// InstrumentPages returns a function that returns the pages of read with what a list shows of the instruments.
func (s *Service) InstrumentPages(read func(context.Context, vault.Query) (vault.Page[vault.InstrumentView], error)) func(context.Context,
	vault.Query) (vault.Page[Instrument], error) {
	return func(ctx context.Context, q vault.Query) (vault.Page[Instrument], error) {
		found, err := read(ctx, q)
		page := vault.Page[Instrument]{Next: found.Next, Prev: found.Prev, Bytes: found.Bytes, Truncated: found.Truncated}
		if err != nil {
			return page, err
		}
		abstracts := make([]string, 0, len(found.Items))
		for _, i := range found.Items {
			abstracts = append(abstracts, model.RecordRef(vault.AbstractOps.Name, i.AbstractID))
		}
		names, err := s.vault.Names(ctx, abstracts)
		for n, i := range found.Items {
			page.Items = append(page.Items, Instrument{i, names[abstracts[n]].Text})
		}
		return page, err
	}
}

// sortedInstruments returns instruments with what they are sorted by. It reads other records only for columns that need
// them.
func (s *Service) sortedInstruments(ctx context.Context, t *store.Tx, stored []model.Instrument, column string) ([]Instrument, error) {
	list := make([]Instrument, 0, len(stored))
	if column == columnStatus || column == runsheet.Position {
		page, err := s.vault.Instruments.Views(ctx, t, store.Page[model.Instrument]{Items: stored})
		for _, i := range page.Items {
			list = append(list, Instrument{InstrumentView: i})
		}
		return list, err
	}
	types, err := t.DocumentTypes()
	headings := map[uint64]string{}
	for _, i := range stored {
		of, _ := types.ByID(i.TypeID)
		list = append(list, Instrument{InstrumentView: vault.InstrumentView{Instrument: i, Type: of}})
		if _, known := headings[i.AbstractID]; known || err != nil || column != columnAbstract {
			continue
		}
		headings[i.AbstractID] = ""
		a, damage := t.AbstractIncludingTrash(i.AbstractID)
		if damage == nil {
			headings[i.AbstractID] = s.vault.HeadingIn(t, a)
		} else if !errors.Is(damage, store.ErrDamaged) {
			err = damage
		}
	}
	for n := range list {
		list[n].Heading = headings[list[n].AbstractID]
	}
	return list, err
}
