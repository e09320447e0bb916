package ui_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ui"
	"deedkeep/app/vaulttest"
)

// accessExceptions lists routes whose access level isn't the one that expectedAccess derives from
// their address and method. The value is the actual level.
var accessExceptions = map[string]string{
	"GET /changes":       "",                     // responds with 204 to those who may not read records
	"POST /changes/here": string(model.PermRead), // viewers are seen, too
	// Uploads report a missing session with the status that tus requires; see TestMatrixUploads.
	"OPTIONS /uploads": "", "POST /uploads": "", "GET /uploads/{id}": "", "PATCH /uploads/{id}": "", "DELETE /uploads/{id}": "",
	"GET /logo/{version}": "", // shown on the sign-in page
	// Everyone may save views and choose columns.
	"POST /columns": string(model.PermRead), "POST /views": string(model.PermRead), "POST /views/{n}": string(model.PermRead),
	"POST /views/{n}/delete": string(model.PermRead), "POST /columns/widths": string(model.PermRead),
	"POST /views/{n}/start": "signed in",
	// Only those who can accept suggestions see them.
	"GET /abstracts/{id}/suggestions": string(model.PermWrite), "GET /documents/{n}/packet": string(model.PermWrite),
	"GET /vault/to-abstracts": string(model.PermWrite), "GET /vault/{n}/to-abstracts": string(model.PermWrite),
}

// expectedAccess returns the access level that a route should have according to its address and
// method. The test compares it with the route's actual level.
func expectedAccess(pattern string) string {
	if need, found := accessExceptions[pattern]; found {
		return need
	}
	method, path, _ := strings.Cut(pattern, " ")
	within := func(prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }
	switch {
	case within("/sign-in"):
		return ""
	case within("/join"), path == "/docs": // contains no data of the vault
		return "invited"
	case within("/sign-out"), within("/me"):
		return "signed in"
	case within("/admin"):
		return string(model.PermAdmin)
	case method != http.MethodGet, within("/trash"), within("/uploads"), strings.HasSuffix(path, "/new"), strings.HasSuffix(path, "/edit"),
		strings.HasSuffix(path, "/paste"), strings.HasSuffix(path, "/runsheet/upload"):
		return string(model.PermWrite)
	}
	return string(model.PermRead)
}

// Every route has the access level that its address and method suggest.
func TestRouteAccess(t *testing.T) {
	t.Parallel()
	table := ui.Routes()
	for _, r := range table {
		if want := expectedAccess(r.Pattern); r.Need != want {
			t.Errorf("access level of %s = %q, want %q: fix the table, or add the page to accessExceptions", r.Pattern, r.Need, want)
		}
	}
	for pattern := range accessExceptions {
		if !slices.ContainsFunc(table, func(r ui.Route) bool { return r.Pattern == pattern }) {
			t.Errorf("accessExceptions has %s, which is not a route", pattern)
		}
	}
}

// visitor is a user, API key, or anonymous client that the test uses to request every page.
type visitor struct {
	name   string
	header http.Header
	// want returns the expected status for a page with the given access level, and the redirect
	// target if there is one.
	want func(method, need string) (status int, to string)
}

// accessMatrix is a server with a user of each role. It checks access to all pages.
type accessMatrix struct {
	*testServer
	gate http.Handler
}

// rolePermissions lists the access levels that each role includes, independently of the code under
// test.
var rolePermissions = map[model.Role][]string{
	model.RoleViewer: {"", "invited", "signed in", "read"},
	model.RoleStaff:  {"", "invited", "signed in", "read", "write"},
	model.RoleAdmin:  {"", "invited", "signed in", "read", "write", "administer"},
}

func newAccessMatrix(t *testing.T, required bool) *accessMatrix {
	t.Helper()
	h := newEmptyTestServer(t, func(o *instance.Options) {
		o.Load = vaulttest.With(map[string]string{"users.require_two_factor": strconv.FormatBool(required)})
	})
	gate, err := ui.Gate(ui.Options{
		App: h.vault, Links: h.links, Address: func(*http.Request) string { return "192.0.2.1" },
		Origin: func(r *http.Request) (string, error) { return "http://" + r.Host, nil }, Now: h.clock.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("ui.Gate: %v", err)
	}
	return &accessMatrix{testServer: h, gate: gate}
}

func (m *accessMatrix) cookieHeader(t *testing.T, name string) http.Header {
	t.Helper()
	return http.Header{"Cookie": {"deedkeep=" + m.signIn(t, name, "")}}
}

// send sends a request. If it has a form, the form is sent as the pages send it.
func (m *accessMatrix) send(t *testing.T, method, path string, header http.Header) *http.Response {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, "http://vault.test"+path, strings.NewReader(""))
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response := httptest.NewRecorder()
	m.gate.ServeHTTP(response, request)
	return response.Result()
}

