package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Lines sends a request like Do. For each JSON line of the response, it calls fn with a function that decodes the
// line and with the request ID. It stops when fn returns false or an error. If the response ends before that or has
// more than maxBytes bytes, Lines returns io.ErrUnexpectedEOF.
func (c *Client) Lines(
	ctx context.Context, method, path string, body any, maxBytes int64,
	fn func(read func(line any) error, requestID string) (more bool, err error),
) error {
	content, contentType, err := encode(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	response, err := c.Send(ctx, method, path, content, contentType)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read from
	decoder := json.NewDecoder(io.LimitReader(response.Body, maxBytes))
	read := func(line any) error {
		if err := decoder.Decode(line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("%s %s: read response: %w", method, response.Request.URL.Path, err)
		}
		return nil
	}
	for more := true; more; {
		if more, err = fn(read, response.Header.Get("X-Request-Id")); err != nil {
			return err
		}
	}
	return nil
}
