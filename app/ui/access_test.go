package ui_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ui"
)

// otherwise lists the pages whose access level differs from the one that their address and method
// suggest (see expected), each with the reason.
var otherwise = map[string]string{
	// Uploads report a missing session as tus requires: see TestMatrixUploads.
	"OPTIONS /uploads": "", "POST /uploads": "", "GET /uploads/{id}": "", "PATCH /uploads/{id}": "", "DELETE /uploads/{id}": "",
}

// expected returns the access level of a route by its address and method alone, to double-check the
// routes.
func expected(pattern string) string {
	if need, found := otherwise[pattern]; found {
		return need
	}
	method, path, _ := strings.Cut(pattern, " ")
	within := func(place string) bool { return path == place || strings.HasPrefix(path, place+"/") }
	switch {
	case within("/sign-in"):
		return ""
	case within("/join"), path == "/docs": // which shows no data
		return "invited"
	case within("/sign-out"), within("/me"):
		return "signed in"
	case within("/admin"):
		return string(model.PermAdmin)
	case method != http.MethodGet, within("/trash"), strings.HasSuffix(path, "/new"), within("/uploads"):
		return string(model.PermWrite)
	}
	return string(model.PermRead)
}

// Every route has the access level that its address suggests.
func TestNeeds(t *testing.T) {
	t.Parallel()
	table := ui.Routes()
	for _, r := range table {
		if want := expected(r.Pattern); r.Need != want {
			t.Errorf("%s needs %q, want %q: mend the table, or name the page in otherwise", r.Pattern, r.Need, want)
		}
	}
	for pattern := range otherwise {
		if !slices.ContainsFunc(table, func(r ui.Route) bool { return r.Pattern == pattern }) {
			t.Errorf("%s in otherwise is no page", pattern)
		}
	}
}

// asker is a kind of visitor that requests every page.
type asker struct {
	name   string
	header http.Header
	// want returns the expected status for a page with that access level, and the target of a
	// redirect.
	want func(method, need string) (status int, to string)
}

// matrix is a vault with one user of each kind, and the access check of all pages.
type matrix struct {
	*testServer
	gate http.Handler
}

// may repeats the permissions of the roles.
var may = map[model.Role][]string{
	model.RoleViewer: {"", "invited", "signed in", "read"},
	model.RoleStaff:  {"", "invited", "signed in", "read", "write"},
	model.RoleAdmin:  {"", "invited", "signed in", "read", "write", "administer"},
}

func newMatrix(t *testing.T, required bool) *matrix {
	t.Helper()
	h := openEmpty(t, func(o *instance.Options) { o.Settings.Users.RequireTwoFactor = required })
	gate, err := ui.Gate(ui.Options{
		Vault: h.vault, Links: h.links, Address: func(*http.Request) string { return "192.0.2.1" },
		Origin: func(r *http.Request) (string, error) { return "http://" + r.Host, nil }, Now: h.clock.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("ui.Gate: %v", err)
	}
	return &matrix{testServer: h, gate: gate}
}

func (m *matrix) cookie(t *testing.T, name string) http.Header {
	t.Helper()
	return http.Header{"Cookie": {"deedkeep=" + m.session(t, name, "")}}
}

// ask sends a request with a form as pages send it.
func (m *matrix) ask(t *testing.T, method, path string, header http.Header) *http.Response {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, "http://vault.test"+path, strings.NewReader(""))
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	m.gate.ServeHTTP(answer, request)
	return answer.Result()
}

// anonymous is a visitor without a session, who is redirected to the sign-in page and from there back.
func anonymous(_, need string) (int, string) {
	if need == "" || need == "invited" {
		return ui.Reached, ""
	}
	return http.StatusSeeOther, "/sign-in"
}

func role(role model.Role) func(string, string) (int, string) {
	return func(_, need string) (int, string) {
		if slices.Contains(may[role], need) {
			return ui.Reached, ""
		}
		return http.StatusForbidden, ""
	}
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// methods returns the methods that a pattern accepts; "" means all.
func methods(pattern string) []string {
	method, _, found := strings.Cut(pattern, " ")
	switch {
	case !found:
		return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	case method == http.MethodGet:
		return []string{"GET", "HEAD"}
	}
	return []string{method}
}

// address returns an address that matches a pattern.
func address(pattern string) string {
	_, path, found := strings.Cut(pattern, " ")
	if !found {
		path = pattern
	}
	return placeholder.ReplaceAllString(strings.ReplaceAll(path, "{$}", ""), "1")
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	m := newMatrix(t, false)
	for name, role := range map[string]model.Role{"viewer": model.RoleViewer, "staff": model.RoleStaff, "admin": model.RoleAdmin, "gone": model.RoleAdmin, "ended": model.RoleAdmin} {
		m.user(t, name, role)
	}
	askers := []asker{
		{"signed out", nil, anonymous},
		{"viewer", m.cookie(t, "viewer"), role(model.RoleViewer)},
		{"staff", m.cookie(t, "staff"), role(model.RoleStaff)},
		{"admin", m.cookie(t, "admin"), role(model.RoleAdmin)},
		{"bad token", http.Header{"Cookie": {"deedkeep=" + strings.Repeat("0", 43)}}, anonymous},
		{"key as a cookie", http.Header{"Cookie": {"deedkeep=dk_live_x"}}, anonymous},
		{"key", http.Header{"Authorization": {"Bearer " + m.key(t)}}, anonymous},
		{"disabled", m.cookie(t, "gone"), anonymous},
		{"signed out", m.cookie(t, "ended"), anonymous},
	}
	for _, site := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://elsewhere.example"}}, {"Origin": {"null"}}} {
		from := m.cookie(t, "admin")
		for name, value := range site {
			from[name] = value
		}
		askers = append(askers, asker{"admin from elsewhere", from, func(method, need string) (int, string) {
			if safe(method) {
				return ui.Reached, ""
			}
			return http.StatusForbidden, ""
		}})
	}
	here := m.cookie(t, "admin")
	here.Set("Sec-Fetch-Site", "same-origin")
	askers = append(askers, asker{"admin from here", here, role(model.RoleAdmin)})
	operator := model.Actor{Kind: "operator"}
	gone, err := m.vault.Users.GetByName(t.Context(), "gone")
	if err != nil {
		t.Fatalf("Users.GetByName: %v", err)
	}
	if _, err := m.vault.Users.Disable(t.Context(), operator, gone.ID); err != nil {
		t.Fatalf("Users.Disable: %v", err)
	}
	token := strings.TrimPrefix(askers[8].header.Get("Cookie"), "deedkeep=")
	if err := m.vault.Sessions.SignOut(t.Context(), token, ""); err != nil {
		t.Fatalf("Sessions.SignOut: %v", err)
	}
	m.hold(t, askers)
	// And an expired session.
	m.clock.Advance(15 * 24 * 3600e9)
	m.hold(t, []asker{{"admin of two weeks ago", askers[3].header, anonymous}})
}

