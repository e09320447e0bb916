package api

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// recordHandler serves the operations that several types of records have. T is the record,
// and P is the input for changing it.
type recordHandler[T, P any] struct {
	server  *server
	etag    etagCodec
	id      func(*request) (uint64, error) // decodes the ID in the path
	find    func(context.Context, uint64) (T, error)
	change  func(context.Context, model.Actor, uint64, P, vault.Match) (T, error)
	remove  func(context.Context, model.Actor, uint64, vault.Match) error
	undo    func(context.Context, model.Actor, uint64, vault.Idempotency[T]) (T, error) // restores a record from the trash
	fields  []string                                                                    // fields that PATCH accepts
	patchOf func(*request, patchBody) P
	render  func(*request, T) response
}

func (h recordHandler[T, P]) get(r *request) (response, error) {
	_, record, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	return h.render(r, record), nil
}

// read returns the ID in the path and its record.
func (h recordHandler[T, P]) read(r *request) (id uint64, record T, err error) {
	if id, err = h.id(r); err == nil {
		record, err = h.find(r.Context(), id)
	}
	return id, record, err
}

func (h recordHandler[T, P]) patch(r *request) (response, error) {
	id, _, err := h.read(r) // respond 404 before reading the body
	if err != nil {
		return response{}, err
	}
	body, err := r.object(h.server.Limits.JSON, h.fields...)
	if err != nil {
		return response{}, err
	}
	record, err := h.change(r.Context(), r.actor, id, h.patchOf(r, body), h.etag.match(r.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.render(r, record), nil
}

// trash moves a record to the trash.
func (h recordHandler[T, P]) trash(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	if err := h.remove(r.Context(), r.actor, id, h.etag.match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

// restore restores a record from the trash.
func (h recordHandler[T, P]) restore(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	// The operation has no fields. The body may be empty or a JSON value.
	if _, err := r.object(h.server.Limits.JSON); err != nil {
		return response{}, err
	}
	render := func(record T) response { return h.render(r, record) }
	return perform(r, render, func(keep vault.Idempotency[T]) (T, error) { return h.undo(r.Context(), r.actor, id, keep) })
}
