package client

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/apitypes"
)

// Error is a refusal by the server (API.md, "Everywhere").
type Error struct {
	Status     int                  // the HTTP status
	Message    string               // the server's sentence, or the status in words where it sent none
	Errors     apitypes.FieldErrors // the sentences about each field, of a 422
	RequestID  string               // names the request in the server's log
	RetryAfter time.Duration        // of a 429 or 503: how long to wait; else 0
}

// Error returns the server's sentence; where the server is at fault the request
// id follows, for whoever reads its log.
func (e *Error) Error() string {
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		return e.Message + " (request " + e.RequestID + ")"
	}
	return e.Message
}

func responseError(answer *http.Response) *Error {
	e := &Error{Status: answer.StatusCode, RequestID: answer.Header.Get("X-Request-Id")}
	if seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 31); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	// A body that is cut or not ours (a proxy's page) takes nothing from the
	// status, which is all that counts then.
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	var body apitypes.Failure
	if json.Unmarshal(text, &body) == nil && body.Message != "" {
		e.Message, e.Errors = body.Message, body.Errors
		return e
	}
	e.Message = strconv.Itoa(answer.StatusCode)
	if words := http.StatusText(answer.StatusCode); words != "" {
		e.Message += " " + words
	}
	if to := answer.Header.Get("Location"); to != "" && e.Status/100 == 3 {
		e.Message += " to " + to
	}
	return e
}
