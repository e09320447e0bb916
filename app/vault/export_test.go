package vault

import "deedkeep/app/store"

// Store lets tests put records into a state that no verb makes yet.
func (v *Vault) Store() *store.Store { return v.store }
