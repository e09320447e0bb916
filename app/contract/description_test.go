package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"deedkeep/app/vaulttest/description"
)

// api is the parsed description.
type api struct {
	operations []*operation
	router     routers.Router
}

// operation is one operation of the description.
type operation struct {
	id, method string
	path       string // with the prefix of its server
	open       bool   // needs no key
	params     openapi3.Parameters
	body       *openapi3.RequestBody // nil: none
}

func readDescription(t *testing.T) *api {
	t.Helper()
	doc, err := description.LoadStrict("../api/openapi.yaml")
	if err != nil {
		t.Fatalf("read the API description: %v", err)
	}
	b := &api{}
	if b.router, err = gorillamux.NewRouter(doc); err != nil {
		t.Fatalf("create the router of the API description: %v", err)
	}
	for path, item := range doc.Paths.Map() {
		prefix := "/v1"
		if len(item.Servers) > 0 {
			prefix = ""
		}
		for method, op := range item.Operations() {
			o := &operation{id: op.OperationID, method: method, path: prefix + path, params: slices.Concat(item.Parameters, op.Parameters)}
			o.open = op.Security != nil && len(*op.Security) == 0
			if op.RequestBody != nil {
				o.body = op.RequestBody.Value
			}
			b.operations = append(b.operations, o)
		}
	}
	slices.SortFunc(b.operations, func(a, b *operation) int { return strings.Compare(a.id, b.id) })
	return b
}

// first returns all operations in a useful sequence: templates, creation, reads and changes, deletion, restoration.
func (ap *api) first() []*operation {
	rank := func(o *operation) int {
		switch {
		case strings.Contains(o.path, "template") || strings.HasPrefix(o.path, "/v1/order-") || o.id == "listDocumentTypes":
			return 0
		case o.method == http.MethodPost && !strings.Contains(o.path, "{"):
			return 1
		case o.method == http.MethodPost && !strings.HasSuffix(o.path, "/restore"):
			return 2
		case o.id == "downloadFile":
			return 3
		case o.id == "deleteInstrument":
			return 5
		case o.id == "restoreInstrument": // not after its abstract went to the trash
			return 6
		case o.method == http.MethodDelete:
			return 7
		case strings.HasSuffix(o.path, "/restore"):
			return 8
		}
		return 4
	}
	first := slices.Clone(ap.operations)
	slices.SortStableFunc(first, func(a, b *operation) int { return rank(a) - rank(b) })
	return first
}

// may reports whether a type of key may call an operation with a method.
func (o *operation) may(as, method string) bool {
	reads := method == http.MethodGet || method == http.MethodHead
	switch {
	case o.open:
		return true
	case o.path == "/v1/events", o.path == "/v1/events/stream":
		return as == "events" && reads
	case o.path == "/metrics":
		return as == "metrics" && reads
	}
	return as == "full" || as == "read" && reads
}

// authorizedKind returns the type of key that may call the operation with every method.
func (o *operation) authorizedKind() string {
	switch o.path {
	case "/v1/events", "/v1/events/stream":
		return "events"
	case "/metrics":
		return "metrics"
	}
	return "full"
}
