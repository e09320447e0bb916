package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/wire"
)

//go:embed openapi.yaml
var openapi []byte

// Describe serves the contract of /v1 as JSON, its first server being the own
// address of this installation.
func Describe(publicURL string, trustedProxies []netip.Prefix) (http.Handler, error) {
	var document map[string]any
	if err := yaml.Unmarshal(openapi, &document); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	if document["paths"] == nil {
		return nil, errors.New("openapi.yaml: it has no paths")
	}
	e := &edge{Options: Options{PublicURL: publicURL, TrustedProxies: trustedProxies}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, err := e.origin(r)
		var body any
		status := http.StatusOK
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			status, body = http.StatusMethodNotAllowed, wire.Failure{Message: errNoMethod.message}
		case err != nil:
			status, body = http.StatusBadRequest, wire.Failure{Message: errHost.message}
		default:
			own := make(map[string]any, len(document))
			for k, v := range document {
				own[k] = v
			}
			own["servers"] = []any{map[string]any{"url": origin + "/v1", "description": "This installation."}}
			body = own
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", dataPolicy)
		w.WriteHeader(status)
		// A reader that has gone needs no answer.
		_ = json.NewEncoder(w).Encode(body)
	}), nil
}

// Owns reports whether a path is under /v1 or /api/v1, however it is spelt.
func Owns(path string) bool {
	path = singleSpelling(path)
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}
