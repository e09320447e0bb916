package vault

// The functions in this file give tests access to internals.

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// SetEnforceRequired sets whether required custom fields are enforced. It isn't safe for concurrent use.
func (v *Vault) SetEnforceRequired(required bool) { v.Settings.Rules.EnforceRequired = required }

// StoredResponseIncludingExpired returns the response stored under an idempotency key, even if it has expired.
func (v *Vault) StoredResponseIncludingExpired(slot [32]byte) (r model.StoredResponse, found bool, err error) {
	err = v.Store.View(context.Background(), func(t *store.Tx) (err error) {
		r, found, err = t.StoredResponse(slot)
		return err
	})
	return r, found, err
}
