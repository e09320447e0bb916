package api_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"deedkeep/app/model"
)

// textsOf returns a text for each field, with its name.
func textsOf(fields []model.FieldValue) map[string]string {
	texts := map[string]string{}
	for _, f := range fields {
		texts[f.Key] = cmp.Or(map[model.FieldType]string{model.Date: "2026-12-01"}[f.Type], "Seven "+f.Key)
	}
	return texts
}

// checkTexts reports fields of a response that aren't as they were sent.
func checkTexts(t *testing.T, got map[string]any, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s = %v after storing %q", name, got[name], text)
		}
	}
}

// checkSchema reports fields of the model that a schema of the description lacks, and others that it has.
func checkSchema(t *testing.T, schema string, fields []string, others ...string) {
	t.Helper()
	properties := loadDescription(t).Components.Schemas[schema].Value.Properties
	want := slices.Sorted(slices.Values(slices.Concat(fields, others)))
	if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, want) {
		t.Errorf("the description of %s has the fields %v, want %v", schema, got, want)
	}
}

// The description has the fields that every order has, and the API stores, changes, and returns each of them.
func TestEveryOrderField(t *testing.T) {
	t.Parallel()
	names, others := model.OrderInputs(), []string{"id", "created_at", "updated_at", "custom_fields"}
	checkSchema(t, "Order", names, others...)
	checkSchema(t, "OrderPatch", names, "custom_fields")
	checkSchema(t, "OrderDraft", slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "status" }), "custom_fields")
	sent := textsOf(model.Order{}.FieldValues())
	raw, err := json.Marshal(sent)
	if err != nil {
		t.Fatalf("json.Marshal: %v", err)
	}
	srv := newTestServer(t)
	id := srv.createID(t, orderCall(`{"order_number":"1"}`, 201, ""))
	for _, r := range []call{orderCall(string(raw), 201, ""), jsonCall("PATCH", "/orders/"+id, string(raw), 200)} {
		checkTexts(t, decodeBody[struct{ Data map[string]any }](t, srv.do(t, r)).Data, sent)
	}
}

// The same for abstracts.
func TestEveryAbstractField(t *testing.T) {
	t.Parallel()
	names := model.AbstractInputs()
	checkSchema(t, "Abstract", names, "id", "template_id", "status", "custom_fields", "files", "created_at", "updated_at")
	checkSchema(t, "AbstractPatch", names, "status", "custom_fields", "files")
	checkSchema(t, "AbstractDraft", names, "template_id", "custom_fields")
	sent := textsOf(model.Abstract{}.FieldValues())
	raw, err := json.Marshal(sent)
	if err != nil {
		t.Fatalf("json.Marshal: %v", err)
	}
	var parts []string
	for name, text := range sent {
		parts = append(parts, fieldPart(name, text))
	}
	srv := newTestServer(t)
	id := srv.createID(t, abstractCall(201, "", fieldPart("county", "Wexcombe")))
	for _, r := range []call{abstractCall(201, "", parts...), jsonCall("PATCH", "/abstracts/"+id, string(raw), 200)} {
		checkTexts(t, decodeBody[struct{ Data map[string]any }](t, srv.do(t, r)).Data, sent)
	}
}
