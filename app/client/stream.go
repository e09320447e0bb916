package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/apitypes"
)

// followProgress posts body and returns the result at the end of the response. It calls progress for each report, in
// the same goroutine. body and progress may be nil.
func followProgress[T any](ctx context.Context, c *Client, path string, body any, progress func(apitypes.Progress)) (result T, err error) {
	err = c.lines(ctx, http.MethodPost, path, body, maxResponse, func(read func(any) error, requestID string) (bool, error) {
		var line apitypes.Line[T]
		if err := read(&line); err != nil {
			return false, err
		}
		switch {
		case line.Error != "":
			return false, &Error{Status: cmp.Or(line.Status, http.StatusInternalServerError), Message: line.Error, RequestID: requestID}
		case line.Result != nil:
			result = *line.Result
			return false, nil
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
		return true, nil
	})
	return result, err
}

// lines calls fn with a function that reads the next line of the response, until fn returns false. It reads at most
// maxBytes.
func (c *Client) lines(ctx context.Context, method, path string, body any, maxBytes int64,
	fn func(read func(any) error, requestID string) (more bool, err error)) error {
	content, contentType, err := encode(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	answer, err := c.send(ctx, method, path, content, contentType)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // only read from
	decoder := json.NewDecoder(io.LimitReader(answer.Body, maxBytes))
	read := func(line any) error {
		if err := decoder.Decode(line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("%s %s: read answer: %w", method, answer.Request.URL.Path, err)
		}
		return nil
	}
	for more := true; more; {
		if more, err = fn(read, answer.Header.Get("X-Request-Id")); err != nil {
			return err
		}
	}
	return nil
}
