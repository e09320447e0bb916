package control

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/audit"
	"deedkeep/app/client"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// EventFilter selects audit log entries. Fields that are zero don't filter. From and To are inclusive.
type EventFilter struct {
	Actor, Kind, Record string // such as "key:7", "file.opened", and "order:" with the ID
	From, To            *apitypes.Time
	After               *int64 // only entries with a greater sequence number
	Limit               int    // 1 to 10,000
}

// Events returns the newest entries of the audit log that match f, newest first. With f.After, it
// returns the first ones, in sequence.
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
	if f.After != nil {
		query.Set("after", strconv.FormatInt(*f.After, 10))
	}
	return data[[]apitypes.Event](ctx, c, "GET /control/events?"+query.Encode(), nil)
}

func (h handler) events(r *http.Request) (any, error) {
	ids := encode.NewIDCodec(h.App.Secrets)
	query, err := eventQuery(ids, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return firstRecords(r, query, h.App.Events.List, ids.Event)
}

func eventQuery(ids encode.IDCodec, asked url.Values) (q vault.Query, err error) {
	for _, filter := range []struct {
		name   string
		column model.Column
	}{{"actor", model.ColumnActor}, {"kind", model.ColumnKind}, {"record", model.ColumnRecord}} {
		value := asked.Get(filter.name)
		if value == "" {
			continue
		}
		if filter.column == model.ColumnRecord {
			if value = ids.Decode(value); !encode.RecordPattern.MatchString(value) {
				return q, errs.InvalidField("record", errs.InvalidChoice)
			}
		}
		q.Filters = append(q.Filters, vault.Filter{Column: filter.column, Value: value})
	}
	for name, bound := range map[string]*time.Time{"from": &q.CreatedFrom, "to": &q.CreatedTo} {
		if text := asked.Get(name); text != "" {
			var at apitypes.Time
			if err := at.UnmarshalJSON([]byte(strconv.Quote(text))); err != nil {
				return q, errs.InvalidField(name, "The {field} must be a time.")
			}
			*bound = at.Time
		}
	}
	q.Sort, q.Descending = model.SortCreated, true
	if after := asked.Get("after"); after != "" {
		n, err := strconv.ParseUint(after, 10, 63)
		if err != nil {
			return q, errs.InvalidField("after", errs.NotInteger)
		}
		q.Sort, q.Descending, q.Position = model.SortSequence, false, vault.EventPosition(n)
	}
	return q, nil
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

// exportEvents streams the audit log from a given entry to the end, with one JSON line per entry.
func (h handler) exportEvents(w http.ResponseWriter, r *http.Request) {
	ids := encode.NewIDCodec(h.App.Secrets)
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 63)
	if err != nil {
		h.respond(w, r, nil, errs.InvalidField("from", errs.NotInteger))
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	var end apitypes.EventEnd
	err = h.App.Events.Each(r.Context(), from, func(e model.Event, damage error) error {
		if damage != nil {
			return apitypes.Write(w, apitypes.EventLine{Damaged: &apitypes.Finding{Kind: "event", Subject: strconv.FormatUint(e.Seq, 10),
				Problem: damage.Error()}})
		}
		end.Entries++
		return apitypes.Write(w, apitypes.EventLine{Event: new(ids.Event(e))})
	})
	line := apitypes.EventLine{End: &end}
	if err != nil {
		h.Log.ErrorContext(r.Context(), "audit log export failed", "error", err, "request_id", r.Header.Get(httpx.RequestIDHeader))
		line = apitypes.EventLine{Error: err.Error()}
	}
	_ = apitypes.Write(w, line) // fails if the command has disconnected
}

// VerifyEvents checks every entry of the audit log against its own hash and that of the previous entry. Progress and
// errors are like those of Verify.
func (c *Client) VerifyEvents(ctx context.Context, progress func(apitypes.Progress)) (apitypes.EventVerify, error) {
	return followProgress[apitypes.EventVerify](ctx, c, "/control/events/verify", nil, progress)
}

func (h handler) verifyEvents(w http.ResponseWriter, r *http.Request) {
	streamProgress(h, w, r, "entries", func(report func(done, total int64)) (apitypes.EventVerify, error) {
		found, err := h.App.Events.Verify(r.Context(), func(done, total uint64) { report(int64(done), int64(total)) })
		return verifiedLog(found), err
	})
}

func verifiedLog(r audit.LogReport) apitypes.EventVerify {
	out := apitypes.EventVerify{OK: r.OK(), Entries: int64(r.Entries), Last: int64(r.Last), Head: r.Head, More: int64(r.More)}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, apitypes.Finding{Kind: f.Kind, Subject: f.Subject, Problem: f.Problem})
	}
	return out
}
