package model

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
)

func TestAbstractDraft(t *testing.T) {
	template := &Template{ID: 3, Statuses: []string{"New", "Done"}, Fields: []Field{{Key: "kind", Type: Dropdown, Options: []string{"A"}}}}
	wrong := Input{Kind: inputOther}
	for _, row := range []struct {
		name     string
		draft    AbstractDraft
		template *Template
		found    bool
		rejected []string
	}{
		{"nothing", AbstractDraft{}, template, true, nil},
		{"no template at all", AbstractDraft{Custom: Custom{Values: Inputs{"kind": StringInput("B")}}}, nil, true, nil},
		{"a template ID that isn't an integer", AbstractDraft{TemplateID: IDInput{Present: true}}, nil, false,
			[]string{"template_id: The template id field must be an integer."}},
		{"an unknown template", AbstractDraft{TemplateID: IDInput{true, true, 9}}, nil, false,
			[]string{"template_id: The selected template id is invalid."}},
		{"custom_fields is not an object", AbstractDraft{Custom: Custom{Kind: CustomNotObject}}, template, true,
			[]string{"custom_fields: The custom fields field must be an array."}},
		{"custom_fields is not JSON", AbstractDraft{Custom: Custom{Kind: CustomNotJSON}}, template, true,
			[]string{"custom_fields: The custom fields field must be a valid JSON string."}},
		{"custom_fields is not text", AbstractDraft{Custom: Custom{Kind: CustomInvalidText}}, template, true,
			[]string{"custom_fields: The custom fields field contains invalid characters."}},
		{"all fields, in sequence", AbstractDraft{Fields: Inputs{"address": wrong, "city": wrong, "county": wrong,
			"state": wrong, "tax_map": wrong},
			TemplateID:  IDInput{true, true, 0},
			Custom:      Custom{Kind: CustomNotJSON},
			NonFilePart: true}, nil, false,
			[]string{"template_id: The selected template id is invalid.", "custom_fields: The custom fields field must be a valid JSON string.",
				"address: The address field must be a string.", "city: The city field must be a string.", "county: The county field must be a string.",
				"state: The state field must be a string.", "tax_map: The tax map field must be a string.", "files: The files field must be a file."}},
		{"custom fields come last", AbstractDraft{Fields: Inputs{"tax_map": wrong},
			Custom:      Custom{Values: Inputs{"kind": StringInput("B")}},
			NonFilePart: true},
			template, true, []string{"tax_map: The tax map field must be a string.", "files: The files field must be a file.",
				"custom_fields.kind: The selected kind is invalid."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, rejected := row.draft.Check(row.template, row.found, Rules{})
			checkFieldErrors(t, rejected, row.rejected...)
		})
	}
	a, _ := AbstractDraft{Fields: Inputs{"address": StringInput(" 1 Main St "), "city": StringInput("Troy"),
		"county": StringInput("Rensselaer"), "state": StringInput("NY"),
		"tax_map": StringInput("12-3")}}.Check(template, true, Rules{})
	if a.TemplateID != 3 || a.Status != "New" || a.Property != (Property{"1 Main St", "Troy", "Rensselaer", "NY"}) || a.TaxMap != "12-3" {
		t.Errorf("Check = %+v, want template 3, status New, and the trimmed property", a)
	}
	a, _ = AbstractDraft{}.Check(&Template{ID: 4}, true, Rules{})
	if a.Status != "" || a.TemplateID != 4 {
		t.Errorf("template without statuses: Check = %+v, want template 4 and no status", a)
	}
}

