//go:build browser

package cmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// servePage serves a page with the given Content-Security-Policy and body, and returns its
// URL.
func servePage(t *testing.T, policy, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if r.URL.Path != "/" {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		const page = `<!doctype html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>%s</main></body></html>`
		fmt.Fprintf(w, page, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The monitor detects all types of problems and reports nothing for a page without
// problems.
func testMonitor(t *testing.T, env *browserEnv) {
	const open = "default-src 'self' 'unsafe-inline'; img-src http:"
	for _, row := range []struct{ name, policy, body, want string }{
		{"no problem", open, `<script>document.title = "well"</script>`, ""},
		{"console", open, `<script>console.error("lost", "a document")</script>`, "a document"},
		{"exception", open, `<script>nothing.at.all()</script>`, "nothing is not defined"},
		{"promise", open, `<script>Promise.reject(new Error("not kept"))</script>`, "not kept"},
		{"policy", "default-src 'none'", `<script>document.title = "well"</script>`, "policy: "},
		{"style", "default-src 'none'", `<p style="color: red">red</p>`, "policy: "},
		{"handler", "default-src 'none'", `<img alt="" src="data:," onerror="alert(1)">`, "policy: "},
		{"another origin", open, `<img alt="" src="http://127.0.0.1:9/canary.png">`, "request to another origin: http://127.0.0.1:9/canary.png"},
		{"missing", open, `<script src="/gone.js"></script>`, "404"},
		{"dialog", open, `<script>alert("canary")</script>`, "dialog: alert canary"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := env.newTab(t, servePage(t, row.policy, row.body))
			b.goTo("/")
			b.waitVisible("h1 | A page")
			eval[bool](b, "new Promise(done => setTimeout(() => done(true)))")
			got := b.problemText()
			if (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
				t.Errorf("problems: got %q, want %q", got, row.want)
			}
			var failures []any
			b.check(func(problems ...any) { failures = append(failures, problems...) })
			if (len(failures) > 0) != (row.want != "") {
				t.Errorf("failures of check: got %q, want %q", failures, row.want)
			}
			b.reset()
		})
	}
}

// The checks detect accessibility violations in both themes, and elements that are wider
// than the window.
func testAccessibilityChecks(t *testing.T, env *browserEnv) {
	b := env.newTab(t, servePage(t, "default-src 'none'; style-src 'unsafe-inline'",
		`<style>@media (prefers-color-scheme: dark) { p { color: #777; background: #666 } }</style><p>Words</p><p><input name="a"></p>`))
	b.goTo("/")
	rules := func(list []violation) string {
		var ids []string
		for _, v := range list {
			ids = append(ids, v.ID)
		}
		return strings.Join(ids, " ")
	}
	for _, row := range []struct{ theme, want, colors string }{{"light", "label", ""}, {"dark", "color-contrast label", "color-contrast"}} {
		t.Run(row.theme, func(t *testing.T) {
			b.setTheme(row.theme)
			if got := rules(b.violations()); got != row.want {
				t.Errorf("violations: got %q, want %q", got, row.want)
			}
			if got := rules(b.colorViolations()); got != row.colors {
				t.Errorf("violations of rules about colors: got %q, want %q", got, row.colors)
			}
		})
	}
	b.setSize(360, 740)
	if wide := b.overflow(360); len(wide) > 0 {
		t.Errorf("elements wider than the window: got %q, want none", wide)
	}
	eval[bool](b, `document.querySelector("p").style.width = "500px"; true`)
	if wide := b.overflow(360); len(wide) != 2 || !strings.HasPrefix(wide[1], "p.") {
		t.Errorf("elements wider than the window: got %q, want the paragraph", wide)
	}
}

// With JavaScript disabled, a page doesn't run scripts, but tests can still inspect it.
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
		t.Errorf("address and title after sending the form: got %s, want ?name=Kim+Lee&day=2026-11-21A page", got)
	}
}
