package vault

import "deedkeep/app/store"

// Store lets tests put records into a state that no verb makes yet.
func (v *Vault) Store() *store.Store { return v.store }

// Poke tells the processor to look at its queue, as a passing of time would.
func (v *Vault) Poke() { v.processor.poke() }

// Reserve changes the disk's reserve of a vault that nobody else uses now.
func (v *Vault) Reserve(bytes uint64) { v.set.DiskReserve = bytes }

// Enforce changes a rule of a vault that nobody else uses now.
func (v *Vault) Enforce(required bool) { v.set.Rules.EnforceRequired = required }
