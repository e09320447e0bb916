package api

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

//go:embed openapi.yaml
var openapi []byte

// originPlaceholder is replaced with the base URL of the server when the description is
// served.
const originPlaceholder = "http://origin.invalid"

// description is the parsed openapi.yaml. Its base URL is originPlaceholder.
type description struct {
	json    []byte
	parts   [][]byte // json, without originPlaceholder, where the base URL of the server belongs
	samples []Sample
}

// loadDescription returns the result of parseDescription, which runs only once per process.
var loadDescription = sync.OnceValues(parseDescription)

// parseDescription converts openapi.yaml to JSON. It sets the URL of the first server and
// adds a curl command to each operation. The command is stored as x-codeSamples, an
// extension that Redocly and other tools display.
func parseDescription() (description, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(openapi, &document); err != nil {
		return description{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	if len(document.Content) == 0 || member(document.Content[0], "paths") == nil {
		return description{}, errors.New("openapi.yaml: no paths")
	}
	root := document.Content[0]
	samples, err := sampler{root}.all()
	if err != nil {
		return description{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	servers := member(root, "servers")
	if servers == nil || len(servers.Content) == 0 {
		return description{}, errors.New("openapi.yaml: no servers")
	}
	*member(servers.Content[0], "url") = *textNode(originPlaceholder + "/v1")
	raw, err := toJSON(root)
	if err != nil {
		return description{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	return description{raw, bytes.Split(raw, []byte(originPlaceholder)), samples}, nil
}

// Describe returns a handler that serves the OpenAPI description of /v1 as JSON. The URL of
// its first server is the origin of the request.
func Describe(addresses httpx.AddressResolver) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.SetJSONHeaders(w.Header())
		origin, err := addresses.Origin(r)
		contract, broken := loadDescription()
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, http.StatusMethodNotAllowed, errNoMethod.Message)
		case err != nil:
			writeError(w, http.StatusBadRequest, httpx.ErrHost.Message)
		case broken != nil: // not reached: the description is part of the program
			writeError(w, http.StatusInternalServerError, broken.Error())
		default:
			quoted, _ := jsontext.AppendQuote(nil, origin) // an invalid character is replaced
			contract.send(w, quoted[1:len(quoted)-1])
		}
	})
}

// send writes the description with the base URL of the server. All responses share the bytes around the URL.
func (d description) send(w http.ResponseWriter, origin []byte) {
	places := len(d.parts) - 1
	w.Header().Set("Content-Length", strconv.Itoa(len(d.json)+places*(len(origin)-len(originPlaceholder))))
	for i, part := range d.parts {
		// Write fails only if the client disconnected.
		_, _ = w.Write(part)
		if i < places {
			_, _ = w.Write(origin) //nolint:gosec // a quoted host
		}
	}
}

// writeError writes an error response with a JSON body.
func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set(apitypes.ErrorCode, httpx.ErrorCode(status))
	w.WriteHeader(status)
	_ = apitypes.Write(w, apitypes.Failure{Message: message}) // fails only if the client disconnected
}

// Owns reports whether the API handles path, that is, whether path is under /v1 or /api/v1
// after repeated slashes are removed.
func Owns(path string) bool {
	path = cleanPath(path)
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}
