package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// judge returns what is wrong with a response. commits is the number of commits that the request caused.
func (f *fuzzer) judge(r *request, got *reply, commits uint64) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if got.status >= http.StatusInternalServerError {
		say("status %d\n%s", got.status, f.log.tail())
	}
	if got.status == http.StatusBadRequest && withoutHandler(r, got) {
		return wrong
	}
	if !requestIDs.MatchString(got.header.Get("X-Request-Id")) {
		say("the request id is %q", got.header.Get("X-Request-Id"))
	}
	if r.method == http.MethodHead && len(got.body) > 0 {
		say("HEAD has a body")
	}
	reads := slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}, r.method)
	if r.op.path == "/v1/events" && got.status == http.StatusOK {
		commits = 0 // it has written first what was gathered of views
	}
	if commits > 0 && (reads || got.status >= http.StatusMultipleChoices) {
		say("%d commits were made by a request that reads, or was refused", commits)
	}
	if why := f.described(r, got); why != "" {
		say("%s", why)
	}
	if why := f.allowed(r, got); why != "" {
		say("%s", why)
	}
	if r.answered != nil {
		f.again(r, got, commits, say)
	}
	return wrong
}

// withoutHandler reports whether net/http responded before any handler.
func withoutHandler(r *request, got *reply) bool {
	_, err := url.ParseRequestURI(r.target)
	return bytes.HasPrefix(got.body, []byte("400 Bad Request")) ||
		r.method == http.MethodHead && err != nil && got.header.Get("X-Request-Id") == ""
}

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// again checks the response to a repeated request with the same idempotency key.
func (f *fuzzer) again(r *request, got *reply, commits uint64, say func(string, ...any)) {
	switch {
	case got.status != r.answered.status || string(got.body) != string(r.answered.body):
		say("another answer than the first time: %d %s", r.answered.status, r.answered.body)
	case !r.replayed(got):
		say("it is not told that the answer is given again")
	case commits > 0:
		say("it was done again")
	}
}

// readBack reads a changed record and compares it with the response to the change.
func (f *fuzzer) readBack(r *request, got *reply) {
	changes := r.method == http.MethodPost || r.method == http.MethodPatch
	if !changes || got.status >= http.StatusMultipleChoices || r.replayed(got) || !json.Valid(got.body) {
		return
	}
	var said, found struct{ Data map[string]any }
	if json.Unmarshal(got.body, &said) != nil || said.Data == nil {
		return // an upload, whose response contains files
	}
	t := f.record(said.Data, nil)
	if t == nil {
		return
	}
	look := &request{op: r.op, as: "read", method: http.MethodGet, target: recordPaths[t.recordKind] + "/" + t.id}
	for _, h := range r.header {
		if h[0] == "Host" {
			look.header = append(look.header, h) // links in the response begin with it
		}
	}
	now, err := f.send(look)
	if err != nil || now.status != http.StatusOK || json.Unmarshal(now.body, &found) != nil ||
		!reflect.DeepEqual(said.Data, found.Data) || now.header.Get("ETag") != got.header.Get("ETag") {
		f.Errorf("what a change was answered with is not what is there: %v\n%+v\n%s", err, now, f.describe(r, got))
	}
}

// described checks a response against the description.
func (f *fuzzer) described(r *request, got *reply) string {
	method := r.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	route, params := f.route(method, r.target)
	if route == nil {
		return undescribed(r, got)
	}
	answers := route.Operation.Responses
	answer := answers.Status(got.status)
	if answer == nil {
		return fmt.Sprintf("%s %s does not describe status %d", route.Method, route.Path, got.status)
	}
	isJSON := false
	if media := got.header.Get("Content-Type"); media != "" || len(got.body) > 0 {
		kind, _, err := mime.ParseMediaType(media)
		if err != nil {
			return fmt.Sprintf("the Content-Type is %q", media)
		}
		if content := answer.Value.Content; got.status != http.StatusNoContent && len(content) > 0 && content.Get(kind) == nil ||
			len(content) == 0 && len(got.body) > 0 {
			return fmt.Sprintf("the Content-Type of %d is %q, which is not described", got.status, media)
		}
		isJSON = kind == "application/json"
	} else if len(answer.Value.Content) > 0 && r.method != http.MethodHead && got.status == http.StatusOK &&
		!strings.HasPrefix(route.Path, "/dl/") {
		return "there is no body"
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: httptest.NewRequest(method, "http://vault.test/",
			http.NoBody), PathParams: params, Route: route},
		Status: got.status, Header: got.header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: r.method == http.MethodHead || !isJSON},
	}
	if err := openapi3filter.ValidateResponse(f.Context(), input.SetBodyBytes(got.body)); err != nil {
		return fmt.Sprintf("against the description: %v", err)
	}
	return ""
}

