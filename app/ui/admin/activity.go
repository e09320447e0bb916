package admin

import (
	"maps"
	"net/http"
	"net/url"

	"deedkeep/app/audit"
	"deedkeep/app/model"
	"deedkeep/app/txn"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// activityFilters are the filter parameters of the activity page and its CSV export.
var activityFilters = []string{"who", "kind", "record", "from", "to"}

// activityPage is the template data of the activity page, which shows the audit log, newest entries
// first.
type activityPage struct {
	Asked      map[string]string // requested filters
	Problems   map[string]string
	Users      []model.User
	Keys       []model.Key
	Kinds      any            // texts of all event kinds
	About      *matchedRecord // the record that the filter matched
	Choices    []recordChoice // records that the filter text could refer to
	Events     []eventRow
	CSV        string
	Prev, Next string
	Check      txn.Progress[audit.LogReport] // progress or result of verifying the audit log
}

// recordChoice is one of several records that the filter text could refer to, with the address of a
// page that shows only that record's activity.
type recordChoice struct {
	matchedRecord
	Address string
}

const activityPerPage = 50

func (p *Pages) activityPage(r *page.Request) error {
	filters := page.ListParams(r, activityFilters...)
	view := activityPage{Asked: map[string]string{}, Problems: map[string]string{}, Kinds: page.EventTexts, Check: p.App.Events.VerifyProgress()}
	var err error
	if view.Users, err = p.App.Users.List(r.Context()); err != nil {
		return err
	}
	if view.Keys, err = p.App.Keys.List(r.Context()); err != nil {
		return err
	}
	q, records, err := p.eventQuery(r, filters, view.Problems)
	if err != nil {
		return err
	}
	view.setRecords(records, filters)
	for name := range filters {
		view.Asked[name] = filters.Get(name)
	}
	view.CSV = page.WithQuery("/admin/activity.csv", filters)
	q.Descending, q.Limit = true, activityPerPage
	p.ApplyCursor(r, filters, &q)
	list, err := page.ReadNonEmpty(r.Context(), q, p.App.Events.List)
	if err != nil {
		return err
	}
	view.Prev, view.Next = p.PageLinks(r, filters, list.Prev, list.Next)
	if view.Events, err = p.eventRows(r.Context(), list.Items); err != nil {
		return err
	}
	return p.RenderPage(r, http.StatusOK, "activity.html", page.Page{
		Heading: "Activity", Section: "admin", Data: view, Styles: adminStyles,
	})
}

// setRecords sets the record that the filter matched. If it matched several, it sets the choices.
func (a *activityPage) setRecords(records []matchedRecord, filters url.Values) {
	if len(records) == 1 && records[0].Name != "" {
		a.About = &records[0]
	}
	if len(records) < 2 {
		return
	}
	for _, record := range records {
		params := maps.Clone(filters)
		params["record"] = []string{record.Asked}
		a.Choices = append(a.Choices, recordChoice{record, page.WithQuery("/admin/activity", params)})
	}
}

// eventQuery returns the query for the filters and the records that the record filter could refer
// to. Invalid filters are ignored and reported in problems.
func (p *Pages) eventQuery(r *page.Request, filters url.Values, problems map[string]string) (q vault.Query, records []matchedRecord, err error) {
	q = vault.Query{Sort: model.SortCreated}
	where := func(column model.Column, value string) {
		q.Filters = append(q.Filters, vault.Filter{Column: column, Value: value})
	}
	if v := filters.Get("who"); v != "" {
		where(model.ColumnActor, v)
	}
	if v := filters.Get("kind"); v != "" {
		where(model.ColumnKind, v)
	}
	if v := filters.Get("record"); v != "" {
		if records, err = p.findRecords(r, v); err != nil {
			return q, nil, err
		}
		switch len(records) {
		case 0:
			problems["record"] = "No record has this number, name, or address. Check the spelling, or paste the page's URL."
		case 1:
			where(model.ColumnRecord, records[0].record)
		default:
			problems["record"] = "Several records match. Select one below."
		}
	}
	q.CreatedFrom, q.CreatedTo = page.DayRangeParams(filters, problems, p.LocalNow())
	return q, records, nil
}
