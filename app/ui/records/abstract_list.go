package records

import (
	"strconv"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

const abstractsPerPage = 50

// abstractList is the template data of the abstract list.
type abstractList struct {
	listing
	Rows      []abstractRow
	Templates []model.Template // includes retired templates because abstracts may still use them
	People    []titlework.Person
}

// abstractRow is a row of the abstract list.
type abstractRow struct {
	model.Abstract
	Path, Heading, Template string
	Documents               int
}

// abstractSorts defines the table columns and their sort orders.
var abstractSorts = []listSort{
	{"File number", "", "file", model.SortFileNumber},
	{"Address", "", "address", model.SortAddress},
	{"County, state", "", "", ""},
	{"Parcel ID", "", "parcel", model.SortParcel},
	{"Template", "aside", "", ""},
	{"Status", "", "", ""},
	{"Documents", "num", "", ""},
	{"Created", "", "created", model.SortCreated},
	{"Updated", "aside", "", ""},
}

// abstractFilters are the names of the list's filters.
var abstractFilters = []string{"q", "status", "template", "county", "state", "from", "to"}

func (p *Pages) abstractListPage(r *page.Request) (err error) {
	list := abstractList{listing: newListing(r, abstractSorts, "-created", abstractFilters...)}
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
	if list.People, err = p.work.Assignable(r.Context()); err != nil {
		return err
	}
	if err := p.loadAbstracts(r, &list); err != nil {
		return err
	}
	only := ""
	if len(list.Rows) == 1 {
		only = list.Rows[0].Path
	}
	return p.showList(r, &list.listing, only, "abstracts.html", "results-update", page.Page{Heading: "Abstracts", Section: "abstracts", Data: &list})
}

// loadAbstracts reads the requested page of the abstract list.
func (p *Pages) loadAbstracts(r *page.Request, list *abstractList) (err error) {
	q := vault.Query{Limit: abstractsPerPage}
	if list.applyFilters(&q, p.LocalNow()); len(list.Problems) > 0 {
		return nil
	}
	var found vault.Page[model.Abstract]
	if text := list.Asked.Get("q"); text != "" {
		found.Items, err = searchRows(&list.listing, text, func() ([]model.Abstract, bool, error) {
			return p.App.Search.AbstractsByNumber(r.Context(), text, q)
		}, func() ([]model.Abstract, bool, error) {
			hits, err := p.App.Search.Abstracts(r.Context(), r.Actor, search.QueryFromList(text, q), 0)
			list := make([]model.Abstract, 0, len(hits.Items))
			for _, hit := range hits.Items {
				list = append(list, hit.Abstract)
			}
			return list, hits.Next > 0, err
		})
	} else {
		p.ApplyCursor(r, list.Asked, &q)
		found, err = page.ReadNonEmpty(r.Context(), q, p.App.Abstracts.ListWithoutFiles)
		list.Prev, list.Next = p.PageLinks(r, list.Asked, found.Prev, found.Next)
	}
	if err != nil {
		return err
	}
	headings, err := p.App.Abstracts.Headings(r.Context(), found.Items...)
	if err != nil {
		return err
	}
	for i, a := range found.Items {
		list.Rows = append(list.Rows, abstractRow{
			Abstract: a, Path: p.AbstractPath(a.ID), Heading: headings[i],
			Template: templateName(list.Templates, a.TemplateID), Documents: len(a.Files),
		})
	}
	return err
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

// templateName returns the name of the template with the given ID, or "" if there is none.
func templateName(templates []model.Template, id uint64) string {
	for _, t := range templates {
		if t.ID == id {
			return t.Name
		}
	}
	return ""
}
