package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// request is one request as a handler sees it.
type request struct {
	*http.Request
	w      http.ResponseWriter
	actor  model.Actor
	origin string // own address, without a path
	params gin.Params

	reply   httpx.Reservation // of the same memory, for the answer
	memory  httpx.Reservation // of what the body takes
	keyHash keyHash           // of a request that is to happen once
	content *content          // what such a request said; nil for any other
	ignored ignored           // what it sent and its operation does not take
}

// response is what a handler says: a status with a JSON body, or a redirect. raw is a
// body that is encoded already.
type response struct {
	status   int
	body     any
	raw      []byte
	header   map[string]string
	location string
	media    string // of raw; "": JSON
}

type handler func(*request) (response, error)

func okResponse(body any) (response, error) { return response{status: http.StatusOK, body: body}, nil }
func noContent() (response, error)          { return response{status: http.StatusNoContent}, nil }

// numberID reads the decimal path parameter n in its one spelling.
func (c *request) numberID() (uint64, error) {
	text := c.params.ByName("n")
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, errNoRoute
	}
	return n, nil
}

// opaqueID reads the opaque id of an abstract or an order.
func (c *request) opaqueID(ids *secret.IDs) (uint64, error) {
	id, known := ids.Decode(c.params.ByName("id"))
	if !known {
		return 0, errNoRoute
	}
	return id, nil
}

const (
	actorKey  = "actor"
	originKey = "origin"
)

// handle runs a handler and writes its answer, or its failure.
func (e *server) handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		actor, _ := c.Value(actorKey).(model.Actor)
		origin, _ := c.Value(originKey).(string)
		body := newBody(c.Writer, c.Request, e.Limits)
		c.Request.Body = body
		request := &request{Request: c.Request, w: c.Writer, actor: actor, origin: origin, params: c.Params}
		request.memory = e.memory.Reserve(actor.Record(), func(time.Duration) { body.LimitStall(e.Limits.StallInMemory) })
		request.reply = e.memory.Reserve(actor.Record(), nil)
		defer request.memory.Release()
		defer request.reply.Release()
		request.ignored.query(c.Request.URL.RawQuery)
		a, err := h(request)
		request.memory.ReleaseDecoded() // before it waits for that of a large answer
		if text := request.ignored.header(); text != "" {
			c.Header(apitypes.IgnoredFields, text)
		}
		if err != nil {
			var big *http.MaxBytesError
			if errors.As(err, &big) || httpx.IsTooLarge(err) || !body.Drain(drainKnownBytes, drainKnownTime) {
				c.Header("Connection", "close")
			}
			e.fail(c, err)
			return
		}
		if err := e.encodeResponse(request, &a); err != nil {
			e.fail(c, err)
			return
		}
		e.respond(c, a)
	}
}

// largeResponse is how many bytes an answer may have without asking for memory.
const largeResponse = 256 << 10

// encodeResponse encodes an answer and takes memory for a large one, for as long as its client
// takes to read it. What has changed something is told in any case.
func (e *server) encodeResponse(c *request, a *response) (err error) {
	if a.raw == nil && a.body != nil && a.location == "" {
		if err := c.Context().Err(); err != nil && isRead(c.Method) {
			return err // the client has gone
		}
		if a.raw, err = apitypes.Marshal(a.body); err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		a.body = nil
	}
	size := int64(len(a.raw))
	if size <= largeResponse || c.memory.HasLarge() {
		return nil
	}
	if err := c.reply.AcquireLarge(c.Context(), size); err != nil && isRead(c.Method) {
		return err
	}
	return nil
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func (e *server) respond(c *gin.Context, a response) {
	for name, value := range a.header {
		c.Header(name, value)
	}
	switch {
	case a.location != "":
		c.Header("Location", a.location)
		c.Header("Cache-Control", "no-store")
		c.Status(a.status)
	case a.status == http.StatusNoContent:
		c.Status(a.status)
	case a.raw != nil:
		e.send(c, a.status, cmp.Or(a.media, jsonMedia), a.raw)
	default:
		e.write(c, a.status, a.body)
	}
}

// smallest answer that is worth compressing.
const gzipFrom = 1024

var gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// dataPolicy has a browser that shows an answer run and load nothing (OWASP, "REST
// Security Cheat Sheet", security headers).
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

// write sends a JSON answer, whole: it is encoded before the first byte goes out.
func (e *server) write(c *gin.Context, status int, body any) {
	raw, err := apitypes.Marshal(body)
	if err != nil {
		e.fail(c, fmt.Errorf("encode the answer: %w", err))
		return
	}
	e.send(c, status, jsonMedia, raw)
}

const jsonMedia = "application/json"

func (e *server) send(c *gin.Context, status int, media string, raw []byte) {
	h := c.Writer.Header()
	h.Set("Content-Type", media)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", dataPolicy)
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Encoding")
	if len(raw) >= gzipFrom && acceptsGzip(c.Request.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		raw = compress(raw)
	}
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	c.Status(status)
	if _, err := c.Writer.Write(raw); err != nil {
		e.Log.Debug("answer not delivered", "error", err)
	}
}

func compress(raw []byte) []byte {
	var b bytes.Buffer
	z := gzips.Get().(*gzip.Writer)
	defer gzips.Put(z)
	z.Reset(&b)
	_, _ = z.Write(raw) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// acceptsGzip reads Accept-Encoding as RFC 9110, section 12.5.3: gzip or *, with a
// weight other than 0; what names gzip itself counts more than the star.
func acceptsGzip(values []string) bool {
	star, gz := false, -1
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(item, ";")
			refused := false
			if _, q, found := strings.Cut(params, "q="); found {
				weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
				refused = err != nil || weight == 0
			}
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				if gz = 1; refused {
					gz = 0
				}
			case "*":
				star = !refused
			}
		}
	}
	return gz == 1 || gz < 0 && star
}

// newBody returns a body with the deadlines of slow-client protection.
func newBody(w http.ResponseWriter, r *http.Request, limits Limits) *httpx.Body {
	return httpx.NewBody(w, r, httpx.Limits{Stall: limits.Stall, MinRate: limits.MinRate})
}

// How much of a rejected body is read, so that the client gets to read the response: more for authenticated clients.
const (
	drainKnownBytes   = 64 << 20
	drainKnownTime    = 10 * time.Second
	drainUnknownBytes = 1 << 20
	drainUnknownTime  = time.Second
)
