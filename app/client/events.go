package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/wire"
)

// EventFilter chooses entries of the log; what is zero does not choose. From and To
// are inclusive.
type EventFilter struct {
	Actor, Kind, Record string // "key:7", "file.opened", "order:" and its id
	From, To            *wire.Time
	Limit               int // 1 to 10,000
}

// Events lists the newest entries of the log that fit, the newest first. Door only.
func (c *Client) Events(ctx context.Context, f EventFilter) ([]wire.Event, error) {
	query := url.Values{"limit": {strconv.Itoa(f.Limit)}}
	for name, value := range map[string]string{"actor": f.Actor, "kind": f.Kind, "record": f.Record} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]*wire.Time{"from": f.From, "to": f.To} {
		if at != nil {
			query.Set(name, at.String())
		}
	}
	var body wire.Events
	err := c.call(ctx, http.MethodGet, "/control/events?"+query.Encode(), nil, &body)
	return body.Data, err
}

// EachEvent calls each for every entry of the log from number from on, in order, and
// damaged for those that cannot be read, until one of them returns an error. An
// answer that was cut is io.ErrUnexpectedEOF. Door only.
func (c *Client) EachEvent(ctx context.Context, from int64, each func(wire.Event) error, damaged func(wire.Finding) error) error {
	path := "/control/events/export?from=" + strconv.FormatInt(from, 10)
	return c.lines(ctx, http.MethodGet, path, func(read func(any) error, requestID string) (bool, error) {
		var line wire.EventLine
		if err := read(&line); err != nil {
			return false, err
		}
		switch {
		case line.Error != "":
			return false, &Error{Status: http.StatusInternalServerError, Message: line.Error, RequestID: requestID}
		case line.Event != nil:
			return true, each(*line.Event)
		case line.Damaged != nil:
			return true, damaged(*line.Damaged)
		}
		return line.End == nil, nil
	})
}

// VerifyEvents holds every entry of the log against its hash and the one before it.
// It calls progress for each report. What it finds is in the result and no error, as
// with Verify. Door only.
func (c *Client) VerifyEvents(ctx context.Context, progress func(wire.VerifyProgress)) (result wire.EventVerify, err error) {
	err = c.lines(ctx, http.MethodPost, "/control/events/verify", func(read func(any) error, requestID string) (bool, error) {
		var line wire.EventVerifyLine
		if err := read(&line); err != nil {
			return false, err
		}
		switch {
		case line.Error != "":
			return false, &Error{Status: http.StatusInternalServerError, Message: line.Error, RequestID: requestID}
		case line.Result != nil:
			result = *line.Result
			return false, nil
		case line.Progress != nil:
			progress(*line.Progress)
		}
		return true, nil
	})
	return result, err
}

// lines hands fn a reader of the lines of an answer until it wants no more.
func (c *Client) lines(ctx context.Context, method, path string, fn func(read func(any) error, requestID string) (more bool, err error)) error {
	answer, err := c.send(ctx, method, path, nil, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // only read from
	decoder := json.NewDecoder(answer.Body)
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
