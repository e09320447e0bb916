package txn

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Derive computes a part of a response that follows from other records, such as the gaps of a runsheet.
// The rest is of use without it, so a failure or a panic of compute is logged with its stack and the
// request ID, and missing is true. The response must say which part is missing.
func (db *DB) Derive(ctx context.Context, part string, compute func() error) (missing bool) {
	err := store.RecoverPanic(func() error {
		if db.BeforeDerive != nil {
			if err := db.BeforeDerive(part); err != nil {
				return err
			}
		}
		return compute()
	})
	switch {
	case err == nil:
		return false
	case ctx.Err() != nil: // the client is gone
		db.Log.DebugContext(ctx, "part of a response is missing", "part", part, "error", err, "request_id", model.RequestID(ctx))
	default:
		db.Log.ErrorContext(ctx, "part of a response is missing", "part", part, "error", err, "request_id", model.RequestID(ctx))
	}
	return true
}
