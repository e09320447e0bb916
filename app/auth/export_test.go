// The functions in this file give tests access to internals.

package auth

import "context"

// MaxKnownAddresses is the maximum number of networks stored per user.
const MaxKnownAddresses = maxKnownAddresses

// HashRuns returns how many times Argon2 has run.
func (u *Users) HashRuns() uint64 { return u.passwords.HashCount() }

// FlushBuffered writes buffered data without waiting for the timer.
func (u *Users) FlushBuffered(ctx context.Context) error { return u.flush(ctx) }

// Prune removes expired sessions without waiting for the timer.
func (s *Sessions) Prune(ctx context.Context) error { return s.prune(ctx) }

// ThrottleKeys returns the number of accounts and addresses that have an attempt counter.
func (u *Users) ThrottleKeys() int {
	u.throttle.mu.Lock()
	defer u.throttle.mu.Unlock()
	return len(u.throttle.attempts)
}

// CountAttempt counts a sign-in attempt without signing in.
func (u *Users) CountAttempt(name, address string) {
	u.throttle.acquire(u.auth.Now(), byAccount(name, address), byAddress(address))
}

// Rehash returns a new hash for a password, as SignIn does if the stored hash is
// outdated.
func (u *Users) Rehash(ctx context.Context, password string) (string, error) {
	return u.rehash(ctx, trusted(""), password)
}

// VerifyTrusted verifies a password for someone without an address who has proved who they are.
func (u *Users) VerifyTrusted(ctx context.Context) error {
	_, _, err := u.passwords.Verify(ctx, trusted(""), "", "x")
	return err
}