// ambiguous matches paths with more than one interpretation, which the server rejects.
var ambiguous = regexp.MustCompile(`(?i)%2[ef]|%5c|%00|\\`)

// route returns the operation of a path in any spelling, or nil if the path or the method is not in the description.
func (f *fuzzer) route(method, target string) (*routers.Route, map[string]string) {
	where, _, _ := strings.Cut(target, "?")
	cleaned := "/" + strings.Join(strings.FieldsFunc(where, func(c rune) bool { return c == '/' }), "/")
	if strings.HasPrefix(cleaned, "/v1/") || strings.HasPrefix(cleaned, "/api/v1/") {
		where = strings.TrimPrefix(cleaned, "/api")
	}
	if method != strings.ToUpper(method) || path.Clean(where) != where || ambiguous.MatchString(where) {
		return nil, nil
	}
	request, err := http.NewRequest(method, "http://vault.test"+where, http.NoBody)
	if err != nil {
		return nil, nil
	}
	route, params, err := f.api.router.FindRoute(request)
	if err != nil {
		return nil, nil
	}
	return route, params
}

// undescribed checks the response of a path that is not in the description: a JSON error under /v1, otherwise a page.
func undescribed(r *request, got *reply) string {
	if r.method == http.MethodOptions && got.status == http.StatusNoContent {
		if got.header.Get("Allow") == "" {
			return "OPTIONS says nothing"
		}
		return ""
	}
	if got.header.Get("Content-Type") == "text/html; charset=utf-8" && !strings.HasPrefix(r.target, "/v1/") {
		return ""
	}
	if got.status < http.StatusBadRequest {
		return fmt.Sprintf("status %d, which nothing describes", got.status)
	}
	if got.status == http.StatusMethodNotAllowed && got.header.Get("Allow") == "" {
		return "405 without Allow"
	}
	if r.method == http.MethodHead {
		return ""
	}
	var members map[string]any
	if err := json.Unmarshal(got.body, &members); err != nil {
		return fmt.Sprintf("the refusal is no JSON: %v", err)
	}
	if message, _ := members["message"].(string); len(members) != 1 || message == "" {
		return "the refusal has another shape"
	}
	return ""
}

// allowed checks a response against the permissions of the key.
func (f *fuzzer) allowed(r *request, got *reply) string {
	under := strings.HasPrefix(r.target, "/v1/") || strings.HasPrefix(r.target, "/metrics")
	if r.method == http.MethodOptions || got.status == http.StatusBadRequest || !under || r.op.open {
		return ""
	}
	as := r.as
	if r.has("Authorization") {
		as = "garbage" // a second one, or one of another scheme
	}
	switch as {
	case "full", "read", "events", "metrics":
	case "none":
		if r.op.path == "/metrics" && r.local() {
			return ""
		}
		fallthrough
	default:
		if got.status != http.StatusUnauthorized {
			return fmt.Sprintf("status %d for a key that opens nothing", got.status)
		}
		return ""
	}
	route, _ := f.route(r.method, r.target)
	if r.method == http.MethodHead {
		route, _ = f.route(http.MethodGet, r.target)
	}
	if route == nil {
		if got.status < http.StatusBadRequest {
			return "something was done at an address that is not described"
		}
		return ""
	}
	for _, o := range f.api.operations {
		if o.id == route.Operation.OperationID {
			if may := o.may(as, r.method); may == (got.status == http.StatusForbidden) {
				return fmt.Sprintf("status %d: a key of kind %s may: %v", got.status, as, may)
			}
		}
	}
	return ""
}

// local reports whether a request appears to come from a program on this machine.
func (r *request) local() bool {
	for _, h := range r.header {
		if h[0] == "X-Forwarded-For" || h[0] == "X-Forwarded-Host" || h[0] == "Origin" || h[0] == "Host" && h[1] != "localhost" {
			return false
		}
	}
	return r.has("Host") && (r.method == http.MethodGet || r.method == http.MethodHead)
}

// tail returns the end of the log.
func (l *logBuffer) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.b.String()
	return text[max(0, len(text)-3000):]
}
