package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/wire"
)

// Verify checks every record and every byte of the vault. It calls progress, which
// may be nil, for each report, in this goroutine. Damage is in the result and no error; a verification that
// could not be finished is an *Error of status 500; an answer that was cut, or
// is over 64 MiB, is io.ErrUnexpectedEOF. Door only.
func (c *Client) Verify(ctx context.Context, progress func(wire.VerifyProgress)) (wire.Verify, error) {
	return c.verify(ctx, "verify", progress)
}

// Repair makes what follows from records anew, and then is Verify: the result says
// what was done too. A vault that takes no writes is an *Error. Door only.
func (c *Client) Repair(ctx context.Context, progress func(wire.VerifyProgress)) (wire.Verify, error) {
	return c.verify(ctx, "repair", progress)
}

func (c *Client) verify(ctx context.Context, what string, progress func(wire.VerifyProgress)) (wire.Verify, error) {
	answer, err := c.send(ctx, http.MethodPost, "/control/"+what, nil, "")
	if err != nil {
		return wire.Verify{}, err
	}
	defer answer.Body.Close() //nolint:errcheck // only read from
	lines := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer))
	for {
		var line wire.VerifyLine
		if err := lines.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return wire.Verify{}, fmt.Errorf("%s: read answer: %w", what, err)
		}
		switch {
		case line.Error != "":
			return wire.Verify{}, &Error{Status: http.StatusInternalServerError, Message: line.Error, RequestID: answer.Header.Get("X-Request-Id")}
		case line.Result != nil:
			return *line.Result, nil
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
	}
}
