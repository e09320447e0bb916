package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
)

func requestID(c *gin.Context) string { return c.Request.Header.Get(httpx.RequestIDHeader) }

// logRequest writes one log line per request. It never logs queries, bodies, or filenames.
func (s *server) logRequest(c *gin.Context) {
	start := time.Now()
	c.Request.Pattern = pattern(c.FullPath())
	c.Next()
	actor, _ := c.Value(actorKey).(model.Actor)
	s.Log.InfoContext(c.Request.Context(), "request",
		"method", c.Request.Method,
		"route", c.FullPath(),
		"status", c.Writer.Status(),
		"bytes", max(0, c.Writer.Size()),
		"ms", float64(time.Since(start).Microseconds())/1000,
		"key", actor.ID,
		"address", s.addresses.ClientAddrText(c.Request),
		"request_id", requestID(c))
}

// pattern converts a gin route to the path syntax of http.ServeMux and OpenAPI.
func pattern(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// recoverPanic recovers from a panic, logs it, and sends a 500 response.
func (s *server) recoverPanic(c *gin.Context) {
	defer httpx.RecoverPanic(func(err error) { s.fail(c, err) })
	c.Next()
}

// setCORSHeaders adds headers that allow requests from the configured origins. It adds none
// if no origins are configured.
func (s *server) setCORSHeaders(c *gin.Context) {
	if len(s.Origins) == 0 {
		return
	}
	h := c.Writer.Header()
	h.Add("Vary", "Origin")
	origin := c.Request.Header.Get("Origin")
	if origin == "" || !slices.Contains(s.Origins, origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers",
		strings.Join([]string{httpx.RequestIDHeader, apitypes.IgnoredFields, apitypes.MissingParts, apitypes.DuplicateOf,
			apitypes.ErrorCode,
			"ETag", replayedHeader, "Retry-After",
			"WWW-Authenticate", "X-RateLimit-Limit", "X-RateLimit-Remaining",
			"Location", "Tus-Resumable", "Tus-Version", "Tus-Extension", "Tus-Max-Size", "Upload-Offset", "Upload-Length",
			"Upload-Metadata", "Upload-Expires"}, ", "))
	if c.Request.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers",
			"Authorization, Content-Type, If-Match, Idempotency-Key, X-Request-Id, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset")
		h.Set("Access-Control-Max-Age", "600")
	}
}