func TestOrderDraft(t *testing.T) {
	wrong := Input{Kind: inputOther}
	defs := []Field{{Key: "note", Type: Text}, {Key: "fee", Type: Number}}
	for _, row := range []struct {
		name     string
		draft    OrderDraft
		rejected []string
		message  string
	}{
		{"only the order number", OrderDraft{Fields: Inputs{"order_number": StringInput("A-1")}}, nil, ""},
		{"nothing", OrderDraft{}, []string{"order_number: The order number field is required."}, "The order number field is required."},
		{"blanks", OrderDraft{Fields: Inputs{"order_number": StringInput(" \t")}},
			[]string{"order_number: The order number field is required."},
			"The order number field is required."},
		{"a number that isn't a string is not also missing", OrderDraft{Fields: Inputs{"order_number": wrong}},
			[]string{"order_number: The order number field must be a string."},
			"The order number field must be a string."},
		{"all fields, in sequence", OrderDraft{Fields: Inputs{"due_date": wrong, "address": wrong, "city": wrong,
			"county": wrong, "state": wrong},
			Custom: Custom{Kind: CustomNotObject}},
			[]string{"order_number: The order number field is required.", "due_date: The due date field must match the format Y-m-d.",
				"address: The address field must be a string.", "city: The city field must be a string.", "county: The county field must be a string.",
				"state: The state field must be a string.", "custom_fields: The custom fields field must be an array."},
			"The order number field is required. (and 6 more errors)"},
		{"custom fields in the sequence of their definition",
			OrderDraft{Custom: Custom{Values: Inputs{"fee": StringInput("x"), "note": ObjectInput(nil)}}},
			[]string{"order_number: The order number field is required.", "custom_fields.note: The note field must be a string.",
				"custom_fields.fee: The fee field must be a number."},
			"The order number field is required. (and 2 more errors)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, rejected := row.draft.Check(defs, Rules{})
			checkFieldErrors(t, rejected, row.rejected...)
			var e *errs.Error
			if err := rejected.Err(); errors.As(err, &e) && e.Message != row.message || err == nil && row.message != "" {
				t.Errorf("error = %v, want message %s", err, row.message)
			}
		})
	}
	o, rejected := OrderDraft{Fields: Inputs{"order_number": StringInput(" A-1 "),
		"due_date": StringInput("2026-06-15")}}.Check(defs, Rules{})
	if len(rejected) > 0 || o.Number != "A-1" || o.DueDate != "2026-06-15" {
		t.Errorf("Check = %+v, errors %v; want order A-1 due 2026-06-15", o, rejected)
	}
}

func TestFolderDraft(t *testing.T) {
	for _, row := range []struct {
		name     string
		draft    FolderDraft
		known    bool
		parent   uint64
		rejected []string
	}{
		{"at the root", FolderDraft{Name: StringInput("Plats")}, false, 0, nil},
		{"in another", FolderDraft{Name: StringInput("Plats"), ParentID: IDInput{true, true, 7}}, true, 7, nil},
		{"unknown parent", FolderDraft{Name: StringInput("Plats"), ParentID: IDInput{true, true, 7}}, false, 0,
			[]string{"parent_id: The selected parent id is invalid."}},
		{"parent 0", FolderDraft{Name: StringInput("Plats"), ParentID: IDInput{true, true, 0}}, true, 0,
			[]string{"parent_id: The selected parent id is invalid."}},
		{"negative parent", FolderDraft{Name: StringInput("Plats"), ParentID: IDInput{true, true, -1}}, true, 0,
			[]string{"parent_id: The selected parent id is invalid."}},
		{"parent isn't an integer", FolderDraft{Name: StringInput("Plats"), ParentID: IDInput{Present: true}}, true, 0,
			[]string{"parent_id: The parent id field must be an integer."}},
		{"nothing", FolderDraft{ParentID: IDInput{Present: true}}, false, 0,
			[]string{"name: The name field is required.", "parent_id: The parent id field must be an integer."}},
		{"a name of another type is not also missing", FolderDraft{Name: Input{Kind: inputOther}}, false, 0,
			[]string{"name: The name field must be a string."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder, rejected := row.draft.Check(row.known)
			checkFieldErrors(t, rejected, row.rejected...)
			if folder.ParentID != row.parent {
				t.Errorf("parent = %d, want %d", folder.ParentID, row.parent)
			}
		})
	}
}

