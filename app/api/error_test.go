package api_test

import (
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"deedkeep/app/httpx"
)

// errorCodes returns the error codes that openapi.yaml lists.
var errorCodes = sync.OnceValues(func() (map[string]bool, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	codes := map[string]bool{}
	for _, code := range doc.Components.Headers["ErrorCode"].Value.Schema.Value.Enum {
		codes[code.(string)] = true
	}
	return codes, nil
})

// openapi.yaml lists exactly the error codes that the server sends. Each code belongs to
// one status.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	listed, err := errorCodes()
	if err != nil {
		t.Fatalf("errorCodes: %v", err)
	}
	unused := maps.Clone(listed)
	for _, status := range []int{400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 421, 422, 423, 429, 500, 503, 507} {
		code := httpx.ErrorCode(status)
		if status != 500 && code == httpx.ErrorCode(500) {
			t.Errorf("ErrorCode(%d) = %q, want its own code", status, code)
		}
		if !unused[code] {
			t.Errorf("openapi.yaml doesn't list %q", code)
		}
		delete(unused, code)
	}
	delete(unused, httpx.CodeRunning)
	delete(unused, httpx.CodeDamaged)
	guide, err := os.ReadFile("../../app/guides/api.md")
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	for code := range listed {
		if !strings.Contains(string(guide), "`"+code+"`") {
			t.Errorf("api.md doesn't list %q", code)
		}
	}
	for code := range unused {
		t.Errorf("openapi.yaml lists %q, which no status has", code)
	}
	if got := httpx.ErrorCode(http.StatusTeapot); got != "server_error" {
		t.Errorf("ErrorCode(418) = %q, want server_error", got)
	}
}
