package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/description"
)

// loadDescription loads the OpenAPI description.
func loadDescription(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := description.LoadStrict("openapi.yaml")
	if err != nil {
		t.Fatalf("description.LoadStrict: %v", err)
	}
	return doc
}

func TestDescriptionIsValid(t *testing.T) {
	doc := loadDescription(t)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Fatalf("validate description: %v", err)
	}
	if doc.Info.Version != "1.0.0" || !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("description %s of OpenAPI %s, want 1.0.0 of 3.1", doc.Info.Version, doc.OpenAPI)
	}
}

// No schema forbids additional properties, so clients that validate responses accept new
// fields.
func TestDescriptionAllowsNewFields(t *testing.T) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	for number, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "additionalProperties: false") || strings.Contains(line, "unevaluatedProperties") {
			t.Errorf("line %d of openapi.yaml forbids additional properties: %s", number+1, line)
		}
	}
}

// All responses have a request ID, and all error responses have one of the two error
// bodies. All schemas require all of their fields, so validation detects missing fields.
func TestDescriptionIsStrict(t *testing.T) {
	doc := loadDescription(t)
	for name, ref := range doc.Components.Schemas {
		s := ref.Value
		draft := strings.HasSuffix(name, "Draft") || strings.HasSuffix(name, "Form") || strings.HasSuffix(name, "Patch") ||
			name == "AbstractFields" || name == "CustomFields" || name == "EventDetail"
		if draft || !s.Type.Is("object") {
			continue
		}
		optional := map[string]int{
			"ListMeta": 1, // SearchMeta adds a field to it in searches
			"BulkItem": 2, // only failures have a message, and only invalid values have errors
		}
		if len(s.Required) != len(s.Properties)-optional[name] {
			t.Errorf("schema %s requires %d of %d fields", name, len(s.Required), len(s.Properties))
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if response.Value.Headers["X-Request-Id"] == nil {
					t.Errorf("%s %s %s has no X-Request-Id", method, path, status)
				}
				if page := strings.HasPrefix(path, "/dl/"); !page && (response.Value.Headers["X-Error-Code"] != nil) != (status[0] >= '4') {
					t.Errorf("%s %s %s: X-Error-Code must be described exactly for statuses from 400 on", method, path, status)
				}
				if v1 := len(item.Servers) == 0; v1 && status[0] < '4' && response.Value.Headers["X-Ignored-Fields"] == nil {
					t.Errorf("%s %s %s has no X-Ignored-Fields", method, path, status)
				}
				media := response.Value.Content["application/json"]
				if media == nil || status[0] < '4' {
					continue
				}
				want := "#/components/schemas/Failure"
				if status == "422" {
					want = "#/components/schemas/ValidationFailure"
				}
				if media.Schema.Ref != want {
					t.Errorf("schema of %s %s %s = %s, want %s", method, path, status, media.Schema.Ref, want)
				}
			}
		}
	}
}

