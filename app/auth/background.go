package auth

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
)

// These are the intervals of the background tasks.
const (
	lastSeenFlush = time.Second
	failuresFlush = time.Minute
	sessionPrune  = 10 * time.Minute
)

// Run writes buffered data, removes expired sessions, and releases the memory of password
// checks, until ctx ends or the store becomes read-only.
func (u *Users) Run(ctx context.Context) {
	seen, failures, prune := time.NewTicker(lastSeenFlush), time.NewTicker(failuresFlush), time.NewTicker(sessionPrune)
	defer seen.Stop()
	defer failures.Stop()
	defer prune.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-seen.C:
			u.passwords.ReleaseMemory()
			err = u.auth.Sessions.flush(ctx)
		case <-failures.C:
			err = u.failures.flush(ctx)
		case <-prune.C:
			err = u.auth.Sessions.prune(ctx)
		}
		if !u.auth.ShouldContinue(ctx, "session data not saved", err) {
			return // buffered data is lost
		}
	}
}

// End writes the remaining buffered data. If the vault is read-only, the data is lost.
func (u *Users) End() error {
	err := u.flush(context.Background())
	if errs.NotWritable(err) {
		u.auth.Log.Warn("session data not saved", "error", err)
		return nil
	}
	return err
}

// flush writes the buffered last-seen times and failed sign-ins.
func (u *Users) flush(ctx context.Context) error {
	return errors.Join(u.auth.Sessions.flush(ctx), u.failures.flush(ctx))
}
