package vault

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Idempotency stores the response to a request with an Idempotency-Key in the transaction
// that makes the change. Render may be called more than once and must not have side
// effects. The zero value stores nothing.
type Idempotency[T any] struct {
	KeyHash      [32]byte // hash of the key, the caller, and the route
	RequestHash  string   // hexadecimal SHA-256 digest of the request body
	Render       func(T) (status int, header map[string]string, body []byte, err error)
	BeforeCommit func() error // last check, inside the transaction; may be nil
}

// ErrAlreadyProcessed is wrapped in a Conflict error if another request with the same key
// has already stored its response. The caller should return that response.
var ErrAlreadyProcessed = errors.New("response is already stored")

// enabled reports whether the response should be stored.
func (i Idempotency[T]) enabled() bool { return i.Render != nil }

// CheckUnused returns Conflict if a response is already stored under the key.
func (i Idempotency[T]) CheckUnused(t *store.Tx, v *Vault) error {
	if !i.enabled() {
		return nil
	}
	_, found, err := v.storedResponse(t, i.KeyHash)
	if err == nil && found {
		return &errs.Error{Kind: errs.Conflict, Message: "This request already has a response. Send it again to get the response.", Err: ErrAlreadyProcessed}
	}
	if err == nil && i.BeforeCommit != nil {
		err = i.BeforeCommit()
	}
	return err
}

// SaveResponse stores the rendered response.
func (i Idempotency[T]) SaveResponse(t *store.Tx, at time.Time, result T) error {
	if !i.enabled() {
		return nil
	}
	status, header, body, err := i.Render(result)
	if err != nil {
		return err
	}
	return t.PutStoredResponse(i.KeyHash, model.StoredResponse{RequestHash: i.RequestHash, Status: status, Header: header, Body: body, At: at})
}

// StoredResponse returns the response stored under a key. found is false if there is none
// or it has expired.
func (v *Vault) StoredResponse(ctx context.Context, keyHash [32]byte) (r model.StoredResponse, found bool, err error) {
	err = v.Store.View(ctx, func(t *store.Tx) (err error) {
		r, found, err = v.storedResponse(t, keyHash)
		return err
	})
	return r, found, err
}

func (v *Vault) storedResponse(t *store.Tx, keyHash [32]byte) (model.StoredResponse, bool, error) {
	r, found, err := t.StoredResponse(keyHash)
	if err != nil || !found || !v.Now().Before(r.At.Add(v.Settings.IdempotencyPeriod)) {
		return model.StoredResponse{}, false, err
	}
	return r, true, nil
}

// StoreLocation stores only the Location header of a response. It is for responses that
// contain a secret, which must not be stored because it is shown only once.
func (v *Vault) StoreLocation(ctx context.Context, keyHash [32]byte, location string) error {
	return v.Store.Update(ctx, nil, func(t *store.Tx) error {
		return t.PutStoredResponse(keyHash, model.StoredResponse{Header: map[string]string{"Location": location}, At: v.Now()})
	})
}

// Edit is a change that a user made to a record, or to one part of the title work of an abstract. UndoEdit undoes it.
type Edit struct {
	Type    string // of the record, such as "instrument"
	ID      uint64
	Part    string // such as "names_run"; "" if it isn't about the title work
	Version uint64 // of the record or the part after the change
}

// slot returns where the stored responses have what was there before the last change.
func (e Edit) slot() [32]byte { return store.UndoSlot(model.RecordRef(e.Type, e.ID), e.Part) }

// maxUndo is the maximum size, in bytes, of what was there before a change that can be undone.
const maxUndo = 256 << 10

// keptEdit is what was there before a change to a version.
type keptEdit struct {
	Version uint64          `json:"version"`
	Before  json.RawMessage `json:"before"`
}

// keep stores what was there before a change, until the next one, and for as long as responses are stored. Only users
// undo changes.
func (e Edit) keep(t *store.Tx, actor model.Actor, at time.Time, before any) error {
	raw, err := json.Marshal(before)
	if err != nil {
		return err
	}
	if actor.Kind != model.ActorUser || len(raw) > maxUndo {
		return t.RemoveStoredResponse(e.slot())
	}
	body, err := json.Marshal(keptEdit{e.Version, raw})
	return errors.Join(err, t.PutStoredResponse(e.slot(), model.StoredResponse{Body: body, At: at}))
}

// errNotUndone is for a change that a later one hides, that is too old, or whose values were too long to be kept.
var errNotUndone = &errs.Error{Kind: errs.Conflict, Message: "This change can no longer be undone."}

// read reads what was there before a change. It returns Conflict if that isn't stored any longer.
func (e Edit) read(t *store.Tx, v *Vault, before any) error {
	stored, found, err := v.storedResponse(t, e.slot())
	var kept keptEdit
	if err == nil && found {
		err = json.Unmarshal(stored.Body, &kept)
	}
	if err != nil {
		return err
	}
	if !found || kept.Version != e.Version {
		return errNotUndone
	}
	return json.Unmarshal(kept.Before, before)
}

// UndoEdit restores the values that a record had before a change. That is a change, too: it is logged, and can be
// undone. version is that of the record after it. UndoEdit returns PreconditionFailed if the record was changed in the
// meantime, and Conflict if the values aren't stored any longer.
func (v *Vault) UndoEdit(ctx context.Context, actor model.Actor, e Edit) (version uint64, err error) {
	switch {
	case e.Type == AbstractOps.Name && e.Part != "":
		return v.TitleWork.undo(ctx, actor, e)
	case e.Type == AbstractOps.Name:
		return undo(ctx, v, AbstractOps, actor, e, v.Abstracts.restoreFields)
	case e.Type == OrderOps.Name:
		return undo(ctx, v, OrderOps, actor, e, v.Orders.restoreFields)
	case e.Type == noteOps.Name:
		return undo(ctx, v, noteOps, actor, e, v.Notes.restoreFields(actor))
	case e.Type == InstrumentType:
		return undo(ctx, v, v.Instruments.ops(ctx), actor, e, v.Instruments.restoreFields(actor))
	}
	return 0, errs.RecordNotFound(e.Type, e.ID)
}

// undo undoes a change of a record. restore returns the record with the fields that it had before.
func undo[T, R any](ctx context.Context, v *Vault, ops recordOps[T], actor model.Actor, e Edit,
	restore func(t *store.Tx, now T, before R) (T, error)) (version uint64, err error) {
	now, err := patch(ctx, v, ops, actor, e.ID, MatchVersion(e.Version), func(t *store.Tx, now T) (T, error) {
		var before R
		if err := e.read(t, v, &before); err != nil {
			return now, err
		}
		return restore(t, now, before)
	})
	return ops.version(now), err
}
