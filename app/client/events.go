package client

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// EventFilter chooses entries of the log; what is zero does not choose. From and To
// are inclusive.
type EventFilter struct {
	Actor, Kind, Record string // "key:7", "file.opened", "order:" and its id
	From, To            *apitypes.Time
	Limit               int // 1 to 10,000
}

// Events lists the newest entries of the log that fit, the newest first. Door only.
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

// ExportEvents calls each for every entry of the log from number from on, in order, and
// damaged for those that cannot be read, until one of them returns an error. An
// answer that was cut is io.ErrUnexpectedEOF. Door only.
func (c *Client) ExportEvents(ctx context.Context, from int64, each func(apitypes.Event) error, damaged func(apitypes.Finding) error) error {
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

// VerifyEvents holds every entry of the log against its hash and the one before it.
// Progress and result are as with Verify. Door only.
func (c *Client) VerifyEvents(ctx context.Context, progress func(apitypes.Progress)) (apitypes.EventVerify, error) {
	return followProgress[apitypes.EventVerify](ctx, c, "/control/events/verify", nil, progress)
}