// A user who must set up two-factor authentication can use the account page only.
func TestMatrixEnrolment(t *testing.T) {
	t.Parallel()
	m := newMatrix(t, true)
	m.user(t, "admin", model.RoleAdmin)
	m.hold(t, []asker{{"must enroll", m.cookie(t, "admin"), func(_, need string) (int, string) {
		if need == "" || need == "invited" || need == "signed in" {
			return ui.Reached, ""
		}
		return http.StatusSeeOther, "/me"
	}}})
}

// Until there is an administrator, only the setup link and a page that explains it respond.
func TestMatrixClosed(t *testing.T) {
	t.Parallel()
	m := newMatrix(t, false)
	m.user(t, "viewer", model.RoleViewer)
	m.hold(t, []asker{{"signed out", nil, func(_, need string) (int, string) {
		if need == "invited" {
			return ui.Reached, ""
		}
		return http.StatusServiceUnavailable, ""
	}}})
}

// Uploads check access themselves, with statuses that scripts understand.
func TestMatrixUploads(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.user(t, "viewer", model.RoleViewer)
	h.user(t, "staff", model.RoleStaff)
	askers := map[string]int{"X-Nobody: 1": 401, "Cookie: deedkeep=" + strings.Repeat("0", 43): 401, h.as(t, "viewer"): 403, h.as(t, "staff"): 0}
	found := 0
	for _, r := range ui.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if !strings.HasPrefix(path, "/uploads") || method == http.MethodOptions { // anyone may ask which extensions of tus are supported
			continue
		}
		found++
		for header, want := range askers {
			got := h.ask(t, method, address(r.Pattern), header, "Tus-Resumable: 1.0.0", "Content-Length: 0")
			if want == 0 && (got.StatusCode == 401 || got.StatusCode == 403) || want != 0 && got.StatusCode != want {
				t.Errorf("%s by %.20s: status %d, want %d", r.Pattern, header, got.StatusCode, want)
			}
		}
		if got := h.ask(t, method, address(r.Pattern), h.as(t, "staff"), "Tus-Resumable: 1.0.0", "Content-Length: 0", "Sec-Fetch-Site: cross-site"); !safe(method) && got.StatusCode != 403 {
			t.Errorf("%s from elsewhere: status %d", r.Pattern, got.StatusCode)
		}
	}
	if found == 0 {
		t.Error("nothing speaks tus")
	}
}

// hold requests every page as every visitor.
func (m *matrix) hold(t *testing.T, askers []asker) {
	t.Helper()
	for _, r := range ui.Routes() {
		for _, method := range methods(r.Pattern) {
			for _, a := range askers {
				path := address(r.Pattern)
				got := m.ask(t, method, path, a.header)
				status, to := a.want(method, expected(r.Pattern))
				if to == "/sign-in" && safe(method) && path != "/" {
					to += "?to=" + url.QueryEscape(path)
				}
				if got.StatusCode != status || to != got.Header.Get("Location") {
					t.Errorf("%s, %s %s: status %d to %q, want %d to %q", a.name, method, r.Pattern, got.StatusCode, got.Header.Get("Location"), status, to)
				}
				a.part(t, m, method, r.Pattern, to)
			}
		}
	}
}

// part sends the request as a script does, which gets redirects for the complete page in a header.
func (a asker) part(t *testing.T, m *matrix, method, pattern, to string) {
	t.Helper()
	if to == "" {
		return
	}
	header := a.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("HX-Request", "true")
	header.Set("HX-Current-URL", "http://vault.test/abstracts?status=open")
	got := m.ask(t, method, address(pattern), header)
	if strings.HasPrefix(to, "/sign-in") && !safe(method) {
		to = "" // the typed text stays in the page
	} else if strings.HasPrefix(to, "/sign-in") {
		to = "/sign-in?to=%2Fabstracts%3Fstatus%3Dopen"
	}
	if got.StatusCode != http.StatusUnauthorized || got.Header.Get("HX-Redirect") != to {
		t.Errorf("%s, %s %s by a script: %d %q, want %q", a.name, method, pattern, got.StatusCode, got.Header.Get("HX-Redirect"), to)
	}
}

func (m *matrix) key(t *testing.T) string {
	t.Helper()
	text, _, err := m.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: "closing"})
	if err != nil {
		t.Fatalf("Keys.Create: %v", err)
	}
	return text
}