func TestDescriptionFindsRoutes(t *testing.T) {
	router, err := gorillamux.NewRouter(loadDescription(t))
	if err != nil {
		t.Fatalf("gorillamux.NewRouter: %v", err)
	}
	for _, row := range []struct{ method, target, operation string }{
		{"GET", "/v1/abstract-templates", "listAbstractTemplates"},
		{"GET", "/v1/abstract-templates/1", "getAbstractTemplate"},
		{"GET", "/v1/order-statuses", "listOrderStatuses"},
		{"POST", "/v1/abstracts", "createAbstract"},
		{"POST", "/v1/abstracts/bulk", "changeAbstracts"},
		{"POST", "/v1/orders/bulk", "changeOrders"},
		{"POST", "/v1/file-vault/files/bulk", "changeFiles"},
		{"POST", "/v1/instruments/bulk", "changeInstruments"},
		{"GET", "/v1/abstracts/k3Jd82Qz", "getAbstract"},
		{"POST", "/v1/abstracts/k3Jd82Qz/files", "addAbstractFiles"},
		{"GET", "/v1/order-fields", "listOrderFields"},
		{"POST", "/v1/orders", "createOrder"},
		{"GET", "/v1/file-vault/folders", "listFolders"},
		{"POST", "/v1/file-vault/folders", "createFolder"},
		{"POST", "/v1/file-vault/upload", "uploadFiles"},
		{"GET", "/v1/file-vault/files/77", "getFile"},
		{"GET", "/v1/file-vault/files/77/download", "downloadFile"},
		{"GET", "/v1/abstracts", "listAbstracts"},
		{"PATCH", "/v1/abstracts/k3Jd82Qz", "changeAbstract"},
		{"DELETE", "/v1/abstracts/k3Jd82Qz", "trashAbstract"},
		{"POST", "/v1/abstracts/k3Jd82Qz/restore", "restoreAbstract"},
		{"DELETE", "/v1/abstracts/k3Jd82Qz/files/77", "detachFile"},
		{"GET", "/v1/orders?status=active", "listOrders"},
		{"GET", "/v1/orders/Zz9aB31x", "getOrder"},
		{"PATCH", "/v1/orders/Zz9aB31x", "changeOrder"},
		{"DELETE", "/v1/orders/Zz9aB31x", "trashOrder"},
		{"POST", "/v1/orders/Zz9aB31x/restore", "restoreOrder"},
		{"GET", "/v1/file-vault/files", "listFiles"},
		{"PATCH", "/v1/file-vault/files/77", "changeFile"},
		{"DELETE", "/v1/file-vault/files/77", "trashFile"},
		{"POST", "/v1/file-vault/files/77/restore", "restoreFile"},
		{"GET", "/v1/file-vault/folders/4", "getFolder"},
		{"PATCH", "/v1/file-vault/folders/4", "changeFolder"},
		{"DELETE", "/v1/file-vault/folders/4", "removeFolder"},
		{"GET", "/v1/search?q=elm", "search"},
		{"GET", "/v1/trash", "listTrash"},
		{"POST", "/v1/uploads", "beginUpload"},
		{"GET", "/v1/uploads/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8", "getUpload"},
		{"HEAD", "/v1/uploads/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8", "getUploadOffset"},
		{"PATCH", "/v1/uploads/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8", "writeUpload"},
		{"DELETE", "/v1/uploads/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8", "cancelUpload"},
		{"GET", "/v1/events", "listEvents"},
		{"GET", "/dl/77/1780027500/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8/deed%201.pdf", "followLink"},
		{"GET", "/healthz", "getHealth"},
		{"GET", "/readyz", "getReadiness"},
		{"GET", "/metrics", "getMetrics"},
		{"GET", "/openapi.json", "getDescription"},
	} {
		t.Run(row.operation, func(t *testing.T) {
			route, _, err := router.FindRoute(httptest.NewRequestWithContext(t.Context(), row.method, "http://vault.test"+row.target, http.NoBody))
			if err != nil {
				t.Errorf("%s %s: %v", row.method, row.target, err)
				return
			}
			if route.Operation.OperationID != row.operation {
				t.Errorf("operation of %s %s = %s, want %s", row.method, row.target, route.Operation.OperationID, row.operation)
			}
		})
	}
}

