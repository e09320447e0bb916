package control

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

// EventFilter selects audit log entries. Fields that are zero don't filter. From and To are inclusive.
type EventFilter struct {
	Actor, Kind, Record string // such as "key:7", "file.opened", and "order:" with the ID
	From, To            *apitypes.Time
	Limit               int // 1 to 10,000
}

// Events returns the newest entries of the audit log that match f, newest first.
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
	err := c.http.Do(ctx, http.MethodGet, "/control/events?"+query.Encode(), nil, &body)
	return body.Data, err
}

// ExportEvents reads the audit log in order, starting with entry number from. It calls each for every entry and
// damaged for every entry that can't be read. It stops if one of them returns an error. It returns
// io.ErrUnexpectedEOF if the response ends early.
func (c *Client) ExportEvents(ctx context.Context, from int64, each func(apitypes.Event) error,
	damaged func(apitypes.Finding) error) error {
	path := "/control/events/export?from=" + strconv.FormatInt(from, 10)
	return c.http.Lines(ctx, http.MethodGet, path, nil, math.MaxInt64, func(read func(any) error, requestID string) (bool, error) {
		var line apitypes.EventLine
		if err := read(&line); err != nil {
			return false, err
		}
		switch {
		case line.Error != "":
			return false, &client.Error{Status: http.StatusInternalServerError, Message: line.Error, RequestID: requestID}
		case line.Event != nil:
			return true, each(*line.Event)
		case line.Damaged != nil:
			return true, damaged(*line.Damaged)
		}
		return line.End == nil, nil
	})
}

// VerifyEvents checks every entry of the audit log against its own hash and that of the previous entry. Progress and
// errors are like those of Verify.
func (c *Client) VerifyEvents(ctx context.Context, progress func(apitypes.Progress)) (apitypes.EventVerify, error) {
	return followProgress[apitypes.EventVerify](ctx, c, "/control/events/verify", nil, progress)
}
