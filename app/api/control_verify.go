package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

// progressEvery is how often a verification says how far it is.
const progressEvery = 250 * time.Millisecond

func (c control) verify(w http.ResponseWriter, r *http.Request) {
	c.stream(w, r, "verify", func(progress func(done, total int)) (*wire.Verify, error) {
		report, err := c.Vault.Verify(r.Context(), progress)
		return verified(report), err
	})
}

func (c control) repair(w http.ResponseWriter, r *http.Request) {
	c.stream(w, r, "repair", func(progress func(done, total int)) (*wire.Verify, error) {
		did, err := c.Vault.Repair(r.Context(), operator(r), progress)
		out := verified(did.Report)
		out.Repaired = &wire.Repaired{
			Done: did.Done, Findings: int64(did.Before), TasksAdded: int64(did.Requeued), TasksRemoved: int64(did.Dropped),
			Leftovers: int64(did.Leftovers), Orphans: int64(did.Orphans),
		}
		return out, err
	})
}

// stream sends the progress of a verification and then its result, a JSON line each.
func (c control) stream(w http.ResponseWriter, r *http.Request, what string, work func(progress func(done, total int)) (*wire.Verify, error)) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines, flusher := json.NewEncoder(w), http.NewResponseController(w)
	said := time.Time{}
	result, err := work(func(done, total int) {
		if time.Since(said) < progressEvery {
			return
		}
		said = time.Now()
		// A command that has gone ends the request's context, and with it the work.
		_ = errors.Join(lines.Encode(wire.VerifyLine{Progress: &wire.VerifyProgress{Done: int64(done), Total: int64(total), Unit: "documents"}}), flusher.Flush())
	})
	line := wire.VerifyLine{Result: result}
	if err != nil {
		c.Log.ErrorContext(r.Context(), what, "error", err, "request_id", r.Header.Get(requestIDHeader))
		line = wire.VerifyLine{Error: err.Error()}
	}
	_ = lines.Encode(line) // as above
}

func verified(r vault.Report) *wire.Verify {
	out := &wire.Verify{
		OK: r.OK(), Records: int64(r.Records), Files: int64(r.Files), Blobs: int64(r.Blobs), Bytes: r.Bytes, Events: int64(r.Events),
		Orphans: int64(r.Orphans), Leftovers: int64(r.Leftovers), Findings: make([]wire.Finding, 0, len(r.Findings)),
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, wire.Finding{Kind: f.Kind, Subject: f.Subject, Problem: f.Problem})
	}
	return out
}
