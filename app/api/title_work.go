package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
	"deedkeep/app/vault"
	"deedkeep/app/vault/phrases"
)

// titleWorkHandler serves the routes of the title work of abstracts. Each part has an entity tag of
// its own.
type titleWorkHandler struct {
	server  *server
	service *vault.TitleWork
}

// Names of the parts in entity tags.
const (
	orderLinkType    = "order_link"
	assignmentType   = "assignment"
	namesRunType     = "names_run"
	requirementsType = "requirements"
	runsheetType     = "runsheet"
	checksType       = "checks"
	phrasesType      = "phrases"
)

// Fields of requests.
var (
	assignmentFields  = []string{"searcher", "examiner", "due_date"}
	certificateFields = []string{"effective_date", "effective_time", "search_from", "indices_searched", "accepted"}
)

// read returns the title work of the abstract in the path.
func (h titleWorkHandler) read(r *request) (work model.TitleWork, err error) {
	id, err := r.opaqueID(h.server.abstracts)
	if err != nil {
		return work, err
	}
	return h.service.Get(r.Context(), id)
}

// body returns the title work of the abstract in the path and the members of the request's body.
func (h titleWorkHandler) body(r *request, known ...string) (model.TitleWork, map[string]json.RawMessage, error) {
	work, err := h.read(r)
	if err != nil {
		return work, nil, err
	}
	sent, err := r.object(h.server.Limits.JSON, known...)
	return work, sent, err
}

// replacement is like body for a PUT. It returns Invalid unless the body has at least one of the known members, so
// that a misspelled one clears nothing.
func (h titleWorkHandler) replacement(r *request, known ...string) (model.TitleWork, map[string]json.RawMessage, error) {
	work, sent, err := h.body(r, known...)
	isSent := func(field string) bool { return len(sent[field]) > 0 }
	if err == nil && !slices.ContainsFunc(known, isSent) {
		err = errs.InvalidField(known[0], errs.Required)
	}
	return work, sent, err
}

// show returns the handler that reads a part of the title work.
func (h titleWorkHandler) show(part func(model.TitleWork) response) handler {
	return func(r *request) (response, error) {
		work, err := h.read(r)
		return part(work), err
	}
}

func (h titleWorkHandler) orderResponse(work model.TitleWork) response {
	body := apitypes.OrderLink{}
	if work.OrderID != 0 {
		body.Data.OrderID = new(h.server.orders.Encode(work.OrderID))
	}
	return h.part(orderLinkType, work.AbstractID, work.Versions.Order, body)
}

// part returns the response for a part of the title work.
func (h titleWorkHandler) part(recordType string, id, version uint64, body any) response {
	return response{status: http.StatusOK, header: h.server.etags[recordType].header(id, version), body: body}
}

func (h titleWorkHandler) setOrder(r *request) (response, error) {
	work, sent, err := h.replacement(r, "order_id")
	if err != nil {
		return response{}, err
	}
	in := model.JSONInput(sent["order_id"])
	var order uint64
	if in.Kind != model.InputMissing && (in.Kind != model.InputString || in.Value != "") {
		var ok bool
		if order, ok = h.server.orders.Decode(in.Value); !ok {
			return response{}, errs.InvalidField("order_id", errs.InvalidChoice)
		}
	}
	return h.linkOrder(r, work.AbstractID, order)
}

func (h titleWorkHandler) removeOrder(r *request) (response, error) {
	work, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	if _, err := h.linkOrder(r, work.AbstractID, 0); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h titleWorkHandler) linkOrder(r *request, abstract, order uint64) (response, error) {
	work, err := h.service.SetOrder(r.Context(), r.actor, abstract, order, h.server.etags[orderLinkType].match(r.Header, abstract))
	return h.orderResponse(work), err
}

