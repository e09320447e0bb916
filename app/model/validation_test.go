package model

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	const limit = 5
	for _, row := range []struct {
		name     string
		in       Input
		value    string
		rejected string
	}{
		{"absent", Input{}, "", ""},
		{"empty", StringInput(""), "", ""},
		{"only white space", StringInput(" \t\r\n\u00a0\u3000"), "", ""},
		{"trimmed", StringInput("  1 A \n"), "1 A", ""},
		{"at max", StringInput("ABCDE"), "ABCDE", ""},
		{"at max, after trimming", StringInput("  ABCDE  "), "ABCDE", ""},
		{"code points, not bytes", StringInput("Äß語🏠é"), "Äß語🏠é", ""},
		{"one too long", StringInput("ABCDEF"), "", "The address field must not be greater than 5 characters."},
		{"NUL", StringInput("a\x00b"), "", "The address field contains invalid characters."},
		{"NUL at the end", StringInput("a\x00"), "", "The address field contains invalid characters."},
		{"not UTF-8", StringInput("caf\xe9"), "", "The address field contains invalid characters."},
		{"a surrogate in UTF-8", StringInput("\xed\xa0\x80"), "", "The address field contains invalid characters."},
		{"JSON of another type", Input{Kind: inputOther}, "", "The address field must be a string."},
		{"inner line break stays", StringInput("a\nb"), "a\nb", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f validation
			if got := f.line("address", row.in, limit); got != row.value {
				t.Errorf("value = %q, want %q", got, row.value)
			}
			if row.rejected == "" {
				checkFieldErrors(t, f.Fields)
			} else {
				checkFieldErrors(t, f.Fields, "address: "+row.rejected)
			}
		})
	}
}

func TestMaximumLengths(t *testing.T) {
	long := func(n int) Input { return StringInput(strings.Repeat("é", n)) }
	_, f := OrderDraft{Fields: Inputs{"order_number": long(255), "address": long(2000), "city": long(2000),
		"county": long(2000), "state": long(2000)}}.Check(nil, Rules{})
	checkFieldErrors(t, f)
	_, f = OrderDraft{Fields: Inputs{"order_number": long(256), "address": long(2001), "city": long(2001),
		"county": long(2001), "state": long(2001)}}.Check(nil, Rules{})
	checkFieldErrors(t, f,
		"order_number: The order number field must not be greater than 255 characters.",
		"address: The address field must not be greater than 2000 characters.",
		"city: The city field must not be greater than 2000 characters.",
		"county: The county field must not be greater than 2000 characters.",
		"state: The state field must not be greater than 2000 characters.")
	_, f = AbstractDraft{Fields: Inputs{"tax_map": long(2000)}}.Check(nil, true, Rules{})
	checkFieldErrors(t, f)
	_, f = AbstractDraft{Fields: Inputs{"tax_map": long(2001)}}.Check(nil, true, Rules{})
	checkFieldErrors(t, f, "tax_map: The tax map field must not be greater than 2000 characters.")
	_, f = FolderDraft{Name: long(255)}.Check(true)
	checkFieldErrors(t, f)
	_, f = FolderDraft{Name: long(256)}.Check(true)
	checkFieldErrors(t, f, "name: The name field must not be greater than 255 characters.")
}

