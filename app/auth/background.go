package auth

import (
	"context"
	"deedkeep/app/txn"
	"errors"
	"time"
)

// The background work about users: what was gathered is written, what ended goes.
const (
	lastSeenFlush = time.Second
	failuresFlush = time.Minute
	sessionPrune  = 10 * time.Minute
)

func (u *Users) Run(ctx context.Context) {
	seen, refused, prune := time.NewTicker(lastSeenFlush), time.NewTicker(failuresFlush), time.NewTicker(sessionPrune)
	defer seen.Stop()
	defer refused.Stop()
	defer prune.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-seen.C:
			err = u.auth.Sessions.flush(ctx)
		case <-refused.C:
			err = u.failures.flush(ctx)
		case <-prune.C:
			err = u.auth.Sessions.prune(ctx)
		}
		if !u.auth.ShouldContinue(ctx, "sessions", err) {
			return // what is gathered goes with it
		}
	}
}

// end writes what was gathered, at last. A vault that takes no writes loses it.
func (u *Users) End() error {
	err := u.flush(context.Background())
	if txn.NotWritable(err) {
		u.auth.Log.Warn("sessions", "error", err)
		return nil
	}
	return err
}

// flush writes what was gathered.
func (u *Users) flush(ctx context.Context) error {
	return errors.Join(u.auth.Sessions.flush(ctx), u.failures.flush(ctx))
}