// anonymousAccess returns the expected response to a visitor without a session. The visitor is
// redirected to the sign-in page, which later redirects back.
func anonymousAccess(_, need string) (int, string) {
	if need == "" || need == "invited" {
		return ui.Reached, ""
	}
	return http.StatusSeeOther, "/sign-in"
}

func roleAccess(role model.Role) func(string, string) (int, string) {
	return func(_, need string) (int, string) {
		if slices.Contains(rolePermissions[role], need) {
			return ui.Reached, ""
		}
		return http.StatusForbidden, ""
	}
}

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// patternMethods returns the HTTP methods that a route pattern accepts. A pattern without a method
// accepts all of them.
func patternMethods(pattern string) []string {
	method, _, found := strings.Cut(pattern, " ")
	switch {
	case !found:
		return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	case method == http.MethodGet:
		return []string{"GET", "HEAD"}
	}
	return []string{method}
}

// examplePath returns a path that matches the route pattern.
func examplePath(pattern string) string {
	_, path, found := strings.Cut(pattern, " ")
	if !found {
		path = pattern
	}
	return placeholder.ReplaceAllString(strings.ReplaceAll(path, "{$}", ""), "1")
}

// examplePath returns a path that matches the route pattern and has valid IDs.
func (m *accessMatrix) examplePath(pattern string) string {
	path := examplePath(pattern)
	for _, list := range []string{"abstracts", "orders"} {
		path = strings.Replace(path, "/"+list+"/1", "/"+list+"/"+m.vault.Secrets.IDs(list).Encode(1), 1)
	}
	return path
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	m := newAccessMatrix(t, false)
	for name, role := range map[string]model.Role{"viewer": model.RoleViewer, "staff": model.RoleStaff, "admin": model.RoleAdmin,
		"gone": model.RoleAdmin, "ended": model.RoleAdmin} {
		m.createUser(t, name, role)
	}
	visitors := []visitor{
		{"signed out", nil, anonymousAccess},
		{"viewer", m.cookieHeader(t, "viewer"), roleAccess(model.RoleViewer)},
		{"staff", m.cookieHeader(t, "staff"), roleAccess(model.RoleStaff)},
		{"admin", m.cookieHeader(t, "admin"), roleAccess(model.RoleAdmin)},
		{"bad token", http.Header{"Cookie": {"deedkeep=" + strings.Repeat("0", 43)}}, anonymousAccess},
		{"key as a cookie", http.Header{"Cookie": {"deedkeep=dk_live_x"}}, anonymousAccess},
		{"key", http.Header{"Authorization": {"Bearer " + m.createKey(t)}}, anonymousAccess},
		{"disabled", m.cookieHeader(t, "gone"), anonymousAccess},
		{"signed out", m.cookieHeader(t, "ended"), anonymousAccess},
	}
	for _, site := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"https://elsewhere.example"}}, {"Origin": {"null"}}} {
		from := m.cookieHeader(t, "admin")
		for name, value := range site {
			from[name] = value
		}
		visitors = append(visitors, visitor{"admin from another site", from, func(method, need string) (int, string) {
			if isSafe(method) {
				return ui.Reached, ""
			}
			return http.StatusForbidden, ""
		}})
	}
	sameOrigin := m.cookieHeader(t, "admin")
	sameOrigin.Set("Sec-Fetch-Site", "same-origin")
	visitors = append(visitors, visitor{"admin from this site", sameOrigin, roleAccess(model.RoleAdmin)})
	operator := model.Actor{Kind: "operator"}
	gone, err := m.vault.Users.GetByName(t.Context(), "gone")
	if err != nil {
		t.Fatalf("Users.GetByName: %v", err)
	}
	if _, err := m.vault.Users.Disable(t.Context(), operator, gone.ID); err != nil {
		t.Fatalf("Users.Disable: %v", err)
	}
	token := strings.TrimPrefix(visitors[8].header.Get("Cookie"), "deedkeep=")
	if err := m.vault.Sessions.SignOut(t.Context(), token, ""); err != nil {
		t.Fatalf("Sessions.SignOut: %v", err)
	}
	m.checkVisitors(t, visitors)
	// An expired session doesn't grant access.
	m.clock.Advance(15 * 24 * 3600e9)
	m.checkVisitors(t, []visitor{{"admin with an expired session", visitors[3].header, anonymousAccess}})
}

