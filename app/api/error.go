package api

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

// errForbidden is returned if the API key doesn't have the ability that a route requires. Its header names that ability
// (RFC 6750, section 3.1).
func errForbidden(ability string) error {
	return &httpx.Error{Status: http.StatusForbidden, Message: "This API key is not authorized for the Developer API.",
		Header: map[string]string{"WWW-Authenticate": fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, ability)}}
}

// statusHeaders maps a status to headers that are added to all responses with that status.
var statusHeaders = map[int]map[string]string{
	http.StatusUnauthorized:       {"WWW-Authenticate": "Bearer"},
	http.StatusServiceUnavailable: {"Retry-After": "10"},
}

// fail writes the error response for err and aborts the request. Server errors are logged,
// and their responses don't contain internal details.
func (s *server) fail(c *gin.Context, err error) {
	status, failure, header := httpx.TranslateError(err)
	switch {
	case c.Request.Context().Err() != nil:
		s.Log.DebugContext(c.Request.Context(), "client closed the connection", "error", err, "request_id", requestID(c))
	case status == http.StatusInsufficientStorage, status == http.StatusServiceUnavailable:
		s.Log.WarnContext(c.Request.Context(), "request rejected", "error", err, "status", status, "request_id", requestID(c))
	case status >= http.StatusInternalServerError:
		s.Log.ErrorContext(c.Request.Context(), "request failed", "error", err, "status", status, "request_id", requestID(c))
	}
	c.Header(apitypes.ErrorCode, httpx.ErrorCode(status))
	for _, set := range []map[string]string{statusHeaders[status], header} {
		for name, value := range set {
			c.Header(name, value)
		}
	}
	s.write(c, status, failure)
	c.Abort()
}

// errRateLimited returns a 429 error. Its headers contain the limit and the number of
// seconds until the client may retry.
func errRateLimited(limit, retryAfter int) error {
	return &httpx.Error{Status: http.StatusTooManyRequests, Message: "Too many requests.", Header: map[string]string{
		"Retry-After":           strconv.Itoa(retryAfter),
		"X-RateLimit-Limit":     strconv.Itoa(limit),
		"X-RateLimit-Remaining": "0",
	}}
}
