package client

import (
	"context"

	"deedkeep/app/apitypes"
)

// Verify checks every record and every byte of the vault. It calls progress, which
// may be nil, for each report, in this goroutine. Damage is in the result and no error; a verification that
// could not be finished is an *Error; an answer that was cut, or is over 64 MiB, is
// io.ErrUnexpectedEOF. Door only.
func (c *Client) Verify(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/verify", nil, progress)
}

// Repair makes what follows from records anew, and then is Verify: the result says
// what was done too. A vault that takes no writes is an *Error. Door only.
func (c *Client) Repair(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/repair", nil, progress)
}
