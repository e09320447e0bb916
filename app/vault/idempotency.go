package vault

import (
	"context"
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
		return &errs.Error{Kind: errs.Conflict, Err: ErrAlreadyProcessed,
			Message: "This request already has a response. Send it again to get the response."}
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
