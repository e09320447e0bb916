package api_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"deedkeep/app/model"
)

// The description has all fields of instruments, and the API stores and returns each of them.
func TestInstrumentFields(t *testing.T) {
	t.Parallel()
	schemas := loadDescription(t).Components.Schemas
	draft, response := schemas["InstrumentDraft"].Value.Properties, schemas["Instrument"].Value.Properties
	if got, want := slices.Sorted(maps.Keys(draft)), slices.Sorted(slices.Values(model.InstrumentInputFields())); !slices.Equal(got, want) {
		t.Errorf("the description of InstrumentDraft has the fields %v, want %v", got, want)
	}
	sample := map[string]any{"recorded_time": "14:05", "recording_system": "recorded", "status": "open"}
	byType := map[model.FieldType]any{model.Date: "2019-04-17", model.Money: "10.00"}
	sent := map[string]any{}
	for _, field := range model.InstrumentFields() {
		if field.Text == nil {
			continue
		}
		sent[field.Name] = cmp.Or(sample[field.Name], byType[field.Type], any("7"))
		for schema, properties := range map[string]bool{"InstrumentDraft": draft[field.Name].Value.Type.Includes("string"),
			"Instrument": response[field.Name] != nil && response[field.Name].Value.Type.Includes("string")} {
			if !properties {
				t.Errorf("%s of the schema %s is not described as a string", field.Name, schema)
			}
		}
	}
	raw, err := json.Marshal(sent)
	if err != nil {
		t.Fatalf("json.Marshal: %v", err)
	}
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Wexcombe")))
	stored := decodeBody[struct{ Data map[string]any }](t,
		srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/instruments", string(raw), 201))).Data
	for name, want := range sent {
		if stored[name] != want {
			t.Errorf("%s = %v after storing %v", name, stored[name], want)
		}
	}
}
