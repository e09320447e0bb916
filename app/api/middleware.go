package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
)

func requestID(c *gin.Context) string { return c.Request.Header.Get(httpx.RequestIDHeader) }

// log writes one line a request: never a query, a body, a name of a document.
func (e *server) log(c *gin.Context) {
	start := time.Now()
	c.Request.Pattern = pattern(c.FullPath())
	c.Next()
	actor, _ := c.Value(actorKey).(model.Actor)
	e.Log.InfoContext(c.Request.Context(), "request",
		"method", c.Request.Method,
		"route", c.FullPath(),
		"status", c.Writer.Status(),
		"bytes", max(0, c.Writer.Size()),
		"ms", float64(time.Since(start).Microseconds())/1000,
		"key", actor.ID,
		"address", e.addresses.ClientText(c.Request),
		"request_id", requestID(c))
}

// pattern is a route of gin as http.ServeMux and the description write it.
func pattern(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// recover turns a panic into a 500 and a line in the log.
func (e *server) recover(c *gin.Context) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			e.fail(c, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	c.Next()
}

// cors answers browsers of the origins in the settings; without any it says nothing.
func (e *server) cors(c *gin.Context) {
	if len(e.Origins) == 0 {
		return
	}
	h := c.Writer.Header()
	h.Add("Vary", "Origin")
	origin := c.Request.Header.Get("Origin")
	if origin == "" || !slices.Contains(e.Origins, origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", strings.Join([]string{httpx.RequestIDHeader, apitypes.IgnoredFields, apitypes.ErrorCode, "ETag", replayedHeader, "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining",
		"Location", "Tus-Resumable", "Tus-Version", "Tus-Extension", "Tus-Max-Size", "Upload-Offset", "Upload-Length", "Upload-Metadata", "Upload-Expires"}, ", "))
	if c.Request.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, Idempotency-Key, X-Request-Id, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset")
		h.Set("Access-Control-Max-Age", "600")
	}
}
