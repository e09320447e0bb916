package records

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Parameters of the addresses of lists besides filters and the sort order.
const (
	columnsParam = "columns" // names of columns, separated by commas
	viewParam    = "view"    // saved view that the address started from
	openParam    = "open"    // the disclosure that is open
	widthPrefix  = "width."  // before the name of a column in forms
)

// columnChoice is a column to choose from.
type columnChoice struct {
	Name, Label string
	Shown       bool
	First, Last bool // of those that are shown
	Always      bool // it names the record
	Width       int  // in CSS pixels; 0: as wide as the contents need
}

// viewTab is a link to a selection of a list: one of the program or a saved view.
type viewTab struct {
	Label, Address string
	Count          string // number of matching records, such as 100+; "" if it isn't known
	Chosen         bool
	Of             string // who shares the view; "" for the user's own
}

// viewForm is the form that changes the current view.
type viewForm struct {
	ID     uint64
	Name   string
	Shared bool
	Own    bool
}

// startForm is the form that makes the current view the page that a user starts with.
type startForm struct {
	ID uint64
	Is bool // it is
}

// listParams are the parameters of list pages whose names differ from those of the API, by list.
var listParams = map[string]map[string]string{
	lists.Abstracts: {"template": "template_id", "from": "created_from", "to": "created_to"},
}

// listFilters are the filters of list pages, by list.
var listFilters = map[string][]string{lists.Orders: orderFilters, lists.Abstracts: abstractFilters,
	lists.Instruments: instrumentFilters}

// viewQuery returns the query of the page with a view. ok is false if the page doesn't have all of its filters.
func viewQuery(v model.View) (asked url.Values, ok bool) {
	asked = url.Values{}
	names := map[string]string{}
	for _, name := range listFilters[v.Record] {
		of := name
		if api, differs := listParams[v.Record][name]; differs {
			of = api
		}
		names[of] = name
	}
	for of, value := range v.Filters {
		name, known := names[of]
		if !known {
			return nil, false
		}
		asked.Set(name, value)
	}
	if v.Sort != "" && !asked.Has("q") {
		asked.Set("sort", v.Sort)
	}
	if len(v.Columns) > 0 {
		asked.Set(columnsParam, strings.Join(v.Columns, ","))
	}
	asked.Set(viewParam, strconv.FormatUint(v.ID, 10))
	return asked, true
}

// viewInputs returns the fields of a view that shows what the page at an address shows.
func viewInputs(record, address string, columns []string) (model.Inputs, error) {
	from, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	filters, query := model.Inputs{}, from.Query()
	for _, name := range listFilters[record] {
		value := query.Get(name)
		if api, differs := listParams[record][name]; differs {
			name = api
		}
		if value != "" {
			filters[name] = model.StringInput(value)
		}
	}
	return model.Inputs{"filters": {Kind: model.InputObject, Members: filters}, "sort": model.StringInput(query.Get("sort")),
		"columns": model.StringsInput(columns)}, nil
}

func splitColumns(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(name string) bool { return name == "" })
}

// chosenColumns returns the names of the columns to show: those of the address or those that the user chose. It returns
// none if the default applies. It also sets the widths that the user chose.
func (p *Pages) chosenColumns(r *page.Request, l *tableList) (names []string, err error) {
	names, l.widths, err = p.App.Lists.Chosen(r.Context(), r.Actor, l.Record)
	if asked := splitColumns(l.Asked.Get(columnsParam)); len(asked) > 0 {
		names = asked
	}
	return names, err
}

// maxCounted is the maximum number of records of a view that are counted, and maxCountedViews how many views are.
const (
	maxCounted      = 100
	maxCountedViews = 20
)

// countRecords returns the number of records that a query selects, as text.
func countRecords[T any](ctx context.Context, q vault.Query, list func(context.Context, vault.Query) (vault.Page[T], error)) (string,
	error) {
	q.Limit = maxCounted
	found, err := list(ctx, q)
	if err != nil {
		return "", err
	}
	text := page.FormatCount(len(found.Items))
	if found.Next != nil {
		text += "+"
	}
	return text, nil
}