// The schemas have the same fields as the types in package apitypes.
func TestDescriptionMatchesAPITypes(t *testing.T) {
	doc := loadDescription(t)
	for name, shape := range map[string]any{
		"Abstract": apitypes.Abstract{}, "AbstractBody": apitypes.AbstractBody{}, "AbstractCreated": apitypes.AbstractCreated{},
		"AbstractTemplates": apitypes.AbstractTemplates{},
		"Template":          apitypes.Template{}, "Field": apitypes.Field{}, "File": apitypes.File{}, "FileBody": apitypes.FileBody{},
		"FileFailure": apitypes.FileFailure{}, "Upload": apitypes.Upload{}, "UploadBody": apitypes.UploadBody{},
		"Uploaded": apitypes.Uploaded{}, "UploadRefused": apitypes.Uploaded{}, "Folder": apitypes.Folder{},
		"Folders": apitypes.Folders{}, "FolderCreated": apitypes.FolderCreated{},
		"Order": apitypes.Order{}, "OrderBody": apitypes.OrderBody{}, "OrderFields": apitypes.OrderFields{},
		"OrderAssignmentBody": apitypes.OrderAssignmentBody{}, "OrderAssignment": apitypes.OrderAssignment{},
		"FolderBody": apitypes.FolderBody{}, "AbstractPage": apitypes.Page[apitypes.Abstract]{}, "OrderPage": apitypes.Page[apitypes.Order]{},
		"FilePage": apitypes.Page[apitypes.File]{}, "TrashPage": apitypes.Page[apitypes.Trashed]{},
		"EventPage": apitypes.Page[apitypes.Event]{}, "Links": apitypes.Links{}, "Meta": struct {
			PerPage    int     `json:"per_page"`
			NextCursor *string `json:"next_cursor"`
			PrevCursor *string `json:"prev_cursor"`
		}{}, "ListMeta": apitypes.Meta{}, "SearchMeta": apitypes.Meta{}, "Index": apitypes.Index{},
		"SearchPage": apitypes.Page[apitypes.Hit]{}, "FoundAbstract": apitypes.Hit{}, "FoundOrder": apitypes.Hit{},
		"FoundFile": apitypes.Hit{}, "FoundInstrument": apitypes.Hit{}, "FiledWith": apitypes.HitAbstract{}, "Trashed": apitypes.Trashed{},
		"TemplateDefinition": apitypes.TemplateDefinition{}, "TemplateBody": apitypes.TemplateBody{},
		"OrderStatuses": apitypes.OrderStatuses{}, "Actor": apitypes.Actor{}, "Event": apitypes.Event{}, "Change": apitypes.Change{},
		"ValidationFailure": apitypes.Failure{}, "Health": apitypes.Health{}, "LimitedHealth": apitypes.LimitedHealth{},
	} {
		t.Run(name, func(t *testing.T) {
			s := doc.Components.Schemas[name]
			if s == nil {
				t.Error("the description lacks this schema")
				return
			}
			var want, got []string
			for field := range reflect.TypeOf(shape).Fields() {
				key, option, _ := strings.Cut(field.Tag.Get("json"), ",")
				if field.Name == "AbstractID" && strings.HasPrefix(name, "Found") && name != "FoundInstrument" {
					continue // only instruments have it
				}
				want = append(want, key)
				if field.Type == reflect.TypeFor[json.RawMessage]() {
					continue // the field contains stored JSON of any type
				}
				if pointer := field.Type.Kind() == reflect.Pointer && option == ""; s.Value.Properties[key] != nil &&
					pointer != nullable(s.Value.Properties[key].Value) {
					t.Errorf("%s.%s: type and description disagree on null", name, key)
				}
			}
			for key := range s.Value.Properties {
				got = append(got, key)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("fields of schema %s = %q, want %q as in the type", name, got, want)
			}
		})
	}
}

// nullable reports whether a schema accepts null.
func nullable(s *openapi3.Schema) bool {
	return s.Type.Includes("null") || slices.ContainsFunc(s.AnyOf, func(ref *openapi3.SchemaRef) bool { return ref.Value.Type.Is("null") })
}

