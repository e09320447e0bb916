package vault

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Remember keeps in a slot where a request led to whose answer itself is kept nowhere,
// as that of a secret which is shown once. Replay gives it back as its Location.
func (v *Vault) Remember(ctx context.Context, slot [32]byte, to string) error {
	return v.Store.Update(ctx, nil, func(t *store.Tx) error {
		return t.PutStoredResponse(slot, model.StoredResponse{Header: map[string]string{"Location": to}, At: v.Now()})
	})
}