func TestDate(t *testing.T) {
	const bad = "due_date: The due date field must match the format Y-m-d."
	for _, row := range []struct {
		name     string
		in       Input
		value    string
		rejected string
	}{
		{"absent", Input{}, "", ""},
		{"empty", StringInput(" "), "", ""},
		{"a day", StringInput("2026-06-15"), "2026-06-15", ""},
		{"blanks around", StringInput(" 2026-06-15\n"), "2026-06-15", ""},
		{"leap day", StringInput("2028-02-29"), "2028-02-29", ""},
		{"leap century", StringInput("2000-02-29"), "2000-02-29", ""},
		{"no such day", StringInput("2026-02-30"), "", bad},
		{"no leap day", StringInput("2026-02-29"), "", bad},
		{"no leap century", StringInput("1900-02-29"), "", bad},
		{"month 13", StringInput("2026-13-01"), "", bad},
		{"month 0", StringInput("2026-00-10"), "", bad},
		{"day 0", StringInput("2026-01-00"), "", bad},
		{"one digit", StringInput("2026-6-15"), "", bad},
		{"slashes", StringInput("2026/06/15"), "", bad},
		{"American", StringInput("06/15/2026"), "", bad},
		{"with a time", StringInput("2026-06-15T00:00:00Z"), "", bad},
		{"signed year", StringInput("-026-06-15"), "", bad},
		{"other digits", StringInput("２０２６-06-15"), "", bad},
		{"words", StringInput("tomorrow"), "", bad},
		{"a number", Input{Kind: inputOther}, "", bad},
		{"NUL", StringInput("2026-06-15\x00"), "", "due_date: The due date field contains invalid characters."},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f validation
			if got := f.date("due_date", row.in); got != row.value {
				t.Errorf("value = %q, want %q", got, row.value)
			}
			if row.rejected == "" {
				checkFieldErrors(t, f.Fields)
			} else {
				checkFieldErrors(t, f.Fields, row.rejected)
			}
		})
	}
}

var (
	cleared   = Some(Input{})
	notString = Some(Input{Kind: inputOther})
)

func sendText(text string) Optional[Input] { return Some(StringInput(text)) }
func sendID(n int64) Optional[IDInput]     { return Some(IDInput{true, true, n}) }
func sendIDs(ids ...int64) Optional[IDListInput] {
	n := IDListInput{IsArray: true}
	for _, id := range ids {
		n.Items = append(n.Items, IDInput{true, true, id})
	}
	return Some(n)
}

// customOf parses JSON text into a custom_fields input.
func customOf(text string) Optional[Custom] {
	sent := Inputs{}
	if err := json.Unmarshal([]byte(text), &sent); err != nil {
		panic(err)
	}
	return Some(Custom{Values: sent})
}

// changeLines returns changes as "field from to" lines.
func changeLines(changes []Change) (lines []string) {
	for _, c := range changes {
		lines = append(lines, strings.TrimSpace(c.Field+" "+string(c.From)+" "+string(c.To)+" "+c.Row))
	}
	return lines
}