// addSavedViews adds the saved views that the page can show. count returns how many records match the filters of one.
func (p *Pages) addSavedViews(r *page.Request, l *tableList, count func(context.Context, url.Values) (string, error)) error {
	views, err := p.App.Lists.Views(r.Context(), r.Actor, l.Record)
	if err != nil {
		return err
	}
	counted := 0
	for _, v := range views {
		asked, ok := viewQuery(v)
		if !ok {
			continue
		}
		own := v.Owner.Is(r.Actor)
		tab := viewTab{Label: v.Name, Address: page.WithQuery(l.path, asked), Chosen: asked.Get(viewParam) == l.Asked.Get(viewParam)}
		if !own {
			tab.Of = v.Owner.Name
		}
		if tab.Chosen && (own || r.MayAdminister()) {
			l.View = &viewForm{v.ID, v.Name, v.Shared, own}
		}
		if tab.Chosen && r.Visitor.Known() {
			user, err := p.App.Users.Get(r.Context(), r.Visitor.ID)
			if err != nil {
				return err
			}
			l.Start = &startForm{v.ID, user.StartView == v.ID}
		}
		if counted++; !asked.Has("q") && counted <= maxCountedViews {
			if tab.Count, err = count(r.Context(), maps.Clone(asked)); err != nil {
				return err
			}
		}
		l.Views = append(l.Views, tab)
	}
	return nil
}

// addAll adds a link to the complete list before saved views, if there are any.
func (l *tableList) addAll() {
	if len(l.Views) > 0 {
		l.Views = slices.Insert(l.Views, 0, viewTab{Label: "All", Address: l.path, Chosen: !l.Asked.Has(viewParam) && !l.Filtered})
	}
}

// viewRecord returns the list that a form is about, or NotFound.
func viewRecord(r *page.Request) (string, error) {
	record := r.PostForm.Get("record")
	if _, known := listFilters[record]; !known {
		return "", page.NotFound(r)
	}
	return record, nil
}

// chooseColumns stores the columns that a user wants to see in a list, in the sequence of the form. The buttons up and
// down also move one of them.
func (p *Pages) chooseColumns(r *page.Request) error {
	record, err := viewRecord(r)
	if err != nil {
		return err
	}
	names, notice, open := r.PostForm["column"], "Columns saved.", ""
	widths, ok := widthsOf(r.PostForm)
	if !ok || slices.ContainsFunc(names, func(name string) bool { return len(name) > 200 }) {
		return page.NotFound(r)
	}
	for button, by := range map[string]int{"up": -1, "down": 1} {
		if at := slices.Index(names, r.PostForm.Get(button)); at >= 0 && at+by >= 0 && at+by < len(names) {
			names[at], names[at+by] = names[at+by], names[at]
		}
		if r.PostForm.Has(button) {
			open = columnsParam
		}
	}
	if r.PostForm.Has("reset") {
		names, widths, notice = nil, nil, "Columns reset."
	}
	err = p.App.Lists.ChooseColumns(r.Context(), r.Actor, record, names, widths)
	if errs.KindOf(err) == errs.Invalid {
		notice, open, err = page.ErrorSentence(err), columnsParam, nil
	}
	if err != nil {
		return err
	}
	back := page.WithQueryValue(page.ReturnAddress(r, "/"+record), columnsParam, "")
	return p.RedirectWithNotice(r, page.WithQueryValue(back, openParam, open), notice)
}

// widthsOf returns the widths of columns in a form, in CSS pixels, by name. ok is false if one isn't a number.
func widthsOf(form url.Values) (widths map[string]int, ok bool) {
	widths = map[string]int{}
	for name, values := range form {
		name, isWidth := strings.CutPrefix(name, widthPrefix)
		if !isWidth || values[0] == "" {
			continue
		}
		width, err := strconv.Atoi(values[0])
		if err != nil {
			return nil, false
		}
		widths[name] = width
	}
	return widths, true
}

// chooseWidths stores the widths that a user gave columns with the mouse.
func (p *Pages) chooseWidths(r *page.Request) error {
	record, err := viewRecord(r)
	if err != nil {
		return err
	}
	widths, ok := widthsOf(r.PostForm)
	if !ok {
		return page.NotFound(r)
	}
	if err = p.App.Lists.ChooseWidths(r.Context(), r.Actor, record, widths); err == nil {
		r.W.WriteHeader(http.StatusNoContent)
	}
	return err
}

