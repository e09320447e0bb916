package api

import (
	"context"
	"net/http"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/secret"
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
	ids     jsonID // of bulk changes

	// setMany returns what a bulk change does to each record. nil means the change that PATCH makes.
	setMany func(*request, patchBody) (func(context.Context, uint64) error, error)
	// manyFields are fields of bulk changes besides those of PATCH.
	manyFields []string
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

// etagCodec encodes and decodes the entity tags of one record type. A tag is opaque and
// identifies one version of one record.
type etagCodec struct{ *secret.VersionTags }

// etags maps a record type to its codec.
type etags map[string]etagCodec

// header returns the ETag header for a version of a record.
func (e etagCodec) header(id, version uint64) map[string]string {
	return map[string]string{"ETag": `"` + e.Encode(id, version) + `"`}
}

// match parses the If-Match header (RFC 9110, section 13.1.1) and returns the versions of
// the record that it matches. Weak and unknown tags never match. A malformed header matches
// no version.
func (e etagCodec) match(h http.Header, id uint64) vault.Match {
	values := h.Values("If-Match")
	m := vault.Match{Given: len(values) > 0}
	joined := strings.Trim(strings.Join(values, ","), whitespace)
	if joined == "*" {
		m.Any = true
		return m
	}
	for _, tag := range entityTags(joined) {
		if version, ok := e.Decode(id, tag); ok {
			m.Versions = append(m.Versions, version)
		}
	}
	return m
}

const whitespace = " \t"

// entityTags parses a list of entity tags and returns the strong tags without their quotes.
// It returns nil if the list is malformed.
func entityTags(header string) (list []string) {
	for {
		header = strings.TrimLeft(header, whitespace+",")
		if header == "" {
			return list
		}
		tail, weak := strings.CutPrefix(header, "W/")
		tail, quoted := strings.CutPrefix(tail, `"`)
		tag, tail, closed := strings.Cut(tail, `"`)
		after := strings.TrimLeft(tail, whitespace)
		if !quoted || !closed || after != "" && after[0] != ',' {
			return nil
		}
		if !weak {
			list = append(list, tag)
		}
		header = after
	}
}
