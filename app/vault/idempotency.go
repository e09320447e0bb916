package vault

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Idempotency is how the answer to a request under an Idempotency-Key is kept, in the
// transaction of what it made. Render makes the answer of it; it may run more than
// once and must touch nothing. The zero value keeps nothing.
type Idempotency[T any] struct {
	KeyHash      [32]byte // of the key, the caller and the route
	RequestHash  string   // hex SHA-256 of the content
	Render       func(T) (status int, header map[string]string, body []byte, err error)
	BeforeCommit func() error // may refuse, in the transaction; nil: no one does
}

// ErrAlreadyProcessed is in the chain of the Conflict of a verb whose slot has an answer
// already: another request was faster, and its answer is the one to give.
var ErrAlreadyProcessed = errors.New("an answer is kept already")

func (k Idempotency[T]) enabled() bool { return k.Render != nil }

// free refuses a slot that has an answer: what the request asks for is made.
func (k Idempotency[T]) CheckUnused(t *store.Tx, v *Vault) error {
	if !k.enabled() {
		return nil
	}
	_, found, err := v.storedResponse(t, k.KeyHash)
	if err == nil && found {
		return &errs.Error{Kind: errs.Conflict, Message: "This request was answered already; send it again.", Err: ErrAlreadyProcessed}
	}
	if err == nil && k.BeforeCommit != nil {
		err = k.BeforeCommit()
	}
	return err
}

func (k Idempotency[T]) SaveResponse(t *store.Tx, at time.Time, made T) error {
	if !k.enabled() {
		return nil
	}
	status, header, body, err := k.Render(made)
	if err != nil {
		return err
	}
	return t.PutStoredResponse(k.KeyHash, model.StoredResponse{RequestHash: k.RequestHash, Status: status, Header: header, Body: body, At: at})
}

// StoredResponse gives the answer that is kept in a slot; found is false when there is none,
// or its time is over.
func (v *Vault) StoredResponse(ctx context.Context, slot [32]byte) (r model.StoredResponse, found bool, err error) {
	err = v.Store.View(ctx, func(t *store.Tx) (err error) {
		r, found, err = v.storedResponse(t, slot)
		return err
	})
	return r, found, err
}

func (v *Vault) storedResponse(t *store.Tx, slot [32]byte) (model.StoredResponse, bool, error) {
	r, found, err := t.StoredResponse(slot)
	if err != nil || !found || !v.Now().Before(r.At.Add(v.Settings.IdempotencyPeriod)) {
		return model.StoredResponse{}, false, err
	}
	return r, true, nil
}

// StoreLocation keeps in a slot where a request led to whose answer itself is kept nowhere,
// as that of a secret which is shown once. Replay gives it back as its Location.
func (v *Vault) StoreLocation(ctx context.Context, slot [32]byte, to string) error {
	return v.Store.Update(ctx, nil, func(t *store.Tx) error {
		return t.PutStoredResponse(slot, model.StoredResponse{Header: map[string]string{"Location": to}, At: v.Now()})
	})
}
