package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

//go:embed openapi.yaml
var openapi []byte

// anyOrigin stands for the own address until a request says which that is.
const anyOrigin = "http://origin.invalid"

// description is openapi.yaml as it is served, but for the own address.
type description struct {
	json    []byte
	samples []Sample
}

// readContract is parseContract, once in a process: the text is embedded.
var readContract = sync.OnceValues(parseContract)

// parseContract turns openapi.yaml into JSON, with the own address as its first server
// and an example in curl at every operation (x-codeSamples, as Redocly and others read it).
func parseContract() (description, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(openapi, &document); err != nil {
		return description{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	if len(document.Content) == 0 || member(document.Content[0], "paths") == nil {
		return description{}, errors.New("openapi.yaml: it has no paths")
	}
	root := document.Content[0]
	samples, err := sampler{root}.all()
	if err != nil {
		return description{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	servers := member(root, "servers")
	if servers == nil || len(servers.Content) == 0 {
		return description{}, errors.New("openapi.yaml: it has no servers")
	}
	*member(servers.Content[0], "url") = *textNode(anyOrigin + "/v1")
	var b bytes.Buffer
	if err := writeJSON(&b, root); err != nil {
		return description{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	return description{b.Bytes(), samples}, nil
}

// Describe serves the contract of /v1 as JSON, its first server being the own
// address of this installation.
func Describe(publicURL string, trustedProxies []netip.Prefix) (http.Handler, error) {
	contract, err := readContract()
	if err != nil {
		return nil, err
	}
	addresses := httpx.AddressResolver{PublicURL: publicURL, TrustedProxies: trustedProxies}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", dataPolicy)
		origin, err := addresses.Origin(r)
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, errNoMethod.Message)
		case err != nil:
			refuse(w, http.StatusBadRequest, httpx.ErrHost.Message)
		default:
			// A reader that has gone needs no answer.
			_, _ = w.Write(bytes.ReplaceAll(contract.json, []byte(anyOrigin), escaped(origin)))
		}
	}), nil
}

// escaped is a text as it stands between the quotes of JSON.
func escaped(text string) []byte {
	var b bytes.Buffer
	if writeValue(&b, text) != nil {
		return nil // a text can always be written
	}
	return b.Bytes()[1 : b.Len()-1]
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set(apitypes.ErrorCode, httpx.ErrorCode(status))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(apitypes.Failure{Message: message}) // nor does this one
}

// Owns reports whether a path is under /v1 or /api/v1, however it is spelt.
func Owns(path string) bool {
	path = cleanPath(path)
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}
