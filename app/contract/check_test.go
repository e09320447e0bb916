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

// checkReply returns the errors of a response. commits is the number of commits that the request caused.
func (f *fuzzer) checkReply(r *request, got *reply, commits uint64) (failures []string) {
	report := func(format string, args ...any) { failures = append(failures, fmt.Sprintf(format, args...)) }
	if got.status >= http.StatusInternalServerError {
		report("status %d, want no 5xx\n%s", got.status, f.log.tail())
	}
	if got.status == http.StatusBadRequest && withoutHandler(r, got) {
		return failures
	}
	if !requestIDs.MatchString(got.header.Get("X-Request-Id")) {
		report("X-Request-Id = %q, want 1 to 128 letters, digits, dots, dashes, or underscores", got.header.Get("X-Request-Id"))
	}
	if r.method == http.MethodHead && len(got.body) > 0 {
		report("response to HEAD has a body of %d bytes, want none", len(got.body))
	}
	reads := slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}, r.method)
	if commits > 0 && (reads || got.status >= http.StatusMultipleChoices) {
		report("commits of a read or a rejected request = %d, want 0", commits)
	}
	if problem := f.checkDescription(r, got); problem != "" {
		report("%s", problem)
	}
	if problem := f.checkPermission(r, got); problem != "" {
		report("%s", problem)
	}
	if r.firstReply != nil {
		f.checkReplay(r, got, commits, report)
	}
	return failures
}

// withoutHandler reports whether net/http responded before any handler.
func withoutHandler(r *request, got *reply) bool {
	_, err := url.ParseRequestURI(r.target)
	return bytes.HasPrefix(got.body, []byte("400 Bad Request")) ||
		r.method == http.MethodHead && err != nil && got.header.Get("X-Request-Id") == ""
}

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// checkReplay checks the response to a repeated request with the same idempotency key.
func (f *fuzzer) checkReplay(r *request, got *reply, commits uint64, report func(string, ...any)) {
	switch {
	case got.status != r.firstReply.status || string(got.body) != string(r.firstReply.body):
		report("repeated request: response differs from the first one, %d %s", r.firstReply.status, r.firstReply.body)
	case !r.replayed(got):
		report("repeated request: response lacks Idempotent-Replayed: true")
	case commits > 0:
		report("repeated request: %d commits, want 0", commits)
	}
}

// readBack reads a changed record and compares it with the response to the change.
func (f *fuzzer) readBack(r *request, got *reply) {
	changes := r.method == http.MethodPost || r.method == http.MethodPatch || r.method == http.MethodPut
	if !changes || got.status >= http.StatusMultipleChoices || r.replayed(got) || !json.Valid(got.body) {
		return
	}
	if r.method == http.MethodPut {
		f.readPart(r, got)
		return
	}
	var changed, found struct{ Data map[string]any }
	if json.Unmarshal(got.body, &changed) != nil || changed.Data == nil {
		return // an upload, whose response contains files
	}
	t := f.record(changed.Data, nil)
	if t == nil || t.recordKind == "note" {
		return // checkNotes reads notes
	}
	as := "read"
	if t.recordKind == "view" { // another key doesn't see it
		as = "full"
	}
	read := &request{op: r.op, as: as, method: http.MethodGet, target: recordPaths[t.recordKind] + "/" + t.id}
	for _, h := range r.header {
		if h[0] == "Host" {
			read.header = append(read.header, h) // links in the response begin with it
		}
	}
	now, err := f.send(read)
	if err != nil || now.status != http.StatusOK || json.Unmarshal(now.body, &found) != nil ||
		!reflect.DeepEqual(changed.Data, found.Data) || now.header.Get("ETag") != got.header.Get("ETag") {
		f.Errorf("record after a change differs from the response to the change: %v\n%+v\n%s", err, now, f.describe(r, got))
	}
}

