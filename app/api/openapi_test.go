package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"deedkeep/app/wire"
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

// The description and package wire name the same fields, or one of them lies.
func TestDescriptionNamesTheWire(t *testing.T) {
	doc := description(t)
	for name, shape := range map[string]any{
		"Abstract": wire.Abstract{}, "AbstractBody": wire.AbstractBody{}, "AbstractCreated": wire.AbstractCreated{}, "AbstractTemplates": wire.AbstractTemplates{},
		"Template": wire.Template{}, "Field": wire.Field{}, "File": wire.File{}, "FileBody": wire.FileBody{}, "FileFailure": wire.FileFailure{},
		"Uploaded": wire.Uploaded{}, "UploadRefused": wire.Uploaded{}, "Folder": wire.Folder{}, "Folders": wire.Folders{}, "FolderCreated": wire.FolderCreated{},
		"Order": wire.Order{}, "OrderBody": wire.OrderBody{}, "OrderFields": wire.OrderFields{}, "ValidationFailure": wire.Failure{}, "Health": wire.Health{},
	} {
		s := doc.Components.Schemas[name]
		if s == nil {
			t.Errorf("there is no schema %s", name)
			continue
		}
		var want, got []string
		for field := range reflect.TypeOf(shape).Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			want = append(want, key)
			if pointer := field.Type.Kind() == reflect.Pointer; s.Value.Properties[key] != nil && pointer != s.Value.Properties[key].Value.Type.Includes("null") {
				t.Errorf("%s.%s: the wire and the description disagree on null", name, key)
			}
		}
		for key := range s.Value.Properties {
			got = append(got, key)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, the wire has %v", name, got, want)
		}
	}
}
