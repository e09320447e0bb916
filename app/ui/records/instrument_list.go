package records

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// instrumentList is the template data of the list of the instruments of all abstracts.
type instrumentList struct {
	tableList
	Types []model.DocumentType
}

// instrumentFilters are the names of the list's filters.
var instrumentFilters = []string{"q", "type_id", "status", "county", "state", "book", "page", "recorded_from", "recorded_to"}

func (p *Pages) instrumentListPage(r *page.Request) error {
	list, reader, err := p.instruments(r)
	if err != nil {
		return err
	}
	list.Statuses = model.InstrumentStatuses()
	if list.Types, err = p.App.Instruments.Types(r.Context()); err != nil {
		return err
	}
	named := map[string]string{}
	for _, t := range list.Types {
		if strconv.FormatUint(t.ID, 10) == list.Asked.Get("type_id") {
			named["type_id"] = t.Name
		}
	}
	list.addChips(named)
	if err := p.readUsed(r, &list.listing); err != nil {
		return err
	}
	if err := reader.show(p, r, &list.tableList); err != nil {
		return err
	}
	if err := p.addSavedViews(r, &list.tableList, p.countInstruments); err != nil {
		return err
	}
	list.addAll()
	return p.showList(r, &list.tableList, "instruments.html", "instruments-update",
		page.Page{Heading: "Instruments", Section: "abstracts", Data: list})
}

// instruments returns the list of instruments that a request asks for, without rows, and what reads them.
func (p *Pages) instruments(r *page.Request) (*instrumentList, listReader, error) {
	list := &instrumentList{tableList: newTable(r, instrumentFilters...)}
	s := listSource[lists.Instrument]{pages: lists.InTurns(p.App.Lists, r.Actor, p.App.Lists.InstrumentPages(p.App.Instruments.List)),
		path: func(i *lists.Instrument) string { return page.InstrumentPath(i.ID) }}
	var err error
	if s.table, err = p.App.Lists.Instruments(r.Context()); err != nil {
		return nil, nil, err
	}
	names, err := p.chosenColumns(r, &list.tableList)
	if err != nil {
		return nil, nil, err
	}
	s.columns = useTable(&list.tableList, s.table, names)
	list.applyFilters(&s.query, p)
	find := func(ctx context.Context, q vault.Query, read func(context.Context, vault.Query) (vault.Page[vault.InstrumentView], error)) (
		[]lists.Instrument, bool, error) {
		found, err := p.App.Lists.InstrumentPages(read)(ctx, q)
		return found.Items, found.Next != nil, err
	}
	s.byNumber = func(ctx context.Context, text string, q vault.Query) ([]lists.Instrument, bool, error) {
		q.Filters = append(slices.Clone(q.Filters), vault.Filter{Column: model.ColumnInstrumentNumber, Value: text})
		return find(ctx, q, p.App.Instruments.List)
	}
	s.bySearch = func(ctx context.Context, text string, q vault.Query) ([]lists.Instrument, bool, error) {
		more := false
		records, _, err := find(ctx, q, func(ctx context.Context, q vault.Query) (found vault.Page[vault.InstrumentView], err error) {
			found.Items, more, err = allHits(search.QueryFromList(text, q), func(sq search.Query) (search.Page[vault.InstrumentView], error) {
				return p.App.Search.Instruments(ctx, r.Actor, sq, q)
			})
			return found, err
		})
		return records, more, err
	}
	return list, s, nil
}

// countInstruments returns the number of instruments that match the filters of a view, as text.
func (p *Pages) countInstruments(ctx context.Context, asked url.Values) (string, error) {
	list, q := instrumentList{tableList: tableList{listing: askedListing(asked, "")}}, vault.Query{}
	list.applyFilters(&q, p)
	return countRecords(ctx, q, p.App.Instruments.List)
}

// applyFilters adds the requested filters and sort order to q.
func (l *instrumentList) applyFilters(q *vault.Query, p *Pages) {
	l.addFilters(q)
	for name, column := range map[string]model.Column{"book": model.ColumnBook, "page": model.ColumnPage} {
		if value := l.Asked.Get(name); value != "" {
			q.Filters = append(q.Filters, vault.Filter{Column: column, Value: value})
		}
	}
	if id, err := strconv.ParseUint(l.Asked.Get("type_id"), 10, 63); err == nil && id > 0 {
		q.Filters = append(q.Filters, vault.Filter{Column: model.ColumnDocumentType, Value: strconv.FormatUint(id, 10)})
	} else {
		l.Asked.Del("type_id")
	}
	for name, into := range map[string]*string{"recorded_from": &q.DueFrom, "recorded_to": &q.DueTo} {
		if page.DayParam(l.Asked, l.Problems, name, p.LocalNow()); l.Problems[name] == "" {
			*into = l.Asked.Get(name)
		}
	}
	l.applySort(q)
}
