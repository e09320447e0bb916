package api_test

import (
	"strings"
	"testing"

	"deedkeep/app/model"
)

func folder(body string, status int, want string) row {
	return row{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON}, body: body, status: status, want: want}
}

func withoutFolders(s *setup) { s.workspace.Folders = nil }

func TestFolderCreated(t *testing.T) {
	t.Parallel()
	h := open(t, withoutFolders)
	h.ask(t, row{as: "read", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[]}`})
	h.ask(t, folder(`{"name":" Straße "}`, 201, `{"success":true,"message":"Folder created successfully","folder":{"id":1,"name":"Straße","parent_id":null}}`))
	h.ask(t, folder(`{"name":"b","parent_id":"1"}`, 201, `{"success":true,"message":"Folder created successfully","folder":{"id":2,"name":"b","parent_id":1}}`))
	h.ask(t, folder(`{"name":"STRASSE","parent_id":1}`, 201, ""))
	h.ask(t, folder(`{"name":"Archive","parent_id":null}`, 201, ""))
	h.ask(t, folder(`{"name":"a","parent_id":2}`, 201, ""))
	h.ask(t, folder(`{"name":"zz","parent_id":""}`, 201, ""))
	taken := invalid("name", "The name has already been taken.")
	h.ask(t, folder(`{"name":"strasse"}`, 422, taken))
	h.ask(t, folder(`{"name":"B","parent_id":1}`, 422, taken))
	h.ask(t, row{as: "read", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[` +
		`{"id":4,"name":"Archive","parent_id":null},{"id":1,"name":"Straße","parent_id":null},{"id":6,"name":"zz","parent_id":null},` +
		`{"id":2,"name":"b","parent_id":1},{"id":3,"name":"STRASSE","parent_id":1},{"id":5,"name":"a","parent_id":2}]}`})
}

func TestFolderRefused(t *testing.T) {
	t.Parallel()
	h := open(t, withoutFolders)
	parent := func(sentence string) string { return invalid("parent_id", sentence) }
	for _, c := range []struct{ name, body, want string }{
		{"nothing", `{}`, invalid("name", "The name field is required.")},
		{"blank", `{"name":"  "}`, invalid("name", "The name field is required.")},
		{"no string", `{"name":["x"]}`, invalid("name", "The name field must be a string.")},
		{"long", `{"name":"` + strings.Repeat("n", 256) + `"}`, invalid("name", "The name field must not be greater than 255 characters.")},
		{"parent 0", `{"name":"x","parent_id":0}`, parent("The selected parent id is invalid.")},
		{"parent unknown", `{"name":"x","parent_id":7}`, parent("The selected parent id is invalid.")},
		{"parent huge", `{"name":"x","parent_id":99999999999999999999}`, parent("The selected parent id is invalid.")},
		{"parent 1.5", `{"name":"x","parent_id":1.5}`, parent("The parent id field must be an integer.")},
		{"parent true", `{"name":"x","parent_id":true}`, parent("The parent id field must be an integer.")},
		{"parent as text null", `{"name":"x","parent_id":"null"}`, parent("The parent id field must be an integer.")},
		{"both", `{"parent_id":7}`, `{"message":"The name field is required. (and 1 more error)","errors":{"name":["The name field is required."],"parent_id":["The selected parent id is invalid."]}}`},
	} {
		t.Run(c.name, func(t *testing.T) { h.ask(t, folder(c.body, 422, c.want)) })
	}
	h.ask(t, row{as: "full", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[]}`})
}

// kinds is a template with a field of every type.
func kinds(s *setup) {
	var fields []model.Field
	for _, kind := range model.FieldTypes() {
		f := model.Field{Key: "a_" + string(kind), Label: "A " + string(kind), Type: kind}
		if kind == model.Dropdown || kind == model.Multiselect {
			f.Options = []string{"One", "Two", "7"}
		}
		fields = append(fields, f)
	}
	fields = append(fields, model.Field{Key: "must", Label: "Must", Type: model.Text, Required: true})
	s.workspace.Templates = []model.Template{
		{Name: "All kinds", Fields: fields, Statuses: []string{"New", "Done"}}, {Name: "Retired"}, {Name: "Bare"},
	}
	s.workspace.OrderFields = fields
	s.retired = []uint64{2}
}
