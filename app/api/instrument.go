package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/spreadsheet"
	"deedkeep/app/vault"
)

// instrumentHandler serves the routes of instruments, runsheets, and document types.
type instrumentHandler struct {
	recordHandler[vault.InstrumentView, vault.InstrumentPatch]
	service *vault.Instruments
}

func newInstrumentHandler(s *server) instrumentHandler {
	v := s.App.Instruments
	h := instrumentHandler{service: v}
	h.recordHandler = recordHandler[vault.InstrumentView, vault.InstrumentPatch]{
		server: s, etag: s.etags[instrumentType], find: v.Get, change: v.Patch, remove: v.Trash, undo: v.Restore,
		id:      (*request).numberID,
		fields:  model.InstrumentInputFields(),
		patchOf: func(_ *request, body patchBody) vault.InstrumentPatch { return instrumentPatch(body) },
		render:  func(_ *request, i vault.InstrumentView) response { return s.instrumentResponse(http.StatusOK, i) },
		ids:     numberIDs,
	}
	return h
}

// instrumentPatch returns the fields of an instrument and the place in the runsheet that a request asks for.
func instrumentPatch(body map[string]json.RawMessage) vault.InstrumentPatch {
	p := vault.InstrumentPatch{Input: inputs(body, model.InstrumentInputFields()...)}
	n := number(body["position"])
	switch {
	case !n.Present:
		return p
	case !n.Valid:
		p.Rejected.Add("position", errs.NotInteger)
	case n.Value < 1:
		p.Rejected.Add("position", errs.InvalidChoice)
	}
	p.Position = int(min(n.Value, 1<<30))
	return p
}

func (s *server) instrumentResponse(status int, i vault.InstrumentView) response {
	header := s.etags[instrumentType].header(i.ID, i.Version)
	if i.Duplicate.ID != 0 {
		header[apitypes.DuplicateOf] = strconv.FormatUint(i.Duplicate.ID, 10)
	}
	return response{status: status, header: header, body: apitypes.InstrumentBody{Data: s.instrument(i)}}.lacking(lacksStatus(i))
}

// lacksStatus returns the part of a response that is missing if the status of an instrument is.
func lacksStatus(list ...vault.InstrumentView) string {
	if slices.ContainsFunc(list, func(i vault.InstrumentView) bool { return i.Status == "" }) {
		return vault.PartStatus
	}
	return ""
}

func (s *server) instrument(i vault.InstrumentView) apitypes.Instrument {
	return encode.Instrument(i.Instrument, i.Type, s.abstracts.Encode(i.AbstractID), i.Status, i.Position)
}

func (s *server) instruments(list []vault.InstrumentView) []apitypes.Instrument {
	shapes := make([]apitypes.Instrument, 0, len(list))
	for _, i := range list {
		shapes = append(shapes, s.instrument(i))
	}
	return shapes
}

// listOfAbstract returns the instruments of an abstract in the sequence of the runsheet.
func (h instrumentHandler) listOfAbstract(r *request) (response, error) {
	sheet, err := h.readRunsheet(r)
	if err != nil {
		return response{}, err
	}
	body := apitypes.Instruments{Data: h.server.instruments(sheet.Instruments)}
	return h.runsheetResponse(sheet, body).lacking(lacksStatus(sheet.Instruments...)), nil
}

// runsheet returns the instruments of an abstract and the gaps in the chain of title.
func (h instrumentHandler) runsheet(r *request) (response, error) {
	sheet, err := h.readRunsheet(r)
	if err != nil {
		return response{}, err
	}
	body := apitypes.Runsheet{Data: h.server.instruments(sheet.Instruments)}
	gaps, missing := h.service.Gaps(r.Context(), sheet)
	for _, gap := range gaps {
		body.Gaps = append(body.Gaps, apitypes.Gap{After: int64(gap.After), Name: gap.Name})
	}
	lacking := ""
	if missing {
		lacking = vault.PartGaps
	}
	return h.runsheetResponse(sheet, body).lacking(lacking, lacksStatus(sheet.Instruments...)), nil
}

// runsheetResponse returns a response with the version of the runsheet, which every change of its
// instruments and of their sequence increments.
func (h instrumentHandler) runsheetResponse(sheet vault.Runsheet, body any) response {
	return response{status: http.StatusOK, header: h.server.etags[runsheetType].header(sheet.AbstractID, sheet.Version), body: body}
}

func (h instrumentHandler) readRunsheet(r *request) (vault.Runsheet, error) {
	id, err := r.opaqueID(h.server.abstracts)
	if err != nil {
		return vault.Runsheet{}, err
	}
	return h.service.Runsheet(r.Context(), id)
}