func (h titleWorkHandler) abstractsOfOrder(r *request) (response, error) {
	id, err := r.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	list, err := h.service.AbstractsOfOrder(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	body := apitypes.AbstractsOfOrder{}
	for _, a := range list {
		body.Data = append(body.Data, h.server.abstract(r, a))
	}
	return okResponse(body)
}

func (h titleWorkHandler) assignmentResponse(work model.TitleWork) response {
	a := work.Assignment
	return h.part(assignmentType, work.AbstractID, work.Versions.Assignment, apitypes.AssignmentBody{Data: apitypes.Assignment{
		Searcher: encode.OptionalID(a.SearcherID), Examiner: encode.OptionalID(a.ExaminerID), DueDate: encode.OptionalString(a.DueDate)}})
}

func (h titleWorkHandler) setAssignment(r *request) (response, error) {
	work, sent, err := h.replacement(r, assignmentFields...)
	if err != nil {
		return response{}, err
	}
	id := work.AbstractID
	work, err = h.service.SetAssignment(r.Context(), r.actor, id, inputs(sent, assignmentFields...),
		h.server.etags[assignmentType].match(r.Header, id))
	return h.assignmentResponse(work), err
}

// rowsOf returns the rows of a body. Clients may send them as "data", the name that responses use.
func rowsOf(sent map[string]json.RawMessage) model.Input {
	return model.JSONInput(cmp.Or(string(sent["rows"]), string(sent["data"])))
}

func (h titleWorkHandler) namesRunResponse(work model.TitleWork) response {
	return h.part(namesRunType, work.AbstractID, work.Versions.NamesRun, apitypes.NamesRun{Data: encode.NamesRun(work.NamesRun)})
}

func (h titleWorkHandler) setNamesRun(r *request) (response, error) {
	work, sent, err := h.replacement(r, "rows", "data")
	if err != nil {
		return response{}, err
	}
	id := work.AbstractID
	work, err = h.service.SetNamesRun(r.Context(), r.actor, id, rowsOf(sent), h.server.etags[namesRunType].match(r.Header, id))
	return h.namesRunResponse(work), err
}

func (h titleWorkHandler) requirements(r *request) (response, error) {
	id, err := r.opaqueID(h.server.abstracts)
	if err != nil {
		return response{}, err
	}
	list, version, err := h.service.Requirements(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	body := apitypes.Requirements{}
	for _, row := range list {
		source := "abstract"
		if row.FromInstrument {
			source = "instrument"
		}
		body.Data = append(body.Data, apitypes.Requirement{Kind: row.Kind, Text: row.Text, InstrumentID: encode.OptionalID(row.InstrumentID),
			Cleared: encode.OptionalString(row.Cleared), Source: source})
	}
	return h.part(requirementsType, id, version, body), nil
}

func (h titleWorkHandler) setRequirements(r *request) (response, error) {
	work, sent, err := h.replacement(r, "rows", "data")
	if err != nil {
		return response{}, err
	}
	id := work.AbstractID
	if _, err = h.service.SetRequirements(r.Context(), r.actor, id, rowsOf(sent),
		h.server.etags[requirementsType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return h.requirements(r)
}

// certificate converts a certificate to its JSON form. version is the current version of the runsheet.
func certificate(c model.Certificate, version uint64) apitypes.SearchCertificate {
	body := apitypes.SearchCertificate{ID: int64(c.ID), EffectiveDate: c.EffectiveDate, EffectiveTime: encode.OptionalString(c.EffectiveTime),
		SearchFrom: encode.OptionalString(c.SearchFrom), IndicesSearched: c.IndicesSearched, By: encode.Actor(c.By), At: apitypes.At(c.At),
		FullName: encode.OptionalString(c.Examiner.FullName), Title: encode.OptionalString(c.Examiner.Title),
		FileID: encode.OptionalID(c.FileID), SHA256: c.Digest, ChangedSince: version > c.RunsheetVersion && c.Voided == nil}
	for _, row := range c.Accepted {
		body.Accepted = append(body.Accepted, apitypes.AcceptedCheck{Check: row.Check, Text: encode.OptionalString(row.Text), Reason: row.Reason})
	}
	for _, row := range c.Unaccepted {
		body.Unaccepted = append(body.Unaccepted, apitypes.OpenCheck{Check: row.Check, Text: row.Text})
	}
	if c.Voided != nil {
		body.VoidedAt, body.VoidedBy, body.VoidReason = new(apitypes.At(c.Voided.At)), new(encode.Actor(c.Voided.By)), &c.Voided.Reason
	}
	return body
}

// checks returns what to fix or to accept before the search of an abstract is certified.
func (h titleWorkHandler) checks(r *request) (response, error) {
	work, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	checks, err := h.service.Checks(r.Context(), work.AbstractID, nil)
	if err != nil {
		return response{}, err
	}
	body := apitypes.Checks{}
	for _, f := range checks.Findings {
		before, _ := titlecheck.Proposal(f, checks.Before)
		body.Data = append(body.Data, apitypes.Check{ID: f.ID, Check: f.Check, Text: f.Text, Advice: f.Advice,
			InstrumentID: encode.OptionalID(f.Instrument), FileID: encode.OptionalID(f.Document), Proposal: encode.OptionalString(before.Reason)})
	}
	return h.part(checksType, work.AbstractID, checks.Version, body), nil
}

func (h titleWorkHandler) certificates(r *request) (response, error) {
	work, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	body := apitypes.Certificates{}
	for _, c := range slices.Backward(work.Certificates) {
		body.Data = append(body.Data, certificate(c, work.RunsheetVersion))
	}
	return okResponse(body)
}

func (h titleWorkHandler) certify(r *request) (response, error) {
	work, sent, err := h.body(r, certificateFields...)
	if err != nil {
		return response{}, err
	}
	render := func(c model.Certificate) response {
		return response{status: http.StatusCreated, body: apitypes.CertificateBody{Data: certificate(c, c.RunsheetVersion)}}
	}
	return perform(r, render, func(keep vault.Idempotency[model.Certificate]) (model.Certificate, error) {
		return h.service.Certify(r.Context(), r.actor, work.AbstractID, vault.CertificateRequest{Members: inputs(sent, certificateFields...),
			Match: h.server.etags[checksType].match(r.Header, work.AbstractID)}, keep)
	})
}

func (h titleWorkHandler) void(r *request) (response, error) {
	n, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	work, sent, err := h.body(r, "reason")
	if err != nil {
		return response{}, err
	}
	render := func(c model.Certificate) response {
		return response{status: http.StatusOK, body: apitypes.CertificateBody{Data: certificate(c, c.RunsheetVersion)}}
	}
	return perform(r, render, func(keep vault.Idempotency[model.Certificate]) (model.Certificate, error) {
		return h.service.Void(r.Context(), r.actor, work.AbstractID, n, model.JSONInput(sent["reason"]), keep)
	})
}

func (h titleWorkHandler) bringDown(r *request) (response, error) {
	work, _, err := h.body(r)
	if err != nil {
		return response{}, err
	}
	render := func(a vault.BroughtDown) response {
		return response{status: http.StatusCreated, header: h.server.etags[abstractType].header(a.Abstract.ID, a.Abstract.Version),
			body: apitypes.BringDown{Data: h.server.abstract(r, a.AbstractWithFiles), NotTaken: a.NotTaken}}
	}
	return perform(r, render, func(keep vault.Idempotency[vault.BroughtDown]) (vault.BroughtDown, error) {
		return h.service.BringDown(r.Context(), r.actor, work.AbstractID, keep)
	})
}

// phraseHandler serves the list of phrases for requirements and exceptions.
type phraseHandler struct {
	server  *server
	service *phrases.Service
}

// phrasesID is the ID of the list in its entity tag.
const phrasesID = 1

func (h phraseHandler) render(now model.Phrases) response {
	body := apitypes.Phrases{}
	for _, p := range now.List {
		body.Data = append(body.Data, apitypes.Phrase{Name: p.Name, Kind: p.Kind, Text: p.Text})
	}
	return response{status: http.StatusOK, header: h.server.etags[phrasesType].header(phrasesID, now.Version), body: body}
}

func (h phraseHandler) get(r *request) (response, error) {
	now, err := h.service.Get(r.Context())
	return h.render(now), err
}

func (h phraseHandler) set(r *request) (response, error) {
	sent, err := r.object(h.server.Limits.JSON, "rows", "data")
	if err != nil {
		return response{}, err
	}
	now, err := h.service.Set(r.Context(), r.actor, rowsOf(sent), h.server.etags[phrasesType].match(r.Header, phrasesID))
	return h.render(now), err
}