// Users who still have to set up two-factor authentication can use only the account page.
func TestMatrixEnrollment(t *testing.T) {
	t.Parallel()
	m := newAccessMatrix(t, true)
	m.createUser(t, "admin", model.RoleAdmin)
	m.checkVisitors(t, []visitor{{"must enroll", m.cookieHeader(t, "admin"), func(_, need string) (int, string) {
		if need == "" || need == "invited" || need == "signed in" {
			return ui.Reached, ""
		}
		return http.StatusSeeOther, "/me"
	}}})
}

// Until the first administrator is created, only the setup link and a page that explains it are
// available.
func TestMatrixClosed(t *testing.T) {
	t.Parallel()
	m := newAccessMatrix(t, false)
	m.createUser(t, "viewer", model.RoleViewer)
	m.checkVisitors(t, []visitor{{"signed out", nil, func(_, need string) (int, string) {
		if need == "invited" {
			return ui.Reached, ""
		}
		return http.StatusServiceUnavailable, ""
	}}})
}

// Upload requests check access themselves and respond with statuses that scripts understand.
func TestMatrixUploads(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createUser(t, "viewer", model.RoleViewer)
	h.createUser(t, "staff", model.RoleStaff)
	visitors := map[string]int{"X-No-Session: 1": 401, "Cookie: deedkeep=" + strings.Repeat("0", 43): 401,
		h.cookieFor(t, "viewer"): 403, h.cookieFor(t, "staff"): 0}
	found := 0
	for _, r := range ui.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if !strings.HasPrefix(path, "/uploads") || method == http.MethodOptions { // OPTIONS requires no session
			continue
		}
		found++
		for header, want := range visitors {
			got := h.send(t, method, examplePath(r.Pattern), header, "Tus-Resumable: 1.0.0", "Content-Length: 0")
			if want == 0 && (got.StatusCode == 401 || got.StatusCode == 403) || want != 0 && got.StatusCode != want {
				t.Errorf("%s by %.20s: status %d, want %d", r.Pattern, header, got.StatusCode, want)
			}
		}
		got := h.send(t, method, examplePath(r.Pattern), h.cookieFor(t, "staff"), "Tus-Resumable: 1.0.0", "Content-Length: 0",
			"Sec-Fetch-Site: cross-site")
		if !isSafe(method) && got.StatusCode != 403 {
			t.Errorf("%s from another site: status %d, want 403", r.Pattern, got.StatusCode)
		}
	}
	if found == 0 {
		t.Error("no routes under /uploads, want some")
	}
}

// checkVisitors requests every page as every visitor.
func (m *accessMatrix) checkVisitors(t *testing.T, visitors []visitor) {
	t.Helper()
	for _, r := range ui.Routes() {
		for _, method := range patternMethods(r.Pattern) {
			for _, v := range visitors {
				path := m.examplePath(r.Pattern)
				got := m.send(t, method, path, v.header)
				status, to := v.want(method, expectedAccess(r.Pattern))
				if to == "/sign-in" && isSafe(method) && path != "/" {
					to += "?to=" + url.QueryEscape(path)
				}
				if got.StatusCode != status || to != got.Header.Get("Location") {
					t.Errorf("%s, %s %s: status %d to %q, want %d to %q", v.name, method, r.Pattern, got.StatusCode,
						got.Header.Get("Location"), status, to)
				}
				v.checkScriptRequest(t, m, method, r.Pattern, to)
			}
		}
	}
}

// checkScriptRequest sends the same request as a script. Scripts get redirects of the page in a
// header.
func (v visitor) checkScriptRequest(t *testing.T, m *accessMatrix, method, pattern, to string) {
	t.Helper()
	if to == "" {
		return
	}
	header := v.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("HX-Request", "true")
	header.Set("HX-Current-URL", "http://vault.test/abstracts?status=open")
	got := m.send(t, method, examplePath(pattern), header)
	if strings.HasPrefix(to, "/sign-in") && !isSafe(method) {
		to = "" // not redirected: the page keeps the submitted text
	} else if strings.HasPrefix(to, "/sign-in") {
		to = "/sign-in?to=%2Fabstracts%3Fstatus%3Dopen"
	}
	if got.StatusCode != http.StatusUnauthorized || got.Header.Get("HX-Redirect") != to {
		t.Errorf("%s, %s %s by a script: status %d to %q, want 401 to %q", v.name, method, pattern, got.StatusCode,
			got.Header.Get("HX-Redirect"), to)
	}
}

func (m *accessMatrix) createKey(t *testing.T) string {
	t.Helper()
	text, _, err := m.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: "closing"})
	if err != nil {
		t.Fatalf("Keys.Create: %v", err)
	}
	return text
}
