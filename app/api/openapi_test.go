package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

func description(t *testing.T) *openapi3.T {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDescriptionIsValid(t *testing.T) {
	doc := description(t)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Fatal(err)
	}
	if doc.Info.Version != "1.0.0" || !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("info.version %s of OpenAPI %s", doc.Info.Version, doc.OpenAPI)
	}
}

// Every answer carries the request id, every refusal one of the two failure
// bodies, and every JSON object of ours is closed and complete: else a response
// checked against the description could gain or lose a field unseen.
func TestDescriptionIsStrict(t *testing.T) {
	doc := description(t)
	for name, ref := range doc.Components.Schemas {
		s := ref.Value
		draft := strings.HasSuffix(name, "Draft") || strings.HasSuffix(name, "Form") || name == "AbstractFields" || name == "CustomFields"
		if draft || !s.Type.Is("object") {
			continue
		}
		if has := s.AdditionalProperties.Has; has == nil || *has {
			t.Errorf("schema %s takes other fields", name)
		}
		if len(s.Required) != len(s.Properties) {
			t.Errorf("schema %s requires %d of %d fields", name, len(s.Required), len(s.Properties))
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, answer := range op.Responses.Map() {
				if answer.Value.Headers["X-Request-Id"] == nil {
					t.Errorf("%s %s %s has no X-Request-Id", method, path, status)
				}
				media := answer.Value.Content["application/json"]
				if media == nil || status[0] < '4' {
					continue
				}
				want := "#/components/schemas/Failure"
				if status == "422" {
					want = "#/components/schemas/ValidationFailure"
				}
				if media.Schema.Ref != want {
					t.Errorf("%s %s %s answers %s, want %s", method, path, status, media.Schema.Ref, want)
				}
			}
		}
	}
}

func TestDescriptionFindsRoutes(t *testing.T) {
	router, err := gorillamux.NewRouter(description(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ method, target, operation string }{
		{"GET", "/v1/abstract-templates", "listAbstractTemplates"},
		{"POST", "/v1/abstracts", "createAbstract"},
		{"GET", "/v1/abstracts/k3Jd82Qz", "getAbstract"},
		{"POST", "/v1/abstracts/k3Jd82Qz/files", "addAbstractFiles"},
		{"GET", "/v1/order-fields", "listOrderFields"},
		{"POST", "/v1/orders", "createOrder"},
		{"GET", "/v1/file-vault/folders", "listFolders"},
		{"POST", "/v1/file-vault/folders", "createFolder"},
		{"POST", "/v1/file-vault/upload", "uploadFiles"},
		{"GET", "/v1/file-vault/files/77", "getFile"},
		{"GET", "/v1/file-vault/files/77/download", "downloadFile"},
		{"GET", "/dl/77?expires=1&signature=x", "followLink"},
		{"GET", "/healthz", "getHealth"},
		{"GET", "/readyz", "getReadiness"},
		{"GET", "/openapi.json", "getDescription"},
	} {
		route, _, err := router.FindRoute(httptest.NewRequestWithContext(t.Context(), row.method, "http://vault.test"+row.target, http.NoBody))
		if err != nil {
			t.Errorf("%s %s: %v", row.method, row.target, err)
			continue
		}
		if route.Operation.OperationID != row.operation {
			t.Errorf("%s %s is %s, want %s", row.method, row.target, route.Operation.OperationID, row.operation)
		}
	}
}
