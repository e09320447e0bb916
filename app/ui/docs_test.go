package ui_test

import (
	"strings"
	"testing"
)

// The API documentation is available without a session, even before setup. It can't be framed and
// loads files only from its own origin.
func TestDocs(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*testServer{"with an administrator": newTestServer(t), "before setup": newEmptyTestServer(t, nil)} {
		t.Run(name, func(t *testing.T) {
			got := h.send(t, "GET", "/docs")
			if got.StatusCode != 200 || !strings.Contains(string(got.body), "swagger-ui.js") || !strings.Contains(string(got.body), "docs.js") {
				t.Errorf("GET /docs: status %d, want 200 and the scripts: %s", got.StatusCode, got.body)
			}
			policy := got.Header.Get("Content-Security-Policy")
			for _, directive := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
				"frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
				if !strings.Contains(policy+";", directive+";") {
					t.Errorf("Content-Security-Policy = %q, want it to contain %q", policy, directive)
				}
			}
			if strings.Contains(policy, "unsafe") || strings.Contains(string(got.body), "<style") || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("page has inline styles, cookies, or an unsafe policy: %s\n%v", policy, got.Header)
			}
		})
	}
}
