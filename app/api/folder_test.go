package api_test

import (
	"strings"
	"testing"

	"deedkeep/app/model"
)

// folderCall returns a call that creates a folder.
func folderCall(body string, status int, want string) call {
	return call{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON}, body: body, status: status, want: want}
}

func withoutFolders(cfg *testConfig) { cfg.workspace.Folders = nil }

func TestFolderCreated(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withoutFolders)
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[]}`})
	srv.do(t, folderCall(`{"name":" Straße "}`, 201,
		`{"success":true,"message":"Folder created successfully","folder":{"id":1,"name":"Straße","parent_id":null}}`))
	srv.do(t, folderCall(`{"name":"b","parent_id":"1"}`, 201,
		`{"success":true,"message":"Folder created successfully","folder":{"id":2,"name":"b","parent_id":1}}`))
	srv.do(t, folderCall(`{"name":"STRASSE","parent_id":1}`, 201, ""))
	srv.do(t, folderCall(`{"name":"Archive","parent_id":null}`, 201, ""))
	srv.do(t, folderCall(`{"name":"a","parent_id":2}`, 201, ""))
	srv.do(t, folderCall(`{"name":"zz","parent_id":""}`, 201, ""))
	taken := invalidField("name", "The name has already been taken.")
	srv.do(t, folderCall(`{"name":"strasse"}`, 422, taken))
	srv.do(t, folderCall(`{"name":"B","parent_id":1}`, 422, taken))
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[` +
		`{"id":4,"name":"Archive","parent_id":null},{"id":1,"name":"Straße","parent_id":null},{"id":6,"name":"zz","parent_id":null},` +
		`{"id":2,"name":"b","parent_id":1},{"id":3,"name":"STRASSE","parent_id":1},{"id":5,"name":"a","parent_id":2}]}`})
}

func TestFolderRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withoutFolders)
	parent := func(sentence string) string { return invalidField("parent_id", sentence) }
	for _, c := range []struct{ name, body, want string }{
		{"empty object", `{}`, invalidField("name", "The name field is required.")},
		{"blank", `{"name":"  "}`, invalidField("name", "The name field is required.")},
		{"not a string", `{"name":["x"]}`, invalidField("name", "The name field must be a string.")},
		{"long", `{"name":"` + strings.Repeat("n", 256) + `"}`, invalidField("name", "The name field must not be greater than 255 characters.")},
		{"parent 0", `{"name":"x","parent_id":0}`, parent("The selected parent id is invalid.")},
		{"parent unknown", `{"name":"x","parent_id":7}`, parent("The selected parent id is invalid.")},
		{"parent huge", `{"name":"x","parent_id":99999999999999999999}`, parent("The selected parent id is invalid.")},
		{"parent 1.5", `{"name":"x","parent_id":1.5}`, parent("The parent id field must be an integer.")},
		{"parent true", `{"name":"x","parent_id":true}`, parent("The parent id field must be an integer.")},
		{"parent as text null", `{"name":"x","parent_id":"null"}`, parent("The parent id field must be an integer.")},
		{"two errors", `{"parent_id":7}`,
			`{"message":"The name field is required. (and 1 more error)","errors":{"name":["The name field is required."],` +
				`"parent_id":["The selected parent id is invalid."]}}`},
	} {
		t.Run(c.name, func(t *testing.T) { srv.do(t, folderCall(c.body, 422, c.want)) })
	}
	srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[]}`})
}

// withAllFieldTypes adds a template that has a field of each type.
func withAllFieldTypes(cfg *testConfig) {
	var fields []model.Field
	for _, kind := range model.FieldTypes() {
		f := model.Field{Key: "a_" + string(kind), Label: "A " + string(kind), Type: kind}
		if kind == model.Dropdown || kind == model.Multiselect {
			f.Options = []string{"One", "Two", "7"}
		}
		fields = append(fields, f)
	}
	fields = append(fields, model.Field{Key: "must", Label: "Must", Type: model.Text, Required: true})
	cfg.workspace.Templates = []model.Template{
		{Name: "All kinds", Fields: fields, Statuses: []string{"New", "Done"}}, {Name: "Retired"}, {Name: "Bare"},
	}
	cfg.workspace.OrderFields = fields
	cfg.retired = []uint64{2}
}
