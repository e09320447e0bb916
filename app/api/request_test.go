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

// row is a request as it goes over the wire, and what is expected of the answer.
type row struct {
	name         string
	as           string // whose key; "" for none, or a whole header line
	method, path string // of /v1/… as written
	header       []string
	body         string
	route        string // the path of the description, where path is another spelling
	status       int
	want         string   // the body, with ids as ID and request ids left out
	has          []string // fragments of the body
	headers      map[string]string
	media        string // of the body; "": JSON
}

// reply is an answer with its body decoded.
type reply struct {
	*http.Response
	body []byte
}

// run asks every row in a subtest of its own.
func (h *house) run(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Helper()
			h.ask(t, r)
		})
	}
}

// ask sends a row over a connection of its own and holds the answer against the
// row, the rules of every answer, and the description.
func (h *house) ask(t testing.TB, r row) reply {
	t.Helper()
	h.remember(r.body)
	conn := h.dial(t)
	defer conn.Close()
	go func() {
		// A server that has heard enough may close; what it said is what counts.
		_, _ = io.WriteString(conn, h.text(r))
	}()
	return h.hear(t, r, bufio.NewReader(conn))
}

func (h *house) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// text is the request as bytes.
func (h *house) text(r row) string {
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
	if key := h.keys[r.as]; key != "" {
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

// hear reads one answer and judges it.
func (h *house) hear(t testing.TB, r row, from *bufio.Reader) reply {
	t.Helper()
	response, err := http.ReadResponse(from, &http.Request{Method: r.method})
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
			t.Fatal(err)
		}
		if body, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	got := reply{response, body}
	h.every(t, r, got)
	h.described(t, r, got)
	r.judge(t, got)
	return got
}

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// every is what API.md says of every answer.
func (h *house) every(t testing.TB, r row, got reply) {
	t.Helper()
	if id := got.Header.Get("X-Request-Id"); !requestIDs.MatchString(id) {
		t.Errorf("X-Request-Id is %q", id)
	}
	media := cmp.Or(r.media, "application/json")
	if len(got.body) > 0 && got.Header.Get("Content-Type") != media {
		t.Errorf("Content-Type is %q", got.Header.Get("Content-Type"))
	}
	if len(got.body) > 0 && r.media == "" && !json.Valid(got.body) {
		t.Errorf("the body is no JSON: %s", got.body)
	}
	if got.StatusCode >= 500 && got.StatusCode != r.status {
		t.Errorf("status %d: %s\n%s", got.StatusCode, got.body, h.log)
	}
	codes, err := errorCodes()
	if err != nil {
		t.Fatal(err)
	}
	if code := got.Header.Get(apitypes.ErrorCode); codes[code] != (got.StatusCode >= 400) || got.StatusCode < 400 && code != "" {
		t.Errorf("X-Error-Code of a %d is %q", got.StatusCode, code)
	}
	if r.method == http.MethodHead && len(got.body) > 0 {
		t.Errorf("HEAD has a body: %s", got.body)
	}
}

// described holds the answer against openapi.yaml. What has no route there must be
// a refusal of the one shape.
func (h *house) described(t testing.TB, r row, got reply) {
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
		if route, params, err := h.router.FindRoute(request); err == nil {
			answer := &openapi3filter.ResponseValidationInput{
				RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route},
				Status:                 got.StatusCode, Header: got.Header,
				Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: r.method == http.MethodHead},
			}
			if err := openapi3filter.ValidateResponse(t.Context(), answer.SetBodyBytes(got.body)); err != nil {
				t.Errorf("against the description: %v\n%s", err, got.body)
			}
			return
		}
	}
	undescribed(t, r, got)
}

func undescribed(t testing.TB, r row, got reply) {
	t.Helper()
	if r.method == http.MethodOptions && got.StatusCode == http.StatusNoContent {
		return
	}
	if got.StatusCode < 400 {
		t.Errorf("an answer that nothing describes: %d %s", got.StatusCode, got.body)
	}
	if r.method == http.MethodHead {
		return
	}
	var members map[string]any
	if err := json.Unmarshal(got.body, &members); err != nil {
		t.Errorf("%s: %v", got.body, err)
	}
	if message, _ := members["message"].(string); len(members) != 1 || message == "" {
		t.Errorf("no failure body: %s", got.body)
	}
}

var opaqueIDs = regexp.MustCompile(`"id":"[0-9A-Za-z]{8,}"`)

func (r row) judge(t testing.TB, got reply) {
	t.Helper()
	if got.StatusCode != r.status {
		t.Errorf("status %d, want %d: %s", got.StatusCode, r.status, got.body)
	}
	text := opaqueIDs.ReplaceAllString(string(got.body), `"id":"ID"`)
	if r.want != "" && text != r.want {
		t.Errorf("body\n%s, want\n%s", text, r.want)
	}
	for _, fragment := range r.has {
		if !strings.Contains(text, fragment) {
			t.Errorf("body %s lacks %s", text, fragment)
		}
	}
	for name, value := range r.headers {
		if got.Header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), value)
		}
	}
}

// decode reads the body of an answer.
func decode[T any](t testing.TB, got reply) (v T) {
	t.Helper()
	if err := json.Unmarshal(got.body, &v); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	return v
}

// says is the body of a refusal; invalid of a 422 about one field.
func says(message string) string { return fmt.Sprintf(`{"message":%q}`, message) }

func invalid(field, sentence string) string {
	return fmt.Sprintf(`{"message":%q,"errors":{%q:[%q]}}`, sentence, field, sentence)
}