// runsheetFiles returns the routes of the runsheet as a file.
func (h instrumentHandler) runsheetFiles() (routes []route) {
	for _, f := range spreadsheet.Formats() {
		routes = append(routes, route{"GET", "/abstracts/:id/runsheet" + f.Extension, func(r *request) (response, error) {
			id, err := r.opaqueID(h.server.abstracts)
			if err != nil {
				return response{}, err
			}
			rows, err := h.service.Rows(r.Context(), id)
			if err != nil {
				return response{}, err
			}
			if r.Method != http.MethodHead {
				h.server.App.Events.RunsheetDownloaded(r.actor, model.RecordRef(vault.AbstractOps.Name, id), f.Extension)
			}
			return fileResponse(r, "runsheet", f, runsheet.File(rows)), nil
		}})
	}
	return routes
}

func (h instrumentHandler) create(r *request) (response, error) {
	id, err := r.opaqueID(h.server.abstracts)
	if err != nil {
		return response{}, err
	}
	if _, err := h.server.App.Abstracts.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before reading the body
	}
	sent, err := r.object(h.server.Limits.JSON, model.InstrumentInputFields()...)
	if err != nil {
		return response{}, err
	}
	patch := instrumentPatch(sent)
	render := func(i vault.InstrumentView) response { return h.server.instrumentResponse(http.StatusCreated, i) }
	return perform(r, render, func(keep vault.Idempotency[vault.InstrumentView]) (vault.InstrumentView, error) {
		return h.service.Create(r.Context(), r.actor, id, patch, keep)
	})
}

// setSequence sets the sequence of the runsheet and returns the instruments in it.
func (h instrumentHandler) setSequence(r *request) (response, error) {
	id, err := r.opaqueID(h.server.abstracts)
	if err != nil {
		return response{}, err
	}
	const field = "instruments"
	sent, err := r.object(h.server.Limits.JSON, field)
	if err != nil {
		return response{}, err
	}
	list := patchBody(sent).numbers(field)
	var rejected errs.Fields
	var ids []uint64
	if !list.Value.IsArray {
		rejected.Add(field, errs.NotArray)
	}
	for _, n := range list.Value.Items {
		if !n.Valid || !n.Present || n.Value < 1 {
			rejected.Add(field, errs.InvalidChoice)
			break
		}
		ids = append(ids, uint64(n.Value))
	}
	if err := rejected.Err(); err != nil {
		return response{}, err
	}
	if err := h.service.SetSequence(r.Context(), r.actor, id, ids, h.server.etags[runsheetType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return h.listOfAbstract(r)
}

func (h instrumentHandler) types(r *request) (response, error) {
	types, err := h.service.Types(r.Context())
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.DocumentTypes{Data: encode.DocumentTypes(types)})
}

var instrumentListSpec = listSpec{
	recordType: "instruments",
	hasViews:   true,
	search:     searchOptional,
	sorts:      []sortOption{{"created_at", model.SortCreated}, {"recorded", model.SortDue}},
	filters: []filter{
		byNumber("type_id", model.ColumnDocumentType), byAbstract("abstract_id"),
		byText(model.ColumnCounty, model.MaxLineLength), byText(model.ColumnState, model.MaxLineLength),
		byText(model.ColumnInstrumentNumber, model.MaxReferenceLength),
		byText(model.ColumnBook, model.MaxReferenceLength), byText(model.ColumnPage, model.MaxReferenceLength),
		searched(byText(model.ColumnParty, model.MaxNameLength)),
		byChoice("status", model.ColumnStatus, model.InstrumentStatuses()...),
		byDay("recorded_from", func(q *vault.Query) *string { return &q.DueFrom }),
		byDay("recorded_to", func(q *vault.Query) *string { return &q.DueTo }),
	},
}

// list returns a page of the instruments of all abstracts.
func (h instrumentHandler) list(r *request) (response, error) {
	lacking := ""
	resp, err := listPage(h.server, r, instrumentListSpec, h.service.List, h.server.App.Search.Instruments,
		func(i vault.InstrumentView) apitypes.Instrument {
			lacking = cmp.Or(lacking, lacksStatus(i))
			return h.server.instrument(i)
		})
	return resp.lacking(lacking), err
}

// files returns the routes of the list as a file.
func (h instrumentHandler) files() []route {
	list := h.server.App.Lists
	return fileRoutes(h.server, "/instruments", instrumentListSpec, list.Instruments, list.InstrumentPages(h.service.List),
		func(r *request, lq listQuery) func(context.Context, vault.Query) (vault.Page[lists.Instrument], error) {
			return list.InstrumentPages(searching(r, lq, h.server.App.Search.Instruments))
		})
}
