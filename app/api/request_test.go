package api_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"

	"deedkeep/app/apitypes"
)

// call is a request and its expected response.
type call struct {
	name         string
	as           string // name of the API key, an Authorization header line, or "" for neither
	method, path string // path as sent, not normalized
	header       []string
	body         string
	route        string // path of the operation in openapi.yaml; "" if it is the same as path
	status       int
	want         string   // the expected body, with each opaque ID replaced by "ID"
	has          []string // fragments that the body must contain
	headers      map[string]string
	media        string // expected media type of the body; "" means JSON
}

// reply is a response with its decompressed body.
type reply struct {
	*http.Response
	body []byte
}

// runCalls runs each call as a subtest.
func (srv *testServer) runCalls(t *testing.T, rows []call) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Helper()
			srv.do(t, r)
		})
	}
}

// do sends a call over a new connection. It checks the response against the call, the rules
// for all responses, and the OpenAPI description.
func (srv *testServer) do(t testing.TB, r call) reply {
	t.Helper()
	srv.keepOutOfLog(r.body)
	conn := srv.dial(t)
	defer conn.Close()
	go func() {
		// The server may close the connection before it has read everything. Only its
		// response matters.
		_, _ = io.WriteString(conn, srv.requestText(r))
	}()
	return srv.readReply(t, r, bufio.NewReader(conn))
}

func (srv *testServer) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.server.Listener.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatalf("set deadline: %v", err)
	}
	return conn
}

// requestText returns the text of the HTTP request for r.
func (srv *testServer) requestText(r call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.method, r.path)
	has := func(name string) bool {
		return slices.ContainsFunc(r.header, func(line string) bool { return strings.HasPrefix(strings.ToLower(line), name+":") })
	}
	if !has("host") {
		b.WriteString("Host: vault.test\r\n")
	}
	if !has("connection") {
		b.WriteString("Connection: close\r\n")
	}
	if key := srv.keys[r.as]; key != "" {
		b.WriteString("Authorization: Bearer " + key + "\r\n")
	} else if r.as != "" {
		b.WriteString(r.as + "\r\n")
	}
	if !has("content-length") && !has("transfer-encoding") && (r.body != "" || r.method == "POST") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	for _, line := range r.header {
		b.WriteString(line + "\r\n")
	}
	return b.String() + "\r\n" + r.body
}

// readReply reads one response and checks it against r.
func (srv *testServer) readReply(t testing.TB, r call, reader *bufio.Reader) reply {
	t.Helper()
	response, err := http.ReadResponse(reader, &http.Request{Method: r.method})
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	if response.Header.Get("Content-Encoding") == "gzip" && r.method != http.MethodHead {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatalf("gzip.NewReader: %v", err)
		}
		if body, err = io.ReadAll(z); err != nil {
			t.Fatalf("read response body: %v", err)
		}
	}
	got := reply{response, body}
	srv.checkHeaders(t, r, got)
	srv.checkDescribed(t, r, got)
	r.check(t, got)
	return got
}

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// checkHeaders checks the header rules for all responses: request ID, media type, error
// code, and responses to HEAD.
func (srv *testServer) checkHeaders(t testing.TB, r call, got reply) {
	t.Helper()
	if id := got.Header.Get("X-Request-Id"); !requestIDs.MatchString(id) {
		t.Errorf("X-Request-Id = %q, want a match of %s", id, requestIDs)
	}
	media := cmp.Or(r.media, "application/json")
	if len(got.body) > 0 && got.Header.Get("Content-Type") != media {
		t.Errorf("Content-Type = %q, want %q", got.Header.Get("Content-Type"), media)
	}
	if len(got.body) > 0 && r.media == "" && !json.Valid(got.body) {
		t.Errorf("body = %s, want valid JSON", got.body)
	}
	if got.StatusCode >= 500 && got.StatusCode != r.status {
		t.Errorf("status = %d, want %d: %s\n%s", got.StatusCode, r.status, got.body, srv.log)
	}
	codes, err := errorCodes()
	if err != nil {
		t.Fatalf("errorCodes: %v", err)
	}
	if code := got.Header.Get(apitypes.ErrorCode); codes[code] != (got.StatusCode >= 400) || got.StatusCode < 400 && code != "" {
		t.Errorf("X-Error-Code of status %d = %q, want a listed code from 400 on, none below", got.StatusCode, code)
	}
	if r.method == http.MethodHead && len(got.body) > 0 {
		t.Errorf("body of HEAD = %s, want none", got.body)
	}
}

// checkDescribed validates the response against openapi.yaml. A response for an unknown
// route must be an error with a message.
func (srv *testServer) checkDescribed(t testing.TB, r call, got reply) {
	t.Helper()
	path := r.route
	if path == "" {
		path = r.path
	}
	method := r.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	request, err := http.NewRequest(method, "http://vault.test"+path, http.NoBody)
	if err == nil {
		if route, params, err := srv.router.FindRoute(request); err == nil {
			input := &openapi3filter.ResponseValidationInput{
				RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route},
				Status:                 got.StatusCode, Header: got.Header,
				Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: r.method == http.MethodHead},
			}
			if err := openapi3filter.ValidateResponse(t.Context(), input.SetBodyBytes(got.body)); err != nil {
				t.Errorf("validate against openapi.yaml: %v\n%s", err, got.body)
			}
			return
		}
	}
	checkUndescribed(t, r, got)
}

// checkUndescribed checks that the response is an error with a message.
func checkUndescribed(t testing.TB, r call, got reply) {
	t.Helper()
	if r.method == http.MethodOptions && got.StatusCode == http.StatusNoContent {
		return
	}
	if got.StatusCode < 400 {
		t.Errorf("status = %d for an operation that is not described, want at least 400: %s", got.StatusCode, got.body)
	}
	if r.method == http.MethodHead {
		return
	}
	var members map[string]any
	if err := json.Unmarshal(got.body, &members); err != nil {
		t.Errorf("decode body %s: %v", got.body, err)
	}
	if message, _ := members["message"].(string); len(members) != 1 || message == "" {
		t.Errorf("body = %s, want an object with only a message", got.body)
	}
}

var opaqueIDs = regexp.MustCompile(`"id":"[0-9A-Za-z]{8,}"`)

// check compares the response with the expected one.
func (c call) check(t testing.TB, got reply) {
	t.Helper()
	if got.StatusCode != c.status {
		t.Errorf("status = %d, want %d: %s", got.StatusCode, c.status, got.body)
	}
	text := opaqueIDs.ReplaceAllString(string(got.body), `"id":"ID"`)
	if c.want != "" && text != c.want {
		t.Errorf("body =\n%s\nwant\n%s", text, c.want)
	}
	for _, fragment := range c.has {
		if !strings.Contains(text, fragment) {
			t.Errorf("body = %s, want it to contain %s", text, fragment)
		}
	}
	for name, value := range c.headers {
		if got.Header.Get(name) != value {
			t.Errorf("header %s = %q, want %q", name, got.Header.Get(name), value)
		}
	}
}

// decodeBody decodes the JSON body of a response.
func decodeBody[T any](t testing.TB, got reply) (v T) {
	t.Helper()
	if err := json.Unmarshal(got.body, &v); err != nil {
		t.Fatalf("decode body %s: %v", got.body, err)
	}
	return v
}

// messageBody returns the JSON body of an error with this message. invalidField returns the
// body of a 422 about one field.
func messageBody(message string) string { return fmt.Sprintf(`{"message":%q}`, message) }

func invalidField(field, sentence string) string {
	return fmt.Sprintf(`{"message":%q,"errors":{%q:[%q]}}`, sentence, field, sentence)
}
