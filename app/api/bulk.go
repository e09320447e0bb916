package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
	"deedkeep/app/vault/bulk"
)

// Actions of a bulk change, instead of new values.
const (
	actionTrash   = "trash"
	actionRestore = "restore"
)

// jsonID decodes and encodes the IDs of one type of record in JSON.
type jsonID struct {
	decode func(json.RawMessage) (uint64, bool)
	encode func(uint64) any
}

// numberIDs is for types whose IDs are numbers.
var numberIDs = jsonID{func(raw json.RawMessage) (uint64, bool) {
	n := number(raw)
	return uint64(max(n.Value, 0)), n.Present && n.Valid && n.Value > 0
}, func(id uint64) any { return id }}

// opaqueIDs is for types with opaque IDs.
func opaqueIDs(ids *secret.IDs) jsonID {
	return jsonID{func(raw json.RawMessage) (uint64, bool) {
		text, ok := decode.String(raw)
		if !ok {
			return 0, false
		}
		return ids.Decode(text)
	}, func(id uint64) any { return ids.Encode(id) }}
}

// bulkID is an ID as sent and, if it is one, its record.
type bulkID struct {
	sent   json.RawMessage
	record uint64 // 0 if no record can have this ID
}

// bulk changes many records, each in a transaction of its own.
func (h recordHandler[T, P]) bulk(r *request) (response, error) {
	sent, err := r.object(h.server.Limits.JSON, "ids", "set", "action")
	if err != nil {
		return response{}, err
	}
	change, err := h.bulkChange(r, sent)
	if err != nil {
		return response{}, err
	}
	ids, err := h.bulkIDs(sent["ids"])
	if err != nil {
		return response{}, err
	}
	var records []uint64
	for _, id := range ids {
		if id.record != 0 {
			records = append(records, id.record)
		}
	}
	render := func(list []bulk.Changed) response {
		return response{status: http.StatusOK, body: h.bulkBody(r, ids, list)}
	}
	return perform(r, render, func(keep vault.Idempotency[[]bulk.Changed]) ([]bulk.Changed, error) {
		return bulk.Change(r.Context(), h.server.App.Vault, r.actor, records, func(ctx context.Context, id uint64) ([]vault.Edit, error) {
			return nil, change(ctx, id)
		}, keep)
	})
}

// bulkIDs returns the different IDs of a request.
func (h recordHandler[T, P]) bulkIDs(raw json.RawMessage) (list []bulkID, err error) {
	const field = "ids"
	var sent []json.RawMessage
	switch {
	case jsontext.Value(raw).Kind() != '[' && len(raw) > 0 && jsontext.Value(raw).Kind() != 'n':
		return nil, errs.InvalidField(field, errs.NotArray)
	case len(raw) > 0 && json.Unmarshal(raw, &sent) != nil, len(sent) == 0:
		return nil, errs.InvalidField(field, errs.Required)
	case len(sent) > bulk.Max:
		return nil, errs.InvalidField(field, errs.TooMany, bulk.Max)
	}
	seen := map[string]bool{}
	for _, one := range sent {
		id := bulkID{sent: one}
		if record, ok := h.ids.decode(one); ok {
			id.record = record
			if id.sent, err = json.Marshal(h.ids.encode(record)); err != nil {
				return nil, err
			}
		}
		if !seen[string(id.sent)] {
			seen[string(id.sent)] = true
			list = append(list, id)
		}
	}
	return list, nil
}

// bulkChange returns what a bulk change does to each record.
func (h recordHandler[T, P]) bulkChange(r *request, sent map[string]json.RawMessage) (func(context.Context, uint64) error, error) {
	action, setting := model.JSONInput(sent["action"]), jsontext.Value(sent["set"]).Kind() != 0 && jsontext.Value(sent["set"]).Kind() != 'n'
	switch {
	case action.Kind != model.InputMissing && setting:
		return nil, errs.InvalidField("action", errs.NotCombinable, "set")
	case action.Kind != model.InputMissing && action.Value == actionTrash:
		return func(ctx context.Context, id uint64) error { return h.remove(ctx, r.actor, id, vault.Match{}) }, nil
	case action.Kind != model.InputMissing && action.Value == actionRestore:
		return func(ctx context.Context, id uint64) error {
			_, err := h.undo(ctx, r.actor, id, vault.Idempotency[T]{})
			return err
		}, nil
	case action.Kind != model.InputMissing:
		return nil, errs.InvalidField("action", errs.InvalidChoice)
	}
	set, err := decode.Object(sent["set"])
	if err != nil || len(set) == 0 {
		return nil, errs.InvalidField("set", errs.Required)
	}
	known := slices.Concat(h.fields, h.manyFields)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(known, name) {
			r.ignored.sent.add("set." + name)
		}
	}
	if h.setMany != nil {
		return h.setMany(r, set)
	}
	p := h.patchOf(r, set)
	return func(ctx context.Context, id uint64) error {
		_, err := h.change(ctx, r.actor, id, p, vault.Match{})
		return err
	}, nil
}

// bulkBody returns the response to a bulk change. list has the outcomes for those IDs that records can have.
func (h recordHandler[T, P]) bulkBody(r *request, ids []bulkID, list []bulk.Changed) (body apitypes.Bulk) {
	for _, id := range ids {
		item, err := apitypes.BulkItem{ID: id.sent, OK: true}, error(errNoRoute)
		if id.record != 0 {
			err, list = list[0].Err, list[1:]
		}
		if err == nil {
			body.Meta.Changed++
		} else {
			body.Meta.Failed++
			status, failure, _ := httpx.TranslateError(err)
			item.OK, item.Message, item.Errors = false, failure.Message, failure.Errors
			if status >= http.StatusInternalServerError {
				h.server.Log.ErrorContext(r.Context(), "bulk change of a record failed", "error", err, "id", string(id.sent))
			}
		}
		body.Data = append(body.Data, item)
	}
	return body
}
