package api

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
)

// errForbidden rejects a key without the scope of a route.
var errForbidden = &errs.Error{Kind: errs.Forbidden, Message: "This API key is not authorized for the Developer API."}

// statusHeaders are the headers of all responses of a status.
var statusHeaders = map[int]map[string]string{
	http.StatusUnauthorized:       {"WWW-Authenticate": "Bearer"},
	http.StatusServiceUnavailable: {"Retry-After": "10"},
}

// fail writes what API.md says of an error. What is our fault goes to the log and
// shows nothing of the inside.
func (e *server) fail(c *gin.Context, err error) {
	status, failure, header := httpx.TranslateError(err)
	switch {
	case c.Request.Context().Err() != nil:
		e.Log.DebugContext(c.Request.Context(), "the client left", "error", err, "request_id", requestID(c))
	case status == http.StatusInsufficientStorage, status == http.StatusServiceUnavailable:
		e.Log.WarnContext(c.Request.Context(), "request refused", "error", err, "status", status, "request_id", requestID(c))
	case status >= http.StatusInternalServerError:
		e.Log.ErrorContext(c.Request.Context(), "request failed", "error", err, "status", status, "request_id", requestID(c))
	}
	c.Header(apitypes.ErrorCode, httpx.ErrorCode(status))
	for _, set := range []map[string]string{statusHeaders[status], header} {
		for name, value := range set {
			c.Header(name, value)
		}
	}
	e.write(c, status, failure)
	c.Abort()
}

// tooMany is the answer of a rate: when to come back, and the rate itself.
func tooMany(limit, retryAfter int) error {
	return &httpx.Error{Status: http.StatusTooManyRequests, Message: "Too many requests.", Header: map[string]string{
		"Retry-After":           strconv.Itoa(retryAfter),
		"X-RateLimit-Limit":     strconv.Itoa(limit),
		"X-RateLimit-Remaining": "0",
	}}
}
