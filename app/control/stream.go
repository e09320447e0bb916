package control

import (
	"errors"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

// progressEvery is the minimum time between progress lines.
const progressEvery = 250 * time.Millisecond

// streamProgress sends the progress that work reports and then the result, one JSON line each. unit is the unit of
// the progress. If the command disconnects, the request's context is canceled, which stops work.
func streamProgress[T any](c handler, w http.ResponseWriter, r *http.Request, unit string,
	work func(report func(done, total int64)) (T, error)) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	flusher := http.NewResponseController(w)
	lastSent := time.Time{}
	result, err := work(func(done, total int64) {
		if time.Since(lastSent) < progressEvery {
			return
		}
		lastSent = time.Now()
		// Writing fails if the command has disconnected.
		_ = errors.Join(apitypes.Write(w, apitypes.Line[T]{Progress: &apitypes.Progress{Done: done, Total: total, Unit: unit}}), flusher.Flush())
	})
	line := apitypes.Line[T]{Result: &result}
	if err != nil {
		status, failure, _ := httpx.TranslateError(err)
		if status == http.StatusInternalServerError {
			c.Log.ErrorContext(r.Context(), "control request failed", "path", r.URL.Path, "error", err, "request_id", r.Header.Get(httpx.RequestIDHeader))
			// Users of the control socket administer the machine, so they may see the cause of the error.
			failure.Message = err.Error()
		}
		line = apitypes.Line[T]{Error: failure.Message, Status: status}
	}
	_ = apitypes.Write(w, line) // fails if the command has disconnected
}
