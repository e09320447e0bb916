package vault

import "context"

// Runs is how often argon2 has run.
func (v *Vault) Runs() uint64 { return v.Users.passwords.HashCount() }

// Gathered writes what is gathered about users, as a passing of time would.
func (v *Vault) Gathered(ctx context.Context) error { return v.Users.flush(ctx) }

// Prune removes the sessions that have ended, as a passing of time would.
func (v *Vault) Prune(ctx context.Context) error { return v.Sessions.prune(ctx) }

// Tries is how many accounts and addresses are remembered for their tries.
func (v *Vault) Tries() int {
	v.Users.tries.mu.Lock()
	defer v.Users.tries.mu.Unlock()
	return len(v.Users.tries.seen)
}

// Tried counts a try as SignIn does, without trying.
func (v *Vault) Tried(name, address string) {
	v.Users.tries.take(v.now(), byAccount(name, address), byAddress(address))
}

// Rehash is what SignIn does with a password whose hash is of an older form.
func (v *Vault) Rehash(ctx context.Context, password string) (string, error) {
	return v.Users.rehash(ctx, "", password)
}

// Checks checks a password of no one, as an unknown name from that address does.
func (v *Vault) Checks(ctx context.Context, address string) error {
	_, _, err := v.Users.passwords.Verify(ctx, address, "", "x")
	return err
}
