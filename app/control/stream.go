package control

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

// progressEvery is how often something long says how far it is.
const progressEvery = 250 * time.Millisecond

// streamProgress answers with what work reports, in units of that name, and then with its
// result, a JSON line each. A command that has gone ends the request's context, and
// with it the work.
func streamProgress[T any](c handler, w http.ResponseWriter, r *http.Request, unit string, work func(report func(done, total int64)) (T, error)) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines, flusher := json.NewEncoder(w), http.NewResponseController(w)
	said := time.Time{}
	result, err := work(func(done, total int64) {
		if time.Since(said) < progressEvery {
			return
		}
		said = time.Now()
		_ = errors.Join(lines.Encode(apitypes.Line[T]{Progress: &apitypes.Progress{Done: done, Total: total, Unit: unit}}), flusher.Flush()) // as above
	})
	line := apitypes.Line[T]{Result: &result}
	if err != nil {
		status, failure, _ := httpx.TranslateError(err)
		if status == http.StatusInternalServerError {
			c.Log.ErrorContext(r.Context(), "control door", "path", r.URL.Path, "error", err, "request_id", r.Header.Get(httpx.RequestIDHeader))
			// Whoever may knock at this door owns the machine: the reason is for them.
			failure.Message = err.Error()
		}
		line = apitypes.Line[T]{Error: failure.Message, Status: status}
	}
	_ = lines.Encode(line) // as above
}
