package client

import (
	"context"

	"deedkeep/app/apitypes"
)

// Verify checks every record and every byte of the vault. It calls progress, unless it is nil, for each report, in the
// same goroutine. Damage is part of the result. If the verification can't be completed, the error is an *Error; if the
// response is truncated or larger than 64 MiB, it is io.ErrUnexpectedEOF. Control socket only.
func (c *Client) Verify(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/verify", nil, progress)
}

// Repair rebuilds the data that is derived from records and then verifies the vault. The result includes the repairs.
// If the vault is read-only, the error is an *Error. Control socket only.
func (c *Client) Repair(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/repair", nil, progress)
}
