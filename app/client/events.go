package client

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// EventFilter selects entries of the audit log. Zero fields match every entry. From and To are inclusive.
type EventFilter struct {
	Actor, Kind, Record string // "key:7", "file.opened", "order:" + ID
	From, To            *apitypes.Time
	Limit               int // 1 to 10,000
}

// Events lists matching entries of the audit log, newest first. Control socket only.
func (c *Client) Events(ctx context.Context, f EventFilter) ([]apitypes.Event, error) {
	query := url.Values{"limit": {strconv.Itoa(f.Limit)}}
	for name, value := range map[string]string{"actor": f.Actor, "kind": f.Kind, "record": f.Record} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]*apitypes.Time{"from": f.From, "to": f.To} {
		if at != nil {
			query.Set(name, at.String())
		}
	}
	var body apitypes.Events
	err := c.call(ctx, http.MethodGet, "/control/events?"+query.Encode(), nil, &body)
	return body.Data, err
}

// ExportEvents calls each for every entry of the audit log, in sequence, beginning with number from. It calls damaged
// for entries that can't be read. It stops at the first error of either. A truncated response is io.ErrUnexpectedEOF.
// Control socket only.
func (c *Client) ExportEvents(ctx context.Context, from int64, each func(apitypes.Event) error,
	damaged func(apitypes.Finding) error) error {
	path := "/control/events/export?from=" + strconv.FormatInt(from, 10)
	return c.lines(ctx, http.MethodGet, path, nil, math.MaxInt64, func(read func(any) error, requestID string) (bool, error) {
		var line apitypes.EventLine
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

// VerifyEvents verifies the hash chain of the audit log. Progress and errors are those of Verify. Control socket only.
func (c *Client) VerifyEvents(ctx context.Context, progress func(apitypes.Progress)) (apitypes.EventVerify, error) {
	return followProgress[apitypes.EventVerify](ctx, c, "/control/events/verify", nil, progress)
}