func TestUploadDraft(t *testing.T) {
	for _, row := range []struct {
		name        string
		draft       UploadDraft
		sent, known bool
		folder      uint64
		rejected    []string
	}{
		{"into no folder", UploadDraft{}, true, false, 0, nil},
		{"into a folder", UploadDraft{FolderID: IDInput{true, true, 2}}, true, true, 2, nil},
		{"nothing sent", UploadDraft{}, false, false, 0, []string{"files: The files field is required."}},
		{"no file", UploadDraft{NonFilePart: true}, false, false, 0, []string{"files: The files field must be a file."}},
		{"both, in sequence", UploadDraft{FolderID: IDInput{true, true, 2}}, false, false, 0,
			[]string{"files: The files field is required.", "folder_id: The selected folder id is invalid."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder, rejected := row.draft.Check(row.sent, row.known)
			checkFieldErrors(t, rejected, row.rejected...)
			if folder != row.folder {
				t.Errorf("folder = %d, want %d", folder, row.folder)
			}
		})
	}
}

func TestKeyDraft(t *testing.T) {
	now := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	later := now.Add(time.Microsecond)
	for _, row := range []struct {
		name      string
		draft     KeyDraft
		abilities string
		rejected  []string
	}{
		{"only the name", KeyDraft{Name: " intake "}, "api:v1", nil},
		{"abilities, sorted and without repeats", KeyDraft{Name: "x", Abilities: []string{"metrics", "events", "metrics"}},
			"events metrics", nil},
		{"later", KeyDraft{Name: "x", ExpiresAt: &later}, "api:v1", nil},
		{"no name", KeyDraft{Name: " "}, "api:v1", []string{"name: The name field is required."}},
		{"long name", KeyDraft{Name: strings.Repeat("é", 256)}, "api:v1",
			[]string{"name: The name field must not be greater than 255 characters."}},
		{"control characters", KeyDraft{Name: "a\x1b[31m"}, "api:v1", []string{"name: The name field contains invalid characters."}},
		{"not UTF-8", KeyDraft{Name: "\xff"}, "api:v1", []string{"name: The name field contains invalid characters."}},
		{"unknown abilities, reported once", KeyDraft{Name: "x", Abilities: []string{"root", "admin"}}, "admin root",
			[]string{"abilities: The selected ability is invalid."}},
		{"expires now", KeyDraft{Name: "x", ExpiresAt: &now}, "api:v1", []string{"expires_at: The expires at field must be a date after now."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			sent := strings.Join(row.draft.Abilities, " ")
			key, rejected := row.draft.Check(now)
			checkFieldErrors(t, rejected, row.rejected...)
			if got := strings.Join(key.Abilities, " "); got != row.abilities {
				t.Errorf("abilities = %s, want %s", got, row.abilities)
			}
			if strings.Join(row.draft.Abilities, " ") != sent {
				t.Errorf("abilities of the draft after Check = %q, want them unchanged: %q", row.draft.Abilities, sent)
			}
		})
	}
}

func TestKeyActive(t *testing.T) {
	now := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	before, after := now.Add(-time.Microsecond), now.Add(time.Microsecond)
	for _, row := range []struct {
		name string
		key  Key
		want bool
	}{
		{"never expires", Key{}, true},
		{"until later", Key{ExpiresAt: &after}, true},
		{"until now", Key{ExpiresAt: &now}, false},
		{"until before", Key{ExpiresAt: &before}, false},
		{"revoked", Key{RevokedAt: &before}, false},
		{"revoked in the future", Key{RevokedAt: &after}, false},
		{"revoked, not expired", Key{RevokedAt: &before, ExpiresAt: &after}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.key.Active(now); got != row.want {
				t.Errorf("Active = %v, want %v", got, !got)
			}
		})
	}
}
