package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// objectKeys lists the exact fields, in order, of the objects that clients rely on.
var objectKeys = map[string]string{
	"Abstract": "id template_id status address city county state tax_map custom_fields files created_at updated_at",
	"File":     "id filename file_type mime_type page_count file_size file_size_human folder_id is_processing download_url created_at",
	"Order":    "id order_number status due_date address city county state custom_fields created_at updated_at",
	"Folder":   "id name parent_id",
	"Template": "id name default custom_fields",
	"Field":    "key label type required options",
}

// The objects in objectKeys have exactly their listed fields in all responses. The test
// fails if it doesn't cover an operation whose response contains one of these objects
// according to the API description.
func TestObjectsKeepTheirFields(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	filled := []string{fieldPart("county", "Essex"), fieldPart("custom_fields", `{"file_number":"A-1"}`), filePart("files", "a.pdf", pdf(1))}
	abstractID := srv.createID(t, abstractCall(201, "", filled...))
	deletedAbstract := srv.createID(t, abstractCall(201, "", filled...))
	orderID := srv.createID(t, orderCall(`{"order_number":"T-1","custom_fields":{"rush":"Rush"}}`, 201, ""))
	deletedOrder := srv.createID(t, orderCall(`{"order_number":"T-2"}`, 201, ""))
	srv.do(t, uploadCall("full", 201, filePart("files", "b.pdf", pdf(1)), filePart("files", "c.pdf", pdf(2))))
	for _, path := range []string{"/abstracts/" + deletedAbstract, "/orders/" + deletedOrder, "/file-vault/files/4"} {
		srv.do(t, call{as: "full", method: "DELETE", path: "/v1" + path, status: 204})
	}
	uploadPath := srv.beginUpload(t, "full", len(pdf(5)), uploadMetadata("filename", "f.pdf"))
	srv.do(t, writeChunk(uploadPath, 0, pdf(5), 204))
	srv.do(t, jsonCall("PUT", "/abstracts/"+abstractID+"/order", `{"order_id":"`+orderID+`"}`, 200))
	const single = "data.Abstract data.files.*.File"
	const listed = "data.*.Abstract data.*.files.*.File"
	rows := map[string]struct {
		path, media, body string
		status            int
		has               string // paths and names of the objects in the body; in a path, * means all items of an array
		never             string // object that the description allows but this response doesn't contain
	}{
		"GET /abstract-templates":         {status: 200, has: "templates.*.Template templates.*.custom_fields.*.Field"},
		"GET /abstract-templates/{n}":     {status: 200, has: "template.custom_fields.*.Field"},
		"GET /abstracts":                  {status: 200, has: listed},
		"POST /abstracts":                 {media: asForm, body: formBody(filled...), status: 201, has: single},
		"GET /abstracts/{id}":             {status: 200, has: single},
		"PATCH /abstracts/{id}":           {media: asJSON, body: `{"city":"Salem"}`, status: 200, has: single},
		"POST /abstracts/{id}/restore":    {path: "/abstracts/" + deletedAbstract + "/restore", status: 200, has: single},
		"POST /abstracts/{id}/files":      {media: asForm, body: formBody(filePart("files", "d.pdf", pdf(3))), status: 201, has: single},
		"GET /order-fields":               {status: 200, has: "core_fields.*.Field custom_fields.*.Field"},
		"GET /orders":                     {status: 200, has: "data.*.Order"},
		"POST /orders":                    {media: asJSON, body: `{"order_number":"T-3"}`, status: 201, has: "data.Order"},
		"GET /orders/{id}":                {status: 200, has: "data.Order"},
		"PATCH /orders/{id}":              {media: asJSON, body: `{"city":"Salem"}`, status: 200, has: "data.Order"},
		"GET /orders/{id}/abstracts":      {status: 200, has: listed},
		"POST /abstracts/{id}/bring-down": {status: 201, has: "data.Abstract", never: "File"},
		"POST /orders/{id}/restore":       {path: "/orders/" + deletedOrder + "/restore", status: 200, has: "data.Order"},
		"GET /file-vault/folders":         {status: 200, has: "folders.*.Folder"},
		"POST /file-vault/folders":        {media: asJSON, body: `{"name":"Deeds","parent_id":1}`, status: 201, has: "folder.Folder"},
		"GET /file-vault/folders/{n}":     {status: 200, has: "data.Folder"},
		"PATCH /file-vault/folders/{n}":   {media: asJSON, body: `{"name":"Box 9"}`, status: 200, has: "data.Folder"},
		"POST /file-vault/upload": {media: asForm, body: formBody(filePart("files", "e.pdf", pdf(4))), status: 201,
			has: "files.*.File"},
		"GET /file-vault/files":              {status: 200, has: "data.*.File"},
		"GET /file-vault/files/{n}":          {status: 200, has: "data.File"},
		"PATCH /file-vault/files/{n}":        {media: asJSON, body: `{"filename":"z.pdf"}`, status: 200, has: "data.File"},
		"GET /uploads/{id}":                  {path: strings.TrimPrefix(uploadPath, "/v1"), status: 200, has: "data.file.File"},
		"POST /uploads":                      {never: "File"},
		"POST /file-vault/files/pages":       {media: asJSON, body: `{"name":"Split","parts":[{"file_id":1}]}`, status: 202, has: "data.File"},
		"POST /file-vault/files/{n}/restore": {path: "/file-vault/files/4/restore", status: 200, has: "data.File"},
	}
	for operation, kinds := range operationsWithObjects(t) {
		r, ok := rows[operation]
		for _, kind := range kinds {
			if ok && r.never == kind {
				continue
			}
			if !ok || !strings.Contains(" "+r.has+" ", "."+kind+" ") {
				t.Errorf("response of %s contains %s, but no row checks it", operation, kind)
			}
		}
	}
	for operation, r := range rows {
		if r.has == "" {
			continue
		}
		method, path, _ := strings.Cut(operation, " ")
		id := abstractID
		if strings.HasPrefix(path, "/orders") {
			id = orderID
		}
		if r.path != "" {
			path = r.path
		}
		request := call{as: "full", method: method, path: "/v1" + strings.NewReplacer("{id}", id, "{n}", "1").Replace(path), body: r.body,
			status: r.status}
		if r.media != "" {
			request.header = []string{r.media}
		}
		body := srv.do(t, request).body
		for _, location := range strings.Fields(r.has) {
			dot := strings.LastIndexByte(location, '.')
			kind, found := location[dot+1:], objectKeysAt(t, body, strings.Split(location[:dot], "."))
			if len(found) == 0 {
				t.Errorf("response of %s has no %s at %s: %s", operation, kind, location[:dot], body)
			}
			for _, keys := range found {
				if got := strings.Join(keys, " "); got != objectKeys[kind] {
					t.Errorf("%s: fields of %s at %s = %s, want %s", operation, kind, location[:dot], got, objectKeys[kind])
				}
			}
		}
	}
}

