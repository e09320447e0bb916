package records

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// abstractList is the template data of the abstract list.
type abstractList struct {
	tableList
	Templates []model.Template // includes retired templates because abstracts may still use them
	People    []titlework.Person
}

// abstractFilters are the names of the list's filters.
var abstractFilters = []string{"q", "status", "template", "county", "state", "from", "to"}

func (p *Pages) abstractListPage(r *page.Request) error {
	list, reader, err := p.abstracts(r)
	if err != nil {
		return err
	}
	if list.Templates, err = p.App.Templates.All(r.Context()); err != nil {
		return err
	}
	counts, err := p.App.Abstracts.Statuses(r.Context())
	if err != nil {
		return err
	}
	var statuses []string
	for _, c := range counts {
		if c.Status != "" {
			statuses = append(statuses, c.Status)
		}
	}
	list.setStatuses(statuses)
	staff, err := p.work.Staff(r.Context())
	if err != nil {
		return err
	}
	list.People = staff.Assignable()
	if err := reader.show(p, r, &list.tableList); err != nil {
		return err
	}
	named := map[string]string{}
	for _, t := range list.Templates {
		if strconv.FormatUint(t.ID, 10) == list.Asked.Get("template") {
			named["template"] = t.Name
		}
	}
	list.addChips(named)
	if err := p.readUsed(r, &list.listing); err != nil {
		return err
	}
	if err := p.addSavedViews(r, &list.tableList, p.countAbstracts); err != nil {
		return err
	}
	list.addAll()
	return p.showList(r, &list.tableList, "abstracts.html", "results-update",
		page.Page{Heading: "Abstracts", Section: "abstracts", Data: list})
}

// abstracts returns the list of abstracts that a request asks for, without rows, and what reads them.
func (p *Pages) abstracts(r *page.Request) (*abstractList, listReader, error) {
	list := &abstractList{tableList: newTable(r, abstractFilters...)}
	s := listSource[lists.Abstract]{pages: lists.InTurns(p.App.Lists, r.Actor, p.App.Lists.ListAbstracts),
		path: func(a *lists.Abstract) string { return p.AbstractPath(a.ID) }}
	var err error
	if s.table, err = p.App.Lists.Abstracts(r.Context()); err != nil {
		return nil, nil, err
	}
	names, err := p.chosenColumns(r, &list.tableList)
	if err != nil {
		return nil, nil, err
	}
	s.columns = useTable(&list.tableList, s.table, names)
	list.applyFilters(&s.query, p.LocalNow())
	s.byNumber = func(ctx context.Context, text string, q vault.Query) ([]lists.Abstract, bool, error) {
		found, more, err := p.App.Search.AbstractsByNumber(ctx, text, q)
		if err != nil {
			return nil, false, err
		}
		rows, err := p.App.Lists.WithHeadings(ctx, found)
		return rows, more, err
	}
	s.bySearch = func(ctx context.Context, text string, q vault.Query) ([]lists.Abstract, bool, error) {
		hits, more, err := allHits(search.QueryFromList(text, q), func(sq search.Query) (search.Page[vault.AbstractWithFiles], error) {
			return p.App.Search.Abstracts(ctx, r.Actor, sq, q)
		})
		if err != nil {
			return nil, false, err
		}
		found := make([]model.Abstract, 0, len(hits))
		for _, hit := range hits {
			found = append(found, hit.Abstract)
		}
		rows, err := p.App.Lists.WithHeadings(ctx, found)
		return rows, more, err
	}
	return list, s, nil
}

// countAbstracts returns the number of abstracts that match the filters of a view, as text.
func (p *Pages) countAbstracts(ctx context.Context, asked url.Values) (string, error) {
	list, q := abstractList{tableList: tableList{listing: askedListing(asked, "")}}, vault.Query{}
	list.applyFilters(&q, p.LocalNow())
	return countRecords(ctx, q, p.App.Abstracts.ListWithoutFiles)
}

// applyFilters adds the requested filters and sort order to q.
func (l *abstractList) applyFilters(q *vault.Query, now time.Time) {
	l.addFilters(q)
	if id, err := strconv.ParseUint(l.Asked.Get("template"), 10, 63); err == nil && id > 0 {
		q.Filters = append(q.Filters, vault.Filter{Column: model.ColumnTemplate, Value: strconv.FormatUint(id, 10)})
	} else {
		l.Asked.Del("template")
	}
	q.CreatedFrom, q.CreatedTo = page.DayRangeParams(l.Asked, l.Problems, now)
	l.applySort(q)
}
