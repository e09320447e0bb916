package encode

import (
	"encoding/json"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
)

// Suggestion returns the API type of a suggested instrument. existing is the instrument that is recorded in the same place,
// or 0. line is the name of the document that the fields were read from, or "" for a row of a file.
func Suggestion(row int, fields model.Inputs, existing uint64, line string) apitypes.Suggestion {
	shape := apitypes.Suggestion{Fields: map[string]json.RawMessage{}, InstrumentID: OptionalID(existing),
		Evidence: map[string]apitypes.Evidence{}}
	for name, value := range fields {
		shape.Fields[name] = value.JSON()
	}
	if line == "" {
		shape.Row = new(int64(row))
		return shape
	}
	for name := range fields {
		if name != "documents" {
			shape.Evidence[name] = apitypes.Evidence{Line: line}
		}
	}
	return shape
}