// saveView stores what a list shows as a view.
func (p *Pages) saveView(r *page.Request) error {
	record, err := viewRecord(r)
	if err != nil {
		return err
	}
	back := page.ReturnAddress(r, "/"+record)
	in, err := viewInputs(record, back, splitColumns(r.PostForm.Get(columnsParam)))
	if err != nil {
		return err
	}
	in["record"], in["name"] = model.StringInput(record), model.StringInput(r.PostForm.Get("name"))
	in["shared"] = sharedInput(r)
	view, err := p.App.Lists.CreateView(r.Context(), r.Actor, in, vault.Idempotency[model.View]{})
	return p.showView(r, back, view, err, "View saved.")
}

func sharedInput(r *page.Request) model.Input {
	return model.Input{Kind: model.InputBoolean, Value: strconv.FormatBool(r.PostForm.Get("shared") != "")}
}

// showView redirects to a view, or back with the reason why it can't be stored.
func (p *Pages) showView(r *page.Request, back string, view model.View, err error, notice string) error {
	switch errs.KindOf(err) {
	case errs.Invalid, errs.Conflict, errs.Forbidden, errs.PreconditionFailed:
		return p.RedirectWithFailure(r, back, page.ErrorSentence(err))
	}
	if err != nil {
		return err
	}
	asked, ok := viewQuery(view)
	if !ok {
		return p.RedirectWithNotice(r, back, notice)
	}
	return p.RedirectWithNotice(r, page.WithQuery("/"+view.Record, asked), notice)
}

// changeView renames or shares a view, or replaces what it shows by what the list shows.
func (p *Pages) changeView(r *page.Request) error {
	view, err := p.App.Lists.View(r.Context(), r.Actor, r.PathID)
	if err != nil {
		return err
	}
	back := page.ReturnAddress(r, "/"+view.Record)
	in := model.Inputs{"name": model.StringInput(r.PostForm.Get("name")), "shared": sharedInput(r)}
	if r.PostForm.Has("replace") {
		shown, err := viewInputs(view.Record, back, splitColumns(r.PostForm.Get(columnsParam)))
		if err != nil {
			return err
		}
		maps.Copy(in, shown)
	}
	view, err = p.App.Lists.PatchView(r.Context(), r.Actor, r.PathID, in, vault.Match{})
	return p.showView(r, back, view, err, "View saved.")
}

// deleteView deletes a view.
func (p *Pages) deleteView(r *page.Request) error {
	view, err := p.App.Lists.View(r.Context(), r.Actor, r.PathID)
	if err != nil {
		return err
	}
	if err := p.App.Lists.DeleteView(r.Context(), r.Actor, r.PathID, vault.Match{}); err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/"+view.Record, "View “"+view.Name+"” deleted.")
}

// setStart makes a view the page that the user starts with, or the desk again.
func (p *Pages) setStart(r *page.Request) error {
	view, err := p.App.Lists.View(r.Context(), r.Actor, r.PathID)
	if err != nil {
		return err
	}
	start, notice := view.ID, "Start page set to “"+view.Name+"”."
	if r.PostForm.Has("desk") {
		start, notice = 0, "Start page reset to the desk."
	}
	if err := p.App.Users.SetStartView(r.Context(), r.Actor, start); err != nil {
		return err
	}
	return p.RedirectWithNotice(r, page.ReturnAddress(r, "/"+view.Record), notice)
}

// startAddress returns the address of the view that the visitor starts with. It returns "" if that is the desk: if there is
// no such view, or if the user came to the desk by a link.
func (p *Pages) startAddress(r *page.Request) (string, error) {
	if !r.Visitor.Known() || !r.URL.Query().Has(page.StartParam) && r.Header.Get("Sec-Fetch-Site") != "none" {
		return "", nil
	}
	user, err := p.App.Users.Get(r.Context(), r.Visitor.ID)
	if err != nil || user.StartView == 0 {
		return "", err
	}
	view, err := p.App.Lists.View(r.Context(), r.Actor, user.StartView)
	if errs.KindOf(err) == errs.NotFound { // deleted, or no longer shared
		return "", nil
	}
	asked, ok := viewQuery(view)
	if err != nil || !ok {
		return "", err
	}
	return page.WithQuery("/"+view.Record, asked), nil
}
