package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
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

// request is an authenticated request and the data that its handler needs.
type request struct {
	*http.Request
	w      http.ResponseWriter
	actor  model.Actor
	origin string // base URL of the server, without a path
	params gin.Params

	endTurn func()            // ends the turn to create a list; see takeTurn
	reply   httpx.Reservation // memory reserved for the response
	memory  httpx.Reservation // memory reserved for the body
	keyHash keyHash           // set only if the request has an idempotency key
	digest  *contentDigest    // digest of the body; nil if there is no idempotency key
	ignored ignoredFields     // inputs that the operation does not accept
}

// response is the result of a handler: a status with a JSON body, or a redirect to
// location. If raw is set, it is sent instead of body.
type response struct {
	status   int
	body     any
	raw      []byte
	header   map[string]string
	location string
	media    string                // media type of raw and stream; "" means JSON
	stream   func(io.Writer) error // writes the body instead of raw; an error cuts the response off
	ready    func()                // called when raw has its final form and waits only for the client; may be nil
}

// handler handles an API operation.
type handler func(*request) (response, error)

func okResponse(body any) (response, error) { return response{status: http.StatusOK, body: body}, nil }

// lacking returns the response with the names of the parts that are missing in it. Empty ones are left out.
func (resp response) lacking(parts ...string) response {
	if parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" }); len(parts) > 0 {
		resp.header = maps.Clone(resp.header)
		if resp.header == nil {
			resp.header = map[string]string{}
		}
		resp.header[apitypes.MissingParts] = strings.Join(parts, ", ")
	}
	return resp
}

func noContent() (response, error) { return response{status: http.StatusNoContent}, nil }

// numberID parses the path parameter n, which is a decimal ID without leading zeros. It
// returns errNoRoute if n is invalid.
func (r *request) numberID() (uint64, error) {
	text := r.params.ByName("n")
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, errNoRoute
	}
	return n, nil
}

// opaqueID decodes the path parameter id, which is the opaque ID of an abstract or an
// order. It returns errNoRoute if id is invalid.
func (r *request) opaqueID(ids *secret.IDs) (uint64, error) {
	id, ok := ids.Decode(r.params.ByName("id"))
	if !ok {
		return 0, errNoRoute
	}
	return id, nil
}

const (
	actorKey  = "actor"
	originKey = "origin"
)

// handle returns the gin handler that runs h and writes its response or error.
func (s *server) handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		actor, _ := c.Value(actorKey).(model.Actor)
		origin, _ := c.Value(originKey).(string)
		body := newBody(c.Writer, c.Request, s.Limits)
		c.Request.Body = body
		r := &request{Request: c.Request, w: c.Writer, actor: actor, origin: origin, params: c.Params}
		r.memory = s.memory.Reserve(actor.Record(), func(time.Duration) { body.LimitStall(s.Limits.StallInMemory) })
		r.reply = s.memory.Reserve(actor.Record(), nil)
		defer r.memory.Release()
		defer r.reply.Release()
		r.endTurn = func() {}
		defer func() { r.endTurn() }()
		r.ignored.addQuery(c.Request.URL.RawQuery)
		resp, err := h(r)
		r.memory.ReleaseDecoded() // release it before waiting for the memory of a large response
		if text := r.ignored.header(); text != "" {
			c.Header(apitypes.IgnoredFields, text)
		}
		if err != nil {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) || httpx.IsTooLarge(err) || !body.Drain(drainKnownBytes, drainKnownTime) {
				c.Header("Connection", "close")
			}
			s.fail(c, err)
			return
		}
		if err := s.encodeResponse(r, &resp); err != nil {
			s.fail(c, err)
			return
		}
		resp.ready = r.endTurn
		s.respond(c, &resp)
	}
}

// takeTurn waits until the server may create a list for the owner of the key.
func (s *server) takeTurn(r *request) error {
	ctx, cancel := context.WithTimeout(r.Context(), maxTurnWait)
	defer cancel()
	done, err := s.turns.Take(ctx, r.actor.Record())
	if err != nil {
		return err
	}
	r.endTurn = done
	return nil
}

// largeResponse is the maximum size of a response, in bytes, that needs no memory
// reservation.
const largeResponse = 256 << 10