// checkDescription checks a response against the description.
func (f *fuzzer) checkDescription(r *request, got *reply) string {
	method := r.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	route, params := f.route(method, r.target)
	if route == nil {
		return checkUndescribed(r, got)
	}
	described := route.Operation.Responses.Status(got.status)
	if described == nil {
		return fmt.Sprintf("status %d of %s %s, which is not described", got.status, route.Method, route.Path)
	}
	isJSON := false
	if media := got.header.Get("Content-Type"); media != "" || len(got.body) > 0 {
		kind, _, err := mime.ParseMediaType(media)
		if err != nil {
			return fmt.Sprintf("Content-Type = %q, want a media type", media)
		}
		if content := described.Value.Content; got.status != http.StatusNoContent && len(content) > 0 && content.Get(kind) == nil ||
			len(content) == 0 && len(got.body) > 0 {
			return fmt.Sprintf("Content-Type of status %d = %q, which is not described", got.status, media)
		}
		isJSON = kind == "application/json"
	} else if len(described.Value.Content) > 0 && r.method != http.MethodHead && got.status == http.StatusOK &&
		!strings.HasPrefix(route.Path, "/dl/") {
		return "body is empty, want the described one"
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: httptest.NewRequest(method, "http://vault.test/",
			http.NoBody), PathParams: params, Route: route},
		Status: got.status, Header: got.header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: r.method == http.MethodHead || !isJSON},
	}
	if err := openapi3filter.ValidateResponse(f.Context(), input.SetBodyBytes(got.body)); err != nil {
		return fmt.Sprintf("response doesn't match the description: %v", err)
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

// checkUndescribed checks the response of a path that is not in the description: a JSON error under /v1, otherwise a page.
func checkUndescribed(r *request, got *reply) string {
	if r.method == http.MethodOptions && got.status == http.StatusNoContent {
		if got.header.Get("Allow") == "" {
			return "response to OPTIONS lacks Allow"
		}
		return ""
	}
	if got.header.Get("Content-Type") == "text/html; charset=utf-8" && !strings.HasPrefix(r.target, "/v1/") {
		return ""
	}
	if got.status < http.StatusBadRequest {
		return fmt.Sprintf("status %d of a path that is not described, want an error", got.status)
	}
	if got.status == http.StatusMethodNotAllowed && got.header.Get("Allow") == "" {
		return "response with status 405 lacks Allow"
	}
	if r.method == http.MethodHead {
		return ""
	}
	var members map[string]any
	if err := json.Unmarshal(got.body, &members); err != nil {
		return fmt.Sprintf("error response is not JSON: %v", err)
	}
	if message, _ := members["message"].(string); len(members) != 1 || message == "" {
		return fmt.Sprintf("error response = %s, want a message alone", got.body)
	}
	return ""
}

// checkPermission checks a response against the permissions of the key.
func (f *fuzzer) checkPermission(r *request, got *reply) string {
	needsKey := strings.HasPrefix(r.target, "/v1/") || strings.HasPrefix(r.target, "/metrics")
	if r.method == http.MethodOptions || got.status == http.StatusBadRequest || !needsKey || r.op.open {
		return ""
	}
	as := r.as
	if r.has("Authorization") {
		as = "garbage" // a second header, or one with another scheme
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
			return fmt.Sprintf("status %d for the key %q, want 401", got.status, as)
		}
		return ""
	}
	route, _ := f.route(r.method, r.target)
	if r.method == http.MethodHead {
		route, _ = f.route(http.MethodGet, r.target)
	}
	if route == nil {
		if got.status < http.StatusBadRequest {
			return fmt.Sprintf("status %d of a path that is not described, want an error", got.status)
		}
		return ""
	}
	for _, o := range f.api.operations {
		if o.id == route.Operation.OperationID {
			if permitted := o.may(as, r.method); permitted == (got.status == http.StatusForbidden) {
				return fmt.Sprintf("status %d for the key %q, permitted: %v", got.status, as, permitted)
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
