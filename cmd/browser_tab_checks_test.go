//go:build browser

package cmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// servePage serves a page of which everything is known.
func servePage(t *testing.T, policy, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if r.URL.Path != "/" {
			http.Error(w, "not here", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		fmt.Fprintf(w, `<!doctype html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>%s</main></body></html>`, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The watch itself is tested: each thing that a page must not do is seen, and a page
// that does none of them is let through.
func testMonitor(t *testing.T, env *browserEnv) {
	const open = "default-src 'self' 'unsafe-inline'; img-src http:"
	for _, c := range []struct{ name, policy, body, want string }{
		{"nothing", open, `<script>document.title = "well"</script>`, ""},
		{"console", open, `<script>console.error("lost", "a document")</script>`, "a document"},
		{"exception", open, `<script>nothing.at.all()</script>`, "nothing is not defined"},
		{"promise", open, `<script>Promise.reject(new Error("not kept"))</script>`, "not kept"},
		{"policy", "default-src 'none'", `<script>document.title = "well"</script>`, "policy: "},
		{"style", "default-src 'none'", `<p style="color: red">red</p>`, "policy: "},
		{"handler", "default-src 'none'", `<img alt="" src="data:," onerror="alert(1)">`, "policy: "},
		{"elsewhere", open, `<img alt="" src="http://127.0.0.1:9/canary.png">`, "asked elsewhere: http://127.0.0.1:9/canary.png"},
		{"missing", open, `<script src="/gone.js"></script>`, "404"},
		{"dialog", open, `<script>alert("canary")</script>`, "dialog: alert canary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := env.newTab(t, servePage(t, c.policy, c.body))
			b.goTo("/")
			b.waitVisible("h1 | A page")
			eval[bool](b, "new Promise(done => setTimeout(() => done(true)))")
			found := b.problemText()
			if (c.want == "") != (found == "") || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			var failed []any
			b.check(func(what ...any) { failed = append(failed, what...) })
			if (len(failed) > 0) != (c.want != "") {
				t.Errorf("judged: %v", failed)
			}
			b.reset()
		})
	}
}

// So are the barriers in both themes, and what is too wide.
func testAccessibilityChecks(t *testing.T, env *browserEnv) {
	b := env.newTab(t, servePage(t, "default-src 'none'; style-src 'unsafe-inline'",
		`<style>@media (prefers-color-scheme: dark) { p { color: #777; background: #666 } }</style><p>Words</p><p><input name="a"></p>`))
	b.goTo("/")
	for _, c := range []struct {
		theme string
		want  string
	}{{"light", "label"}, {"dark", "color-contrast label"}} {
		b.setTheme(c.theme)
		var found []string
		for _, v := range b.violations() {
			found = append(found, v.ID)
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s: found %q, want %q", c.theme, got, c.want)
		}
	}
	b.setSize(360, 740)
	if wide := b.overflow(360); len(wide) > 0 {
		t.Errorf("too wide: %q", wide)
	}
	eval[bool](b, `document.querySelector("p").style.width = "500px"; true`)
	if wide := b.overflow(360); len(wide) != 2 || !strings.HasPrefix(wide[1], "p.") {
		t.Errorf("not seen to be too wide: %q", wide)
	}
}

// With scripts off a page runs none, and the tests can look at it nevertheless.
func testScriptsOff(t *testing.T, env *browserEnv) {
	b := env.newTab(t, servePage(t, "script-src 'unsafe-inline'",
		`<form><label>Name <input name="name"></label> <label>Day <input name="day" type="date"></label> <button>Send</button></form>
		<script>document.title = "ran"</script><noscript><p>Without scripts</p></noscript>`))
	b.enableScripts(false)
	b.goTo("/")
	b.waitText("Without scripts")
	b.fill("input[name=name]", "Kim Lee")
	b.fill("input[name=day]", "2026-11-21")
	b.clickLink("button | Send")
	if got := eval[string](b, "location.search + document.title"); got != "?name=Kim+Lee&day=2026-11-21A page" {
		t.Errorf("sent %s", got)
	}
}
