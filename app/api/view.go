package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// viewHandler serves the routes of saved views.
type viewHandler struct {
	server  *server
	service *lists.Service
}

func (h viewHandler) render(status int, v model.View) response {
	return response{status: status, header: h.server.etags[viewType].header(v.ID, v.Version), body: apitypes.ViewBody{Data: encode.View(v)}}
}

func (h viewHandler) list(r *request) (response, error) {
	list, err := h.service.Views(r.Context(), r.actor, "")
	if err != nil {
		return response{}, err
	}
	body := apitypes.Views{}
	for _, v := range list {
		body.Data = append(body.Data, encode.View(v))
	}
	return okResponse(body)
}

func (h viewHandler) get(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	v, err := h.service.View(r.Context(), r.actor, id)
	return h.render(http.StatusOK, v), err
}

// input reads the body of a request for a view of a list. record is the list, or "" if the body names it.
func (h viewHandler) input(r *request, record string) (model.Inputs, error) {
	sent, err := r.object(h.server.Limits.JSON, lists.ViewFields()...)
	if err != nil {
		return nil, err
	}
	in := inputs(sent, lists.ViewFields()...)
	if record == "" {
		record = in["record"].Value
	}
	return in, h.server.checkFilters(in["filters"], record)
}

// checkFilters returns Invalid unless a request for the list may have the filters of a view.
func (s *server) checkFilters(filters model.Input, record string) error {
	var invalid errs.Fields
	var q vault.Query
	spec, known := listSpecs()[record]
	for _, name := range slices.Sorted(maps.Keys(filters.Members)) {
		value := filters.Members[name]
		if name == "q" && known {
			continue
		}
		field := "filters." + name
		n := slices.IndexFunc(spec.filters, func(f filter) bool { return f.name == name })
		if n < 0 {
			invalid.Add(field, errs.InvalidChoice)
			continue
		}
		var problems errs.Fields
		if spec.filters[n].read(s, strings.TrimSpace(value.Value), &q, &problems); len(problems) > 0 && value.Value != "" {
			invalid.AddProblem(field, problems[0].Problems[0])
		}
	}
	return invalid.Err()
}

// listSpecs returns the lists that can have views, by name.
func listSpecs() map[string]listSpec {
	return map[string]listSpec{lists.Orders: orderListSpec, lists.Abstracts: abstractListSpec, lists.Instruments: instrumentListSpec}
}

func (h viewHandler) create(r *request) (response, error) {
	in, err := h.input(r, "")
	if err != nil {
		return response{}, err
	}
	render := func(v model.View) response { return h.render(http.StatusCreated, v) }
	return perform(r, render, func(keep vault.Idempotency[model.View]) (model.View, error) {
		return h.service.CreateView(r.Context(), r.actor, in, keep)
	})
}

func (h viewHandler) patch(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	old, err := h.service.View(r.Context(), r.actor, id) // respond 404 before reading the body
	if err != nil {
		return response{}, err
	}
	in, err := h.input(r, old.Record)
	if err != nil {
		return response{}, err
	}
	v, err := h.service.PatchView(r.Context(), r.actor, id, in, h.server.etags[viewType].match(r.Header, id))
	return h.render(http.StatusOK, v), err
}

func (h viewHandler) delete(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.DeleteView(r.Context(), r.actor, id, h.server.etags[viewType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

// viewParam is the parameter of a list with the ID of a view.
const viewParam = "view"

// applyView adds the filters, the sort order, and the columns of the requested view to the parameters of a list. Those of
// the request win.
func (s *server) applyView(r *request, l listSpec, values map[string]string, invalid *errs.Fields) error {
	text := strings.TrimSpace(values[viewParam])
	if !l.hasViews || text == "" {
		return nil
	}
	id, _, ok := decode.Integer(text)
	if !ok {
		invalid.Add(viewParam, errs.NotInteger)
		return nil
	}
	view, err := s.App.Lists.View(r.Context(), r.actor, uint64(max(id, 0)))
	switch {
	case errs.KindOf(err) == errs.NotFound, err == nil && view.Record != l.recordType:
		invalid.Add(viewParam, errs.InvalidChoice)
		return nil
	case err != nil:
		return err
	}
	set := func(name, value string) {
		if _, sent := values[name]; !sent {
			values[name] = value
		}
	}
	for name, value := range view.Filters {
		set(name, value)
	}
	set(columnsParam, strings.Join(view.Columns, ","))
	if values["q"] == "" && values[string(model.ColumnParty)] == "" { // a search has no sort order
		found, err := s.App.Lists.Sort(r.Context(), view.Record, &vault.Query{}, view.Sort)
		if err != nil {
			return err
		}
		if found { // otherwise, its field was deleted since the view was saved
			set("sort", view.Sort)
		}
	}
	return nil
}

// viewRoutes returns the routes of saved views.
func viewRoutes(s *server) []route {
	views := viewHandler{s, s.App.Lists}
	return []route{
		{"GET", "/views", views.list},
		{"POST", "/views", views.create},
		{"GET", "/views/:n", views.get},
		{"PATCH", "/views/:n", views.patch},
		{"DELETE", "/views/:n", views.delete},
	}
}
