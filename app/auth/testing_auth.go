// The functions in this file give tests access to internals.

package auth

import "context"

// Runs is how often argon2 has run.
func (u *Users) Runs() uint64 { return u.passwords.HashCount() }

// Gathered writes what is gathered about users, as a passing of time would.
func (u *Users) Gathered(ctx context.Context) error { return u.flush(ctx) }

// Prune removes the sessions that have ended, as a passing of time would.
func (s *Sessions) Prune(ctx context.Context) error { return s.prune(ctx) }

// Tries is how many accounts and addresses are remembered for their tries.
func (u *Users) Tries() int {
	u.tries.mu.Lock()
	defer u.tries.mu.Unlock()
	return len(u.tries.seen)
}

// Tried counts a try as SignIn does, without trying.
func (u *Users) Tried(name, address string) {
	u.tries.take(u.auth.Now(), byAccount(name, address), byAddress(address))
}

// Rehash is what SignIn does with a password whose hash is of an older form.
func (u *Users) Rehash(ctx context.Context, password string) (string, error) {
	return u.rehash(ctx, "", password)
}

// Checks checks a password of no one, as an unknown name from that address does.
func (u *Users) Checks(ctx context.Context, address string) error {
	_, _, err := u.passwords.Verify(ctx, address, "", "x")
	return err
}
