// The functions in this file give tests access to internals.

package auth

import "context"

// HashRuns is how often argon2 has run.
func (u *Users) HashRuns() uint64 { return u.passwords.HashCount() }

// FlushBuffered writes what is gathered about users, as a passing of time would.
func (u *Users) FlushBuffered(ctx context.Context) error { return u.flush(ctx) }

// Prune removes the sessions that have ended, as a passing of time would.
func (s *Sessions) Prune(ctx context.Context) error { return s.prune(ctx) }

// ThrottleKeys is how many accounts and addresses are remembered for their tries.
func (u *Users) ThrottleKeys() int {
	u.throttle.mu.Lock()
	defer u.throttle.mu.Unlock()
	return len(u.throttle.attempts)
}

// CountAttempt counts a try as SignIn does, without trying.
func (u *Users) CountAttempt(name, address string) {
	u.throttle.acquire(u.auth.Now(), byAccount(name, address), byAddress(address))
}

// Rehash is what SignIn does with a password whose hash is of an older form.
func (u *Users) Rehash(ctx context.Context, password string) (string, error) {
	return u.rehash(ctx, "", password)
}

// VerifyUnknown checks a password of no one, as an unknown name from that address does.
func (u *Users) VerifyUnknown(ctx context.Context, address string) error {
	_, _, err := u.passwords.Verify(ctx, address, "", "x")
	return err
}
