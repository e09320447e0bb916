package ui

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// activityFilters are the parameters of the page's address, and of the CSV's.
var activityFilters = []string{"who", "kind", "record", "from", "to"}

// activityPage is the log of who did what, newest first.
type activityPage struct {
	Asked      map[string]string // the filters as they were asked for
	Problems   map[string]string
	Users      []model.User
	Keys       []model.Key
	Kinds      any           // eventWords
	About      *aboutRecord  // the record that the filter found
	Choices    []choiceAbout // the records that it may mean
	Events     []eventRow
	CSV        string
	Prev, Next string
	Check      logCheck
}

// choiceAbout is one of several records that the filter may mean, and the address of the
// page about it alone.
type choiceAbout struct {
	aboutRecord
	Address string
}

const onActivity = 50

func (p *pages) activity(w http.ResponseWriter, r *http.Request, who visitor) error {
	asked := kept(r, activityFilters...)
	shown := activityPage{Asked: map[string]string{}, Problems: map[string]string{}, Kinds: eventWords, Check: p.logCheck()}
	var err error
	if shown.Users, err = p.Vault.Users.List(r.Context()); err != nil {
		return err
	}
	if shown.Keys, err = p.Vault.Keys.List(r.Context()); err != nil {
		return err
	}
	q, records, err := p.eventQuery(r.Context(), who, asked, shown.Problems)
	if err != nil {
		return err
	}
	shown.about(records, asked)
	for name := range asked {
		shown.Asked[name] = asked.Get(name)
	}
	shown.CSV = address("/admin/activity.csv", asked)
	q.Descending, q.Limit = true, onActivity
	p.placed(r, asked, &q)
	list, err := onward(r.Context(), q, p.Vault.Events.List)
	if err != nil {
		return err
	}
	shown.Prev, shown.Next = p.beside(r, asked, list.Prev, list.Next)
	if shown.Events, err = p.eventRows(r.Context(), list.Items); err != nil {
		return err
	}
	return p.show(w, r, who, http.StatusOK, "activity.html", page{Heading: "Activity", Section: "admin", Data: shown, Styles: adminStyles})
}

// about shows which record the filter found, or which it may mean.
func (a *activityPage) about(records []aboutRecord, asked url.Values) {
	if len(records) == 1 && records[0].Name != "" {
		a.About = &records[0]
	}
	if len(records) < 2 {
		return
	}
	for _, one := range records {
		other := maps.Clone(asked)
		other["record"] = []string{one.Asked}
		a.Choices = append(a.Choices, choiceAbout{one, address("/admin/activity", other)})
	}
}

// eventQuery reads the filters; what is wrong with one is put beside it, and the list
// is that without it. It gives the records that the filter by record may mean.
func (p *pages) eventQuery(ctx context.Context, who visitor, asked url.Values, problems map[string]string) (q vault.Query, records []aboutRecord, err error) {
	q = vault.Query{Sort: vault.SortCreated}
	where := func(column vault.Column, value string) {
		q.Filters = append(q.Filters, vault.Filter{Column: column, Value: value})
	}
	if v := asked.Get("who"); v != "" {
		where(vault.ColumnActor, v)
	}
	if v := asked.Get("kind"); v != "" {
		where(vault.ColumnKind, v)
	}
	if v := asked.Get("record"); v != "" {
		if records, err = p.recordsAbout(ctx, who, v); err != nil {
			return q, nil, err
		}
		switch len(records) {
		case 0:
			problems["record"] = "No record has this number, name, or address. Check the spelling, or paste the address of its page."
		case 1:
			where(vault.ColumnRecord, records[0].record)
		default:
			problems["record"] = "Several records match. Choose one of them below."
		}
	}
	q.CreatedFrom, q.CreatedTo = askedDays(asked, problems, p.Zone)
	return q, records, nil
}

// recordPages are the addresses of pages about one record, and the noun of each.
var recordPages = map[string]string{
	"abstracts": "abstract", "orders": "order", "documents": "file", "vault": "folder", "templates": "template", "users": "user", "keys": "key",
}

var recordText = regexp.MustCompile(`^[a-z_]{1,32}:[0-9]{1,20}$`)

// recordOf is the name in the log of a record that somebody names by its name there,
// or by the address of its page; "" for anything else.
func (p *pages) recordOf(text string) string {
	text = strings.TrimSpace(text)
	noun, id, named := strings.Cut(text, ":")
	if u, err := url.Parse(text); err == nil && strings.HasPrefix(u.Path, "/") {
		parts := strings.Split(strings.TrimPrefix(strings.Trim(u.Path, "/"), "admin/"), "/")
		if len(parts) < 2 {
			return ""
		}
		noun, id, named = recordPages[parts[0]], parts[1], true
	}
	ids := p.idsOf(noun)
	if named && ids != nil {
		if n, ok := ids.Decode(id); ok {
			return record(noun, n)
		}
		return ""
	}
	if text = noun + ":" + id; !named || !recordText.MatchString(text) {
		return ""
	}
	return text
}