// operationsWithObjects returns the names of the objects that the response of each
// operation may contain according to the API description.
func operationsWithObjects(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for path, item := range loadDescription(t).Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				media := response.Value.Content["application/json"]
				if status[0] != '2' || media == nil {
					continue
				}
				kinds := map[string]bool{}
				collectObjects(media.Schema, kinds, map[string]bool{})
				for kind := range kinds {
					out[method+" "+path] = append(out[method+" "+path], kind)
				}
			}
		}
	}
	return out
}

// collectObjects adds to kinds the name of each objectKeys entry that the schema
// references, directly or indirectly. seen prevents infinite recursion.
func collectObjects(s *openapi3.SchemaRef, kinds, seen map[string]bool) {
	if s == nil || s.Value == nil {
		return
	}
	if name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); s.Ref != "" {
		if seen[name] {
			return
		}
		seen[name] = true
		if objectKeys[name] != "" {
			kinds[name] = true
		}
	}
	next := slices.Concat(s.Value.OneOf, s.Value.AnyOf, s.Value.AllOf)
	for _, p := range s.Value.Properties {
		next = append(next, p)
	}
	for _, schema := range append(next, s.Value.Items) {
		collectObjects(schema, kinds, seen)
	}
}

// objectKeysAt returns the keys, in order, of each object at path.
func objectKeysAt(t *testing.T, raw []byte, path []string) (found [][]string) {
	t.Helper()
	keys, values, err := entries(raw)
	if err != nil {
		t.Fatalf("parse %s: %v", raw, err)
	}
	if len(path) == 0 {
		return [][]string{keys}
	}
	for i, value := range values {
		if path[0] == "*" || keys != nil && keys[i] == path[0] {
			found = append(found, objectKeysAt(t, value, path[1:])...)
		}
	}
	return found
}

// entries parses a JSON object or array and returns its keys and values. keys is nil for an
// array.
func entries(raw []byte) (keys []string, values []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	open, err := d.Token()
	if err != nil {
		return nil, nil, err
	}
	if open != json.Delim('{') && open != json.Delim('[') {
		return nil, nil, fmt.Errorf("%v is not an object or array", open)
	}
	for d.More() {
		if open == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return nil, nil, err
			}
			keys = append(keys, fmt.Sprint(key))
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		values = append(values, value)
	}
	return keys, values, nil
}
