package vault

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Keep is how the answer to a request under an Idempotency-Key is kept, in the
// transaction of what it made. Render makes the answer of it; it may run more than
// once and must touch nothing. The zero value keeps nothing.
type Keep[T any] struct {
	Slot    [32]byte // of the key, the caller and the route
	Request string   // hex SHA-256 of the content
	Render  func(T) (status int, header map[string]string, body []byte, err error)
	Last    func() error // may refuse, in the transaction; nil: no one does
}

// ErrKept is in the chain of the Conflict of a verb whose slot has an answer
// already: another request was faster, and its answer is the one to give.
var ErrKept = errors.New("an answer is kept already")

func (k Keep[T]) on() bool { return k.Render != nil }

// free refuses a slot that has an answer: what the request asks for is made.
func (k Keep[T]) Free(t *store.Tx, v *Vault) error {
	if !k.on() {
		return nil
	}
	_, found, err := v.replay(t, k.Slot)
	if err == nil && found {
		return &errs.Error{Kind: errs.Conflict, Message: "This request was answered already; send it again.", Err: ErrKept}
	}
	if err == nil && k.Last != nil {
		err = k.Last()
	}
	return err
}

func (k Keep[T]) Put(t *store.Tx, at time.Time, made T) error {
	if !k.on() {
		return nil
	}
	status, header, body, err := k.Render(made)
	if err != nil {
		return err
	}
	return t.PutStoredResponse(k.Slot, model.StoredResponse{RequestHash: k.Request, Status: status, Header: header, Body: body, At: at})
}

// Replay gives the answer that is kept in a slot; found is false when there is none,
// or its time is over.
func (v *Vault) Replay(ctx context.Context, slot [32]byte) (r model.StoredResponse, found bool, err error) {
	err = v.Store.View(ctx, func(t *store.Tx) (err error) {
		r, found, err = v.replay(t, slot)
		return err
	})
	return r, found, err
}

func (v *Vault) replay(t *store.Tx, slot [32]byte) (model.StoredResponse, bool, error) {
	r, found, err := t.StoredResponse(slot)
	if err != nil || !found || !v.Now().Before(r.At.Add(v.Set.ReplayKeep)) {
		return model.StoredResponse{}, false, err
	}
	return r, true, nil
}