// Validation against the API description rejects responses that have extra fields or lack
// fields or headers.
func TestDescriptionValidatesResponses(t *testing.T) {
	router, err := gorillamux.NewRouter(loadDescription(t))
	if err != nil {
		t.Fatalf("gorillamux.NewRouter: %v", err)
	}
	const order = `{"data":{"id":"Zz9aB31x","order_number":"T-1","status":"active","due_date":null,"address":null,"city":null,` +
		`"county":null,"state":null,` +
		`"custom_fields":{"fee":1.50,"tags":["a"],"done":true},"created_at":"2026-05-29T04:00:00.000000Z",` +
		`"updated_at":"2026-05-29T04:00:00.000000Z"}}`
	const found = `{"data":[{"kind":"order","id":"Zz9aB31x","heading":"T-1","snippet":null,"page":null,"abstract":null,` +
		`"match":"exact","score":200000},` +
		`{"kind":"file","id":77,"heading":"a.pdf","snippet":"<mark>a</mark>","page":2,"abstract":{"id":"k3Jd82Qz","heading":"T-1"},` +
		`"match":"similar","score":1}],` +
		`"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null,"index":{"complete":true,` +
		`"behind":0,"texts":0,"scans":0}}}`
	id := http.Header{"X-Request-Id": {"r-1"}, "Content-Type": {"application/json"}}
	id.Set("ETag", `"AAAAAAAAAAAAAAAAAAAAAA"`)
	id.Set("X-Error-Code", "not_found")
	with := func(name, value string) http.Header {
		h := id.Clone()
		h.Set(name, value)
		return h
	}
	for _, row := range []struct {
		name, method, target string
		status               int
		header               http.Header
		body                 string
		valid                bool
	}{
		{"order", "POST", "/v1/orders", 201, id, order, true},
		{"order, charset", "POST", "/v1/orders", 201, with("Content-Type", "application/json; charset=utf-8"), order, true},
		{"order with another status", "POST", "/v1/orders", 200, id, order, false},
		{"order with an extra field", "POST", "/v1/orders", 201, id, strings.Replace(order, `"city"`, `"zip":null,"city"`, 1), false},
		{"order with a missing field", "POST", "/v1/orders", 201, id, strings.Replace(order, `"city":null,`, ``, 1), false},
		{"order with a number for an id", "POST", "/v1/orders", 201, id, strings.Replace(order, `"Zz9aB31x"`, `1`, 1), false},
		{"order with three decimals", "POST", "/v1/orders", 201, id, strings.Replace(order, `.000000Z`, `.000Z`, 1), false},
		{"order with an object in a field", "POST", "/v1/orders", 201, id, strings.Replace(order, `["a"]`, `{}`, 1), false},
		{"order without a request id", "POST", "/v1/orders", 201, http.Header{"Content-Type": {"application/json"}}, order, false},
		{"page instead of an order", "POST", "/v1/orders", 201, with("Content-Type", "text/html"), order, false},
		{"invalid", "POST", "/v1/orders", 422, id, `{"message":"m","errors":{"a":["b"]}}`, true},
		{"invalid with an unknown code", "POST", "/v1/orders", 422, with("X-Error-Code", "oops"), `{"message":"m","errors":{"a":["b"]}}`, false},
		{"invalid without errors", "POST", "/v1/orders", 422, id, `{"message":"m"}`, false},
		{"failure with errors", "POST", "/v1/orders", 400, id, `{"message":"m","errors":{"a":["b"]}}`, false},
		{"no key", "GET", "/v1/abstract-templates", 401, with("WWW-Authenticate", "Bearer"), `{"message":"Unauthenticated."}`, true},
		{"no key, no challenge", "GET", "/v1/abstract-templates", 401, id, `{"message":"Unauthenticated."}`, false},
		{"found", "GET", "/v1/search", 200, id, found, true},
		{"found with a number for an abstract's id", "GET", "/v1/search", 200, id, strings.Replace(found, `"Zz9aB31x"`, `1`, 1), false},
		{"found with a string for a document's id", "GET", "/v1/search", 200, id, strings.Replace(found, `77`, `"Zz9aB31x"`, 1), false},
		{"found of another kind", "GET", "/v1/search", 200, id, strings.Replace(found, `"order"`, `"folder"`, 1), false},
		{"found without the state of the index", "GET", "/v1/search", 200, id,
			strings.Replace(found, `,"index":{"complete":true,"behind":0,"texts":0,"scans":0}`, ``, 1), false},
		{"found without the number of missing texts", "GET", "/v1/search", 200, id, strings.Replace(found, `,"texts":0`, ``, 1), false},
		{"found without the number of scans", "GET", "/v1/search", 200, id, strings.Replace(found, `,"scans":0`, ``, 1), false},
		{"upload rejected", "POST", "/v1/file-vault/upload", 200, id,
			`{"success":false,"message":"m","files":[],"errors":[{"filename":"a","error":"b"}]}`, true},
		{"upload rejected with success", "POST", "/v1/file-vault/upload", 200, id,
			`{"success":true,"message":"m","files":[],"errors":[{"filename":"a","error":"b"}]}`, false},
		{"download", "GET", "/v1/file-vault/files/7/download", 302,
			http.Header{"X-Request-Id": {"r-1"}, "Location": {"http://vault.test/dl/7"}, "Cache-Control": {"no-store"}}, ``, true},
		{"download that may be cached", "GET", "/v1/file-vault/files/7/download", 302,
			http.Header{"X-Request-Id": {"r-1"}, "Location": {"http://vault.test/dl/7"}}, ``, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			req := httptest.NewRequestWithContext(t.Context(), row.method, "http://vault.test"+row.target, http.NoBody)
			route, params, err := router.FindRoute(req)
			if err != nil {
				t.Fatalf("FindRoute: %v", err)
			}
			input := &openapi3filter.ResponseValidationInput{
				RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
				Status:                 row.status, Header: row.header,
				Options: &openapi3filter.Options{IncludeResponseStatus: true},
			}
			if err := openapi3filter.ValidateResponse(t.Context(), input.SetBodyBytes([]byte(row.body))); (err == nil) != row.valid {
				t.Errorf("ValidateResponse() = %v, want success %t", err, row.valid)
			}
		})
	}
}
