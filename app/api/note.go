package api

import (
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// noteHandler serves the routes of notes.
type noteHandler struct {
	server  *server
	service *vault.Notes
}

// recordOf returns the ID of the record in the path.
func (h noteHandler) recordOf(r *request, recordType string) (uint64, error) {
	switch recordType {
	case abstractType:
		return r.opaqueID(h.server.abstracts)
	case orderType:
		return r.opaqueID(h.server.orders)
	}
	return r.numberID()
}

// list returns the handler that lists the notes about records of a type.
func (h noteHandler) list(recordType string) handler {
	return func(r *request) (response, error) {
		id, err := h.recordOf(r, recordType)
		if err != nil {
			return response{}, err
		}
		list, err := h.service.List(r.Context(), recordType, id)
		if err != nil {
			return response{}, err
		}
		body := apitypes.Notes{}
		for _, n := range list {
			body.Data = append(body.Data, encode.Note(n))
		}
		return okResponse(body)
	}
}

func (h noteHandler) render(status int, n model.Note) response {
	return response{status: status, header: h.server.etags[noteType].header(n.ID, n.Version), body: apitypes.NoteBody{Data: encode.Note(n)}}
}

// input reads the body of a request for a note.
func (h noteHandler) input(r *request) (model.NoteInput, error) {
	sent, err := r.object(h.server.Limits.JSON, "text", "page", "area")
	body := patchBody(sent)
	return model.NoteInput{Text: body.input("text"), Page: body.number("page"), Area: body.input("area")}, err
}

// create returns the handler that creates a note about a record of a type.
func (h noteHandler) create(recordType string) handler {
	return func(r *request) (response, error) {
		id, err := h.recordOf(r, recordType)
		if err != nil {
			return response{}, err
		}
		in, err := h.input(r)
		if err != nil {
			return response{}, err
		}
		render := func(n model.Note) response { return h.render(http.StatusCreated, n) }
		return perform(r, render, func(keep vault.Idempotency[model.Note]) (model.Note, error) {
			return h.service.Create(r.Context(), r.actor, recordType, id, in, keep)
		})
	}
}

func (h noteHandler) patch(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	in, err := h.input(r)
	if err != nil {
		return response{}, err
	}
	n, err := h.service.Patch(r.Context(), r.actor, id, in, h.server.etags[noteType].match(r.Header, id))
	return h.render(http.StatusOK, n), err
}

func (h noteHandler) delete(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(r.Context(), r.actor, id, h.server.etags[noteType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h noteHandler) restore(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if _, err := r.object(h.server.Limits.JSON); err != nil { // the operation has no fields
		return response{}, err
	}
	render := func(n model.Note) response { return h.render(http.StatusOK, n) }
	return perform(r, render, func(keep vault.Idempotency[model.Note]) (model.Note, error) {
		return h.service.Restore(r.Context(), r.actor, id, keep)
	})
}