func checkChanges(t *testing.T, changes []Change, want ...string) {
	t.Helper()
	if got := changeLines(changes); !slices.Equal(got, want) {
		t.Errorf("changes\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// sampleAbstract returns an abstract and its template.
func sampleAbstract() (Abstract, *Template) {
	template := &Template{ID: 3, Statuses: []string{"New", "Done"}, Retired: true, Fields: []Field{
		{Key: "kind", Type: Dropdown, Options: []string{"A", "B"}}, {Key: "owner", Type: Text, Required: true}, {Key: "rush", Type: Checkbox},
		{Key: "run", Type: Multiselect, Options: []string{"X", "Y"}}, {Key: "was", Type: Dropdown, Options: []string{"now"}},
	}}
	return Abstract{ID: 1, TemplateID: 3, Status: "New", Property: Property{"1 Main St", "Troy", "Rensselaer", "NY"}, TaxMap: "12-3",
		Custom: CustomValues{"kind": json.RawMessage(`"A"`), "owner": json.RawMessage(`"Doe"`), "lost": json.RawMessage(`"kept"`),
			"was": json.RawMessage(`"before"`)},
		Files: []uint64{4, 7, 9}, Version: 5}, template
}

func TestAbstractPatch(t *testing.T) {
	old, template := sampleAbstract()
	for _, row := range []struct {
		name    string
		patch   AbstractPatch
		changes []string
	}{
		{"nothing sent", AbstractPatch{}, nil},
		{"one field", AbstractPatch{Fields: Inputs{"city": StringInput(" Albany ")}}, []string{`city "Troy" "Albany"`}},
		{"null clears", AbstractPatch{Fields: Inputs{"address": Input{}, "county": Input{}, "tax_map": Input{}}},
			[]string{`address "1 Main St" null`, `county "Rensselaer" null`, `tax_map "12-3" null`}},
		{"blanks clear", AbstractPatch{Fields: Inputs{"state": StringInput(" ")}}, []string{`state "NY" null`}},
		{"the same value", AbstractPatch{Fields: Inputs{"state": StringInput("NY "), "status": StringInput("New")}},
			nil},
		{"status", AbstractPatch{Fields: Inputs{"status": StringInput("Done")}}, []string{`status "New" "Done"`}},
		{"its own template", AbstractPatch{TemplateID: sendID(3)}, nil},
		{"files in another sequence", AbstractPatch{Files: sendIDs(9, 4, 7)}, []string{`files 3 1 file:9`}},
		{"files in the same sequence", AbstractPatch{Files: sendIDs(4, 7, 9)}, nil},
		{"custom fields merge", AbstractPatch{Custom: customOf(`{"kind":"B","rush":true}`)},
			[]string{`custom_fields.kind "A" "B"`, `custom_fields.rush null true`}},
		{"null removes a key", AbstractPatch{Custom: customOf(`{"kind":null}`)}, []string{`custom_fields.kind "A" null`}},
		{"an empty text removes a key", AbstractPatch{Custom: customOf(`{"kind":""}`)}, []string{`custom_fields.kind "A" null`}},
		{"an empty list removes a key", AbstractPatch{Custom: customOf(`{"kind":[]}`)}, []string{`custom_fields.kind "A" null`}},
		{"an empty map changes nothing", AbstractPatch{Custom: customOf(`{}`)}, nil},
		{"an unknown key is ignored", AbstractPatch{Custom: customOf(`{"zz":"1"}`)}, nil},
		{"a key that the template no longer has is ignored", AbstractPatch{Custom: customOf(`{"lost":"x"}`)}, nil},
		{"a value that is no longer an option may stay", AbstractPatch{Custom: customOf(`{"was": "before"}`)}, nil},
		{"null removes all keys", AbstractPatch{Custom: Some(Custom{Kind: CustomNull})},
			[]string{`custom_fields.kind "A" null`, `custom_fields.lost "kept" null`, `custom_fields.owner "Doe" null`,
				`custom_fields.was "before" null`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			now, rejected := row.patch.Check(old, template, Rules{})
			checkFieldErrors(t, rejected)
			checkChanges(t, old.Changes(now), row.changes...)
			again, _ := sampleAbstract()
			if !reflect.DeepEqual(old, again) {
				t.Errorf("abstract after Check = %+v, want it unchanged: %+v", old, again)
			}
		})
	}
}

func TestAbstractPatchRejected(t *testing.T) {
	old, template := sampleAbstract()
	const noFiles, notSelected = "files: The selected files is invalid.", "status: The selected status is invalid."
	for _, row := range []struct {
		name     string
		patch    AbstractPatch
		rules    Rules
		rejected []string
	}{
		{"another template", AbstractPatch{TemplateID: sendID(4)}, Rules{}, []string{"template_id: The template id field cannot be changed."}},
		{"no template", AbstractPatch{TemplateID: Some(IDInput{})}, Rules{}, []string{"template_id: The template id field cannot be changed."}},
		{"a template below zero", AbstractPatch{TemplateID: sendID(-3)}, Rules{},
			[]string{"template_id: The template id field cannot be changed."}},
		{"a template ID that isn't an integer", AbstractPatch{TemplateID: Some(IDInput{Present: true})}, Rules{},
			[]string{"template_id: The template id field must be an integer."}},
		{"an unknown status", AbstractPatch{Fields: Inputs{"status": StringInput("new")}}, Rules{},
			[]string{notSelected}},
		{"a status of another type", AbstractPatch{Fields: Inputs{"status": Input{Kind: inputOther}}}, Rules{},
			[]string{"status: The status field must be a string."}},
		{"no status", AbstractPatch{Fields: Inputs{"status": Input{}}}, Rules{},
			[]string{"status: The status field is required."}},
		{"a missing file", AbstractPatch{Files: sendIDs(4, 7)}, Rules{}, []string{noFiles}},
		{"an extra file", AbstractPatch{Files: sendIDs(4, 7, 9, 10)}, Rules{}, []string{noFiles}},
		{"a file twice", AbstractPatch{Files: sendIDs(4, 7, 7)}, Rules{}, []string{noFiles}},
		{"a file of another abstract", AbstractPatch{Files: sendIDs(4, 7, 8)}, Rules{}, []string{noFiles}},
		{"a file below zero", AbstractPatch{Files: sendIDs(4, 7, -9)}, Rules{}, []string{noFiles}},
		{"a file ID that isn't a number", AbstractPatch{Files: Some(IDListInput{IsArray: true, Items: []IDInput{{Present: true}}})}, Rules{},
			[]string{noFiles}},
		{"no files", AbstractPatch{Files: sendIDs()}, Rules{}, []string{noFiles}},
		{"files is not a list", AbstractPatch{Files: Some(IDListInput{})}, Rules{}, []string{"files: The files field must be an array."}},
		{"custom_fields is not an object", AbstractPatch{Custom: Some(Custom{Kind: CustomNotObject})}, Rules{},
			[]string{"custom_fields: The custom fields field must be an array."}},
		{"outside the options", AbstractPatch{Custom: customOf(`{"kind":"C"}`)}, Rules{},
			[]string{"custom_fields.kind: The selected kind is invalid."}},
		{"a required field cleared", AbstractPatch{Custom: customOf(`{"owner":null}`)}, Rules{EnforceRequired: true},
			[]string{"custom_fields.owner: The owner field is required."}},
		{"all cleared", AbstractPatch{Custom: Some(Custom{Kind: CustomNull})}, Rules{EnforceRequired: true},
			[]string{"custom_fields.owner: The owner field is required."}},
		{"all fields, in sequence",
			AbstractPatch{Fields: Inputs{"status": StringInput("x"), "address": Input{Kind: inputOther},
				"city": Input{Kind: inputOther}, "county": Input{Kind: inputOther}, "state": Input{Kind: inputOther},
				"tax_map": Input{Kind: inputOther}},
				TemplateID: sendID(4),
				Custom:     customOf(`{"run":"Z","kind":1}`),
				Files:      sendIDs()}, Rules{},
			[]string{"template_id: The template id field cannot be changed.", notSelected, "address: The address field must be a string.",
				"city: The city field must be a string.", "county: The county field must be a string.", "state: The state field must be a string.",
				"tax_map: The tax map field must be a string.", noFiles, "custom_fields.kind: The selected kind is invalid.",
				"custom_fields.run: The selected run is invalid."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, rejected := row.patch.Check(old, template, row.rules)
			checkFieldErrors(t, rejected, row.rejected...)
		})
	}
}

// Fields that weren't sent aren't validated, even if their current value is no longer valid.
func TestPatchValidatesOnlySentFields(t *testing.T) {
	old, template := sampleAbstract()
	delete(old.Custom, "owner")
	old.Status = "Gone"
	now, rejected := AbstractPatch{Fields: Inputs{"tax_map": StringInput("9"), "status": StringInput("Gone")},
		Custom: customOf(`{"kind":"B"}`)}.Check(old,
		template, Rules{EnforceRequired: true})
	checkFieldErrors(t, rejected)
	checkChanges(t, old.Changes(now), `tax_map "12-3" "9"`, `custom_fields.kind "A" "B"`)
	old.Status, old.TemplateID = "", 0
	_, rejected = AbstractPatch{Fields: Inputs{"status": StringInput("New")}}.Check(old, nil, Rules{})
	checkFieldErrors(t, rejected, "status: The selected status is invalid.")
	now, rejected = AbstractPatch{Fields: Inputs{"status": Input{}}, TemplateID: Some(IDInput{}),
		Custom: customOf(`{"kind":"Z"}`)}.Check(old, nil, Rules{})
	checkFieldErrors(t, rejected)
	if !maps.EqualFunc(now.Custom, old.Custom, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Errorf("custom fields without a template = %s, want them unchanged", now.Custom)
	}
}

func TestOrderPatch(t *testing.T) {
	defs := []Field{{Key: "note", Type: Text, Required: true}, {Key: "fee", Type: Number}}
	statuses := []string{"active", "done"}
	old := Order{Number: "A-1", Status: "active", DueDate: "2026-06-15", Property: Property{City: "Troy"},
		Custom: CustomValues{"note": json.RawMessage(`"x"`), "fee": json.RawMessage(`1.50`)}}
	for _, row := range []struct {
		name     string
		patch    OrderPatch
		rules    Rules
		rejected []string
		changes  []string
	}{
		{"nothing sent", OrderPatch{}, Rules{EnforceRequired: true}, nil, nil},
		{"all fields", OrderPatch{Fields: Inputs{"order_number": StringInput("a-1"), "status": StringInput("done"),
			"due_date": Input{}, "city": Input{}, "state": StringInput("NY")},
			Custom: customOf(`{"fee":2,"note":""}`)}, Rules{}, nil,
			[]string{`order_number "A-1" "a-1"`, `status "active" "done"`, `due_date "2026-06-15" null`, `city "Troy" null`, `state null "NY"`,
				`custom_fields.fee 1.50 2`, `custom_fields.note "x" null`}},
		{"no number", OrderPatch{Fields: Inputs{"order_number": Input{}}}, Rules{},
			[]string{"order_number: The order number field is required."}, nil},
		{"an empty number", OrderPatch{Fields: Inputs{"order_number": StringInput(" ")}}, Rules{},
			[]string{"order_number: The order number field is required."}, nil},
		{"a number of another type", OrderPatch{Fields: Inputs{"order_number": Input{Kind: inputOther}}}, Rules{},
			[]string{"order_number: The order number field must be a string."}, nil},
		{"no status", OrderPatch{Fields: Inputs{"status": Input{}}}, Rules{},
			[]string{"status: The status field is required."}, nil},
		{"an assignee", OrderPatch{Fields: Inputs{"assignee": StringInput("4")}}, Rules{}, nil, []string{`assignee null 4`}},
		{"an assignee who can't work", OrderPatch{Fields: Inputs{"assignee": NumberInput(5)}}, Rules{},
			[]string{"assignee: The selected assignee is invalid."}, nil},
		{"an assignee of another type", OrderPatch{Fields: Inputs{"assignee": StringInput("Kim")}}, Rules{},
			[]string{"assignee: The assignee field must be an integer."}, nil},
		{"all wrong", OrderPatch{Fields: Inputs{"order_number": StringInput(strings.Repeat("é", 256)),
			"status": StringInput("late"), "due_date": StringInput("2026-02-30"), "address": StringInput("a\x00")},
			Custom: customOf(`{"fee":"x","note":null}`)}, Rules{EnforceRequired: true},
			[]string{"order_number: The order number field must not be greater than 255 characters.", "status: The selected status is invalid.",
				"due_date: The due date field must match the format Y-m-d.", "address: The address field contains invalid characters.",
				"custom_fields.note: The note field is required.", "custom_fields.fee: The fee field must be a number."}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			now, rejected := row.patch.Check(old, statuses, defs, row.rules, func(user uint64) bool { return user == 4 })
			checkFieldErrors(t, rejected, row.rejected...)
			if len(rejected) == 0 {
				checkChanges(t, old.Changes(now), row.changes...)
			}
		})
	}
}

func TestFilePatch(t *testing.T) {
	const keeps = "filename: The filename must keep its .%s extension."
	for _, row := range []struct {
		name     string
		old      File
		patch    FilePatch
		known    bool
		rejected []string
		changes  []string
	}{
		{"another name", File{Filename: "a.pdf"}, FilePatch{Filename: sendText("Deed 7.PDF")}, false, nil,
			[]string{`filename "a.pdf" "Deed 7.PDF"`}},
		{"spaces are kept", File{Filename: "a.pdf"}, FilePatch{Filename: sendText(" a.pdf")}, false, nil,
			[]string{`filename "a.pdf" " a.pdf"`}},
		{"jpeg is jpg", File{Filename: "a.jpeg"}, FilePatch{Filename: sendText("b.jpg")}, false, nil, []string{`filename "a.jpeg" "b.jpg"`}},
		{"tif is tiff", File{Filename: "a.tif"}, FilePatch{Filename: sendText("b.TIFF")}, false, nil, []string{`filename "a.tif" "b.TIFF"`}},
		{"another extension", File{Filename: "a.PDF"}, FilePatch{Filename: sendText("a.docx")}, false,
			[]string{strings.ReplaceAll(keeps, "%s", "pdf")}, nil},
		{"no extension", File{Filename: "a.pdf"}, FilePatch{Filename: sendText("pdf")}, false,
			[]string{strings.ReplaceAll(keeps, "%s", "pdf")}, nil},
		{"no name", File{Filename: "a.pdf"}, FilePatch{Filename: cleared}, false, []string{"filename: The filename field is required."}, nil},
		{"blank", File{Filename: "a.pdf"}, FilePatch{Filename: sendText(" ")}, false, []string{"filename: The filename field is required."}, nil},
		{"not a string", File{Filename: "a.pdf"}, FilePatch{Filename: notString}, false,
			[]string{"filename: The filename field must be a string."}, nil},
		{"invalid characters", File{Filename: "a.pdf"}, FilePatch{Filename: sendText("a\n.pdf")}, false,
			[]string{"filename: The filename field contains invalid characters."}, nil},
		{"long", File{Filename: "a.pdf"}, FilePatch{Filename: sendText(strings.Repeat("a", 252) + ".pdf")}, false,
			[]string{"filename: The filename field must not be greater than 255 characters."}, nil},
		{"into a folder", File{Filename: "a.pdf"}, FilePatch{FolderID: sendID(2)}, true, nil, []string{"folder_id null 2"}},
		{"out of a folder", File{Filename: "a.pdf", FolderID: 2}, FilePatch{FolderID: Some(IDInput{})}, false, nil, []string{"folder_id 2 null"}},
		{"unchanged folder", File{Filename: "a.pdf", FolderID: 2}, FilePatch{FolderID: sendID(2)}, true, nil, nil},
		{"an unknown folder", File{Filename: "a.pdf"}, FilePatch{FolderID: sendID(9)}, false,
			[]string{"folder_id: The selected folder id is invalid."}, nil},
		{"a folder ID that isn't an integer", File{Filename: "a.pdf"}, FilePatch{FolderID: Some(IDInput{Present: true})}, false,
			[]string{"folder_id: The folder id field must be an integer."}, nil},
		{"of an abstract", File{Filename: "a.pdf", AbstractID: 1}, FilePatch{FolderID: sendID(2)}, true, nil,
			[]string{"folder_id null 2", "abstract_id 1 null"}},
		{"to another abstract", File{Filename: "a.pdf", AbstractID: 1}, FilePatch{AbstractID: sendID(3)}, true, nil, []string{"abstract_id 1 3"}},
		{"from a folder to an abstract", File{Filename: "a.pdf", FolderID: 1}, FilePatch{AbstractID: sendID(3)}, true, nil,
			[]string{"folder_id 1 null", "abstract_id null 3"}},
		{"off its abstract", File{Filename: "a.pdf", AbstractID: 1}, FilePatch{AbstractID: Some(IDInput{})}, true, nil,
			[]string{"abstract_id 1 null"}},
		{"to a folder and an abstract", File{Filename: "a.pdf"}, FilePatch{FolderID: sendID(2), AbstractID: sendID(3)}, true,
			[]string{"abstract_id: The abstract id field cannot be combined with folder_id."}, nil},
		{"an unknown abstract", File{Filename: "a.pdf"}, FilePatch{AbstractID: sendID(9)}, false,
			[]string{"abstract_id: The selected abstract id is invalid."}, nil},
		{"of an abstract, in no folder", File{Filename: "a.pdf", AbstractID: 1}, FilePatch{FolderID: Some(IDInput{})}, true, nil, nil},
		{"both wrong", File{Filename: "a.pdf", AbstractID: 1}, FilePatch{Filename: cleared, FolderID: sendID(2)}, false,
			[]string{"filename: The filename field is required.", "folder_id: The selected folder id is invalid."}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			now, rejected := row.patch.Check(row.old, row.known, row.known)
			checkFieldErrors(t, rejected, row.rejected...)
			if len(rejected) == 0 {
				checkChanges(t, row.old.Changes(now), row.changes...)
			}
		})
	}
}

func TestFolderPatch(t *testing.T) {
	old := Folder{ID: 1, Name: "Plats", ParentID: 2}
	for _, row := range []struct {
		name     string
		patch    FolderPatch
		fits     bool
		rejected []string
		changes  []string
	}{
		{"nothing sent", FolderPatch{}, false, nil, nil},
		{"another name", FolderPatch{Name: sendText(" Surveys ")}, false, nil, []string{`name "Plats" "Surveys"`}},
		{"to the root", FolderPatch{ParentID: Some(IDInput{})}, false, nil, []string{"parent_id 2 null"}},
		{"unchanged folder", FolderPatch{ParentID: sendID(2)}, true, nil, nil},
		{"to another parent", FolderPatch{ParentID: sendID(3)}, true, nil, []string{"parent_id 2 3"}},
		{"to an invalid parent, without a name", FolderPatch{Name: cleared, ParentID: sendID(1)}, false,
			[]string{"name: The name field is required.", "parent_id: The selected parent id is invalid."}, nil},
		{"a parent ID that isn't an integer", FolderPatch{ParentID: Some(IDInput{Present: true})}, false,
			[]string{"parent_id: The parent id field must be an integer."}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			now, rejected := row.patch.Check(old, row.fits)
			checkFieldErrors(t, rejected, row.rejected...)
			if len(rejected) == 0 {
				checkChanges(t, old.Changes(now), row.changes...)
			}
		})
	}
}

// A status and custom fields that a record had before must still be valid to be restored. Those that it has aren't checked.
func TestCheckRestored(t *testing.T) {
	defs := []Field{{Key: "pages", Label: "Pages", Type: Number}, {Key: "old", Label: "Old", Type: Number}}
	stored := func(pages string) CustomValues {
		return CustomValues{"pages": json.RawMessage(pages), "old": json.RawMessage(`"text"`), "removed": json.RawMessage(`"x"`)}
	}
	for _, tt := range []struct {
		name, status string
		values       CustomValues
		rejected     []string
	}{
		{"valid", "new", stored("7"), nil},
		{"a status that was removed", "gone", stored("7"), []string{"status"}},
		{"a field of another type", "new", stored(`"seven"`), []string{"custom_fields.pages"}},
	} {
		var got []string
		for _, e := range CheckRestored("open", tt.status, []string{"new", "open"}, stored("8"), tt.values, defs, Rules{}) {
			got = append(got, e.Field)
		}
		if !slices.Equal(got, tt.rejected) {
			t.Errorf("%s: rejected %q, want %q", tt.name, got, tt.rejected)
		}
	}
}
