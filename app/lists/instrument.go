package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/vault"
)

// Instrument is an instrument in a list of those of all abstracts.
type Instrument struct {
	vault.InstrumentView
	Heading string // of its abstract
}

// Instruments returns the table of the instruments of all abstracts. It has the columns of runsheet files.
func (s *Service) Instruments(context.Context) (Table[Instrument], error) {
	t := Table[Instrument]{Name: "Instruments", zone: s.zone, hidden: []string{"id", "abstract_id"}}
	t.Columns = []Column[Instrument]{
		{Name: "id", Label: "ID", Type: model.Number, Width: narrow,
			Text: func(i *Instrument) string { return strconv.FormatUint(i.ID, 10) }},
		{Name: "abstract_id", Label: "Abstract ID", Width: medium,
			Text: func(i *Instrument) string { return s.ids.Abstracts.Encode(i.AbstractID) }},
		{Name: "abstract", Label: "Abstract", Width: medium, Text: func(i *Instrument) string { return i.Heading }},
	}
	for _, c := range runsheet.FileColumns() {
		f, _ := model.InstrumentFieldByName(c.Field)
		column := Column[Instrument]{Name: c.Field, Label: cmp.Or(f.Label, c.Title), Type: f.Type, Width: c.Width,
			Text: func(i *Instrument) string {
				return c.Value(&runsheet.Row{Instrument: i.Instrument, Position: i.Position, Type: i.Type, Status: i.Status})
			}}
		if c.Field == "status" {
			column.Type = "" // the status has its words already
		}
		t.Columns = append(t.Columns, column)
	}
	t.Columns = sortable(slices.Concat(t.Columns,
		timeColumns(func(i *Instrument) time.Time { return i.CreatedAt }, func(i *Instrument) time.Time { return i.UpdatedAt })), nil)
	for n := range t.Columns {
		switch c := &t.Columns[n]; c.Name {
		case "recorded":
			c.Sort = c.Name
		case string(model.SortUpdated):
			c.Sort = "" // there is no index for it
		}
	}
	t.Page = []string{"type", "abstract", "recorded", "instrument_number", "book", "page", "grantors", "grantees", "consideration", "status"}
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