// encodeResponse encodes the body. If the body is large, it reserves memory for it until
// the client has received it. If there isn't enough memory, it returns an error only for
// reads. The response to a change is always sent.
func (s *server) encodeResponse(r *request, resp *response) (err error) {
	if resp.raw == nil && resp.body != nil && resp.location == "" {
		if err := r.Context().Err(); err != nil && isRead(r.Method) {
			return err // the client disconnected
		}
		if resp.raw, err = apitypes.Marshal(resp.body); err != nil {
			return fmt.Errorf("encode response: %w", err)
		}
		resp.body = nil
	}
	size := int64(len(resp.raw))
	if size <= largeResponse || r.memory.HasLarge() {
		return nil
	}
	if err := r.reply.AcquireLarge(r.Context(), size); err != nil && isRead(r.Method) {
		return err
	}
	return nil
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// respond sends the response. It takes the encoded body out of resp, so that only its compressed form stays in memory
// until a slow client has received it.
func (s *server) respond(c *gin.Context, resp *response) {
	for name, value := range resp.header {
		c.Header(name, value)
	}
	switch {
	case resp.location != "":
		c.Header("Location", resp.location)
		c.Header("Cache-Control", "no-store")
		c.Status(resp.status)
	case resp.status == http.StatusNoContent:
		c.Status(resp.status)
	case resp.stream != nil:
		c.Header("Content-Type", resp.media)
		c.Header("Cache-Control", "no-store")
		c.Status(resp.status)
		client := clientWriter{Writer: c.Writer}
		if err := resp.stream(&client); err != nil {
			if !client.left && c.Request.Context().Err() == nil {
				s.Log.Error("the response was cut off", "path", c.FullPath(), "error", err)
			}
			panic(http.ErrAbortHandler)
		}
	case resp.raw != nil:
		raw := resp.raw
		resp.raw = nil
		s.send(c, resp.status, cmp.Or(resp.media, mediaJSON), raw, resp.ready)
	default:
		s.write(c, resp.status, resp.body)
	}
}

// clientWriter writes to a client and remembers whether it disconnected.
type clientWriter struct {
	io.Writer
	left bool
}

func (w *clientWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.left = w.left || err != nil
	return n, err
}

// minGzipSize is the minimum size, in bytes, of a response that is compressed.
const minGzipSize = 1024

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// write sends a JSON response. It encodes the entire body before it sends the first byte.
func (s *server) write(c *gin.Context, status int, body any) {
	raw, err := apitypes.Marshal(body)
	if err != nil {
		s.fail(c, fmt.Errorf("encode response: %w", err))
		return
	}
	s.send(c, status, mediaJSON, raw, nil)
}

const mediaJSON = "application/json"

// send writes an encoded body. It compresses the body if it is large enough and the client
// accepts gzip, and then calls ready, which may be nil.
func (s *server) send(c *gin.Context, status int, media string, raw []byte, ready func()) {
	h := c.Writer.Header()
	httpx.SetJSONHeaders(h)
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Encoding")
	if len(raw) >= minGzipSize && acceptsGzip(c.Request.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		raw = compress(raw)
	}
	if ready != nil {
		ready()
	}
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	c.Status(status)
	if _, err := c.Writer.Write(raw); err != nil {
		s.Log.Debug("response not sent", "error", err)
	}
}

func compress(raw []byte) []byte {
	var b bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(raw) // writing to a buffer can't fail
	_ = z.Close()
	return b.Bytes()
}

// acceptsGzip reports whether the Accept-Encoding header (RFC 9110, section 12.5.3) allows
// gzip. It does if it lists gzip or * with a weight other than 0. An entry for gzip
// overrides *.
func acceptsGzip(values []string) bool {
	star, gz := false, -1
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(item, ";")
			excluded := false
			if _, q, found := strings.Cut(params, "q="); found {
				weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
				excluded = err != nil || weight == 0
			}
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				if gz = 1; excluded {
					gz = 0
				}
			case "*":
				star = !excluded
			}
		}
	}
	return gz == 1 || gz < 0 && star
}

// newBody returns a body that enforces the slow-client limits.
func newBody(w http.ResponseWriter, r *http.Request, limits Limits) *httpx.Body {
	return httpx.NewBody(w, r, httpx.Limits{Stall: limits.Stall, MinRate: limits.MinRate})
}

// Limits for reading the rest of a rejected request's body, so that the client receives the
// response. Authenticated clients have higher limits.
const (
	drainKnownBytes   = 64 << 20
	drainKnownTime    = 10 * time.Second
	drainUnknownBytes = 1 << 20
	drainUnknownTime  = time.Second
)
