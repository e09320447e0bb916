// The functions in this file give tests access to internals.

package vault

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Enforce changes a rule of a vault that nobody else uses now.
func (v *Vault) Enforce(required bool) { v.Set.Rules.EnforceRequired = required }

// Kept reads a slot, however old its answer is.
func (v *Vault) Kept(slot [32]byte) (r model.StoredResponse, found bool, err error) {
	err = v.Store.View(context.Background(), func(t *store.Tx) (err error) {
		r, found, err = t.StoredResponse(slot)
		return err
	})
	return r, found, err
}

// PurgeTurn is one turn of the purger.
func (v *Vault) PurgeTurn(ctx context.Context) error { return v.Purger.turn(ctx) }
