package apitypes_test

import (
	"encoding/json"
	"testing"

	"deedkeep/app/apitypes"
)

func TestRecordID(t *testing.T) {
	for _, row := range []struct {
		in, text string
		bad      bool
	}{
		{in: `"Zz9aB31x"`, text: "Zz9aB31x"}, {in: `77`, text: "77"},
		{in: `null`, text: "", bad: true}, {in: `true`, bad: true}, {in: `1.5`, bad: true}, {in: `{}`, bad: true}, {in: `[1]`, bad: true},
	} {
		var id apitypes.RecordID
		if err := json.Unmarshal([]byte(row.in), &id); (err != nil) != row.bad {
			t.Errorf("unmarshal %s: got error %v, want an error: %v", row.in, err, row.bad)
		} else if !row.bad && id.String() != row.text {
			t.Errorf("String() of %s = %q, want %q", row.in, id.String(), row.text)
		}
	}
}
