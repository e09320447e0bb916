package client

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
)

// Error is an error response from the server.
type Error struct {
	Status    int                  // the HTTP status
	Message   string               // the server's message, or the text of the status if there is no message
	Errors    apitypes.FieldErrors // the messages for each field of a 422
	RequestID string               // identifies the request in the server's log
}

// Error returns the server's message. For a 5xx status it adds the request ID, which the server's log contains too.
func (e *Error) Error() string {
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		return e.Message + " (request " + e.RequestID + ")"
	}
	return e.Message
}

// responseError converts an error response to an *Error.
func responseError(response *http.Response) *Error {
	e := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id")}
	// If the body is truncated or from another source, such as a proxy's error page, only the status is used.
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	var body apitypes.Failure
	if json.Unmarshal(text, &body) == nil && body.Message != "" {
		e.Message, e.Errors = body.Message, body.Errors
		return e
	}
	e.Message = strconv.Itoa(response.StatusCode)
	if words := http.StatusText(response.StatusCode); words != "" {
		e.Message += " " + words
	}
	if to := response.Header.Get("Location"); to != "" && e.Status/100 == 3 {
		e.Message += " to " + to
	}
	return e
}
