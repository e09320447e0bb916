package control

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/audit"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// mountEvents registers the routes of the audit log.
func (c handler) mountEvents(mux *http.ServeMux) {
	mux.HandleFunc("GET /control/events", c.respond(c.events))
	mux.HandleFunc("GET /control/events/export", c.exportEvents)
	mux.HandleFunc("POST /control/events/verify", c.verifyEvents)
}

// maxEvents is the maximum number of entries in a list. Exports have no maximum.
const maxEvents = 10_000

// events returns the newest entries that match the filter, newest first.
func (c handler) events(r *http.Request) (any, error) {
	ids := encode.NewIDCodec(c.Vault.Secrets)
	limit, query, err := eventQuery(ids, r.URL.Query())
	if err != nil {
		return nil, err
	}
	out := apitypes.Events{}
	for len(out.Data) < limit {
		query.Limit = min(limit-len(out.Data), 500)
		page, err := c.Vault.Events.List(r.Context(), query)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Items {
			out.Data = append(out.Data, ids.Event(e))
		}
		if query.Position = page.Next; page.Next == nil {
			break
		}
	}
	return out, nil
}

func eventQuery(ids encode.IDCodec, asked url.Values) (limit int, q vault.Query, err error) {
	q = vault.Query{Sort: vault.SortCreated, Descending: true}
	if limit, err = strconv.Atoi(asked.Get("limit")); err != nil || limit < 1 || limit > maxEvents {
		return 0, q, errs.InvalidField("limit", errs.NotBetween, 1, maxEvents)
	}
	for _, filter := range []struct {
		name   string
		column vault.Column
	}{{"actor", vault.ColumnActor}, {"kind", vault.ColumnKind}, {"record", vault.ColumnRecord}} {
		value := asked.Get(filter.name)
		if value == "" {
			continue
		}
		if filter.column == vault.ColumnRecord {
			if value = ids.Decode(value); !encode.RecordPattern.MatchString(value) {
				return 0, q, errs.InvalidField("record", errs.InvalidChoice)
			}
		}
		q.Filters = append(q.Filters, vault.Filter{Column: filter.column, Value: value})
	}
	for name, bound := range map[string]*time.Time{"from": &q.CreatedFrom, "to": &q.CreatedTo} {
		if text := asked.Get(name); text != "" {
			var at apitypes.Time
			if err := at.UnmarshalJSON([]byte(strconv.Quote(text))); err != nil {
				return 0, q, errs.InvalidField(name, "The {field} must be a time.")
			}
			*bound = at.Time
		}
	}
	return limit, q, nil
}

// exportEvents streams the audit log from a given entry to the end, with one JSON line per entry.
func (c handler) exportEvents(w http.ResponseWriter, r *http.Request) {
	ids := encode.NewIDCodec(c.Vault.Secrets)
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 63)
	if err != nil {
		c.respond(func(*http.Request) (any, error) {
			return nil, errs.InvalidField("from", errs.NotInteger)
		})(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	var end apitypes.EventEnd
	err = c.Vault.Events.Each(r.Context(), from, func(e model.Event, damage error) error {
		if damage != nil {
			return apitypes.Write(w, apitypes.EventLine{Damaged: &apitypes.Finding{Kind: "event", Subject: strconv.FormatUint(e.Seq, 10),
				Problem: damage.Error()}})
		}
		end.Entries++
		return apitypes.Write(w, apitypes.EventLine{Event: new(ids.Event(e))})
	})
	line := apitypes.EventLine{End: &end}
	if err != nil {
		c.Log.ErrorContext(r.Context(), "export of events", "error", err, "request_id", r.Header.Get(httpx.RequestIDHeader))
		line = apitypes.EventLine{Error: err.Error()}
	}
	_ = apitypes.Write(w, line) // fails if the command has disconnected
}

func (c handler) verifyEvents(w http.ResponseWriter, r *http.Request) {
	streamProgress(c, w, r, "entries", func(report func(done, total int64)) (apitypes.EventVerify, error) {
		found, err := c.Vault.Events.Verify(r.Context(), func(done, total uint64) { report(int64(done), int64(total)) })
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
