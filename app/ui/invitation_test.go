package ui_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/model"
)

const goodPassword = "Canary on the courthouse steps"

// passwordRule is the complete rule for passwords, which forms for a new password state before an error does.
const passwordRule = "At least 10 characters. Use four or more unrelated words, or a longer mix of letters, digits, and symbols. " +
	"Avoid names and dates."

// invite creates an invited user and returns the path of the one-time link.
func (ts *testServer) invite(t *testing.T) string {
	t.Helper()
	token, _, err := ts.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"},
		model.UserDraft{Name: "Kim <Lee>", Role: model.RoleAdmin})
	if err != nil {
		t.Fatalf("Users.Create: %v", err)
	}
	return "/join/" + token
}

// post submits a form like a browser.
func (ts *testServer) post(t *testing.T, want int, target string, form url.Values, header ...string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", ts.server.Listener.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatalf("set deadline: %v", err)
	}
	body := form.Encode()
	lines := append([]string{"Host: vault.test", "Connection: close", "Content-Type: application/x-www-form-urlencoded",
		fmt.Sprint("Content-Length: ", len(body))}, header...)
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%s\r\n\r\n%s", target, strings.Join(lines, "\r\n"), body); err != nil {
		t.Fatalf("write request: %v", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodPost, URL: &url.URL{Path: target}})
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read response body: %v", err)
	}
	got := newReply(response, content)
	if got.StatusCode != want {
		t.Errorf("POST %s: status %d, want %d\n%s", target, got.StatusCode, want, got.body)
	}
	if strings.Contains(string(got.body), "Canary") {
		t.Errorf("the page shows a password:\n%s", got.body)
	}
	return got
}

// cookies returns the Cookie header that a browser would send after this response.
func (r reply) cookies() string {
	var cookies []string
	for _, cookie := range r.Cookies() {
		if cookie.MaxAge >= 0 {
			cookies = append(cookies, cookie.Name+"="+cookie.Value)
		}
	}
	return strings.Join(cookies, "; ")
}

func newPasswordForm(password string) url.Values {
	return url.Values{"password": {password}, "again": {password}}
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	link := h.invite(t)
	for range 3 { // GET requests don't use up the link
		page := h.request(t, 200, "GET", link)
		page.has(t, passwordRule)
		page.has(t, "<h1>Choose a password</h1>", `value="Kim &lt;Lee&gt;" readonly`, `<form method="post"`, `autocomplete="new-password"`)
		page.checkHeaders(t, map[string]string{
			"Content-Security-Policy": policy,
			"Cache-Control":           "no-store", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
			"Content-Type":               "text/html; charset=utf-8",
			"Cross-Origin-Opener-Policy": "same-origin",
		})
		h.request(t, 200, "HEAD", link)
	}
	h.post(t, 422, link, newPasswordForm("")).has(t, "The password field is required.", `aria-describedby="password-problem password-hint"`)
	h.post(t, 422, link, newPasswordForm("Canary")).has(t, "must have at least 10 characters")
	h.post(t, 422, link, newPasswordForm("correct horse 1")).has(t, "too easy to guess", passwordRule)
	h.post(t, 422, link, url.Values{"password": {goodPassword}, "again": {"Canary"}}).has(t, "The passwords don&#39;t match.")
	signedIn := h.post(t, 303, link, newPasswordForm(goodPassword))
	signedIn.checkHeaders(t, map[string]string{"Location": "/"})
	h.request(t, 200, "GET", "/", "Cookie: "+signedIn.cookies()).has(t, "Kim &lt;Lee&gt;", "Your username is Kim &lt;Lee&gt;.")
	h.post(t, 404, link, newPasswordForm(goodPassword)).has(t, "Link not valid")
	h.request(t, 404, "GET", link).has(t, "Ask your administrator")
	if _, err := h.vault.Users.SignIn(t.Context(), auth.SignInDraft{Name: "kim <lee>", Password: goodPassword}); err != nil {
		t.Errorf("Users.SignIn: %v", err)
	}
}

func TestInvitationOfFirstAdministrator(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, nil)
	token, err := h.vault.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("Users.NewFirstLink: %v", err)
	}
	link := "/join/" + token
	h.request(t, 200, "GET", link).has(t, "Create the administrator account", `value="" required`)
	form := newPasswordForm(goodPassword)
	h.post(t, 422, link, form).has(t, "The name field is required.", `aria-describedby="name-problem"`)
	form.Set("name", `"><script>`)
	form.Set("again", "other")
	h.post(t, 422, link, form).has(t, `value="&#34;&gt;&lt;script&gt;"`)
	form.Set("name", "kim")
	form.Set("again", goodPassword)
	h.post(t, 303, link, form)
	h.post(t, 404, link, form)
}

func TestInvitationRejects(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	link := h.invite(t)
	for _, path := range []string{"/join/", "/join/x", link + "0", link[:len(link)-1], link + "/", "/join/%2e%2e", "/JOIN/" + link[6:]} {
		h.request(t, 404, "GET", path)
	}
	h.request(t, 405, "PUT", link).checkHeaders(t, map[string]string{"Allow": "GET, HEAD, POST"})
	// Other sites can't submit the form.
	h.post(t, 403, link, newPasswordForm(goodPassword), "Sec-Fetch-Site: cross-site")
	h.post(t, 403, link, newPasswordForm(goodPassword), "Origin: https://elsewhere.example")
	h.post(t, 403, link, newPasswordForm(goodPassword), "Origin: null")
	// Query parameters don't count as form fields, and forms that are too large are rejected.
	h.post(t, 422, link+"?password=Canary-in-the-address&again=Canary-in-the-address", nil)
	h.post(t, 413, link, newPasswordForm(strings.Repeat("Canary ", 4000)))
	h.request(t, 415, "POST", link, "Content-Type: application/json", "Content-Length: 0")
	h.post(t, 303, link, newPasswordForm(goodPassword), "Origin: http://vault.test")
}

// If the link is invalid, the server responds before the form arrives. If it is valid but the form
// is missing, the connection isn't kept open.
func TestInvitationWithoutForm(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	path := h.invite(t)
	for _, row := range []struct {
		target  string
		header  string
		status  int
		minWait time.Duration
	}{
		{"/join/x", "Content-Type: application/x-www-form-urlencoded", 404, 0},
		{path, "Content-Type: text/plain", 415, 0},
		{path, "Content-Type: application/x-www-form-urlencoded", 400, 4 * time.Second},
	} {
		t.Run(fmt.Sprint(row.status), func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
			if err != nil {
				t.Fatalf("dial: %v", err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatalf("set deadline: %v", err)
			}
			began := time.Now()
			_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: vault.test\r\n%s\r\nContent-Length: 50\r\n\r\n", row.target, row.header)
			if err != nil {
				t.Fatalf("write request: %v", err)
			}
			from := bufio.NewReader(conn)
			response, err := http.ReadResponse(from, &http.Request{Method: http.MethodPost})
			if err != nil {
				t.Fatalf("read response: %v", err)
			}
			defer response.Body.Close()
			took := time.Since(began)
			if response.StatusCode != row.status || !response.Close || took < row.minWait || took > row.minWait+8*time.Second {
				t.Errorf("status %d, close %t, after %s, want %d, true, after %s to %s", response.StatusCode, response.Close, took,
					row.status, row.minWait, row.minWait+8*time.Second)
			}
			if _, err := io.Copy(io.Discard, from); err != nil {
				t.Errorf("read until the server closes the connection: %v", err)
			}
		})
	}
}
