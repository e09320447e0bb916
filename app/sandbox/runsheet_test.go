package sandbox

import (
	"errors"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
)

func TestRowsFromWorker(t *testing.T) {
	const good = `{"row":2,"position":1,"fields":{"type":"Mortgage"},"relations":[{"kind":"releases","position":3}]}`
	a := &rowsResult{lim: runsheet.Limits{Rows: 3}}
	a.reset()
	for _, frame := range []string{`[` + good + `]`, `[{"row":3,"fields":{"book":"1"}}]`} {
		if err := a.add(frameRows, []byte(frame), false); err != nil {
			t.Fatalf("add frame: %v", err)
		}
	}
	if len(a.rows) != 2 || a.rows[0].Relations[0] != (runsheet.RelationEntry{Kind: model.Releases,
		Position: 3}) || a.finish(taskDone{}) != nil {
		t.Errorf("rows = %+v, want 2", a.rows)
	}
	for name, content := range map[string]string{
		"nothing": ``, "no JSON": `[` + good, "no list": good, "empty list": `[]`, "null": `null`,
		"same row": `[` + good + `,` + good + `]`, "row 0": `[{"row":0,"fields":{}}]`,
		"unknown field":     `[{"row":1,"fields":{"id":7}}]`,
		"documents":         `[{"row":1,"fields":{"documents":[]}}]`,
		"unknown relation":  `[{"row":1,"fields":{},"relations":[{"kind":"eats","position":1}]}]`,
		"relation to row 0": `[{"row":1,"fields":{},"relations":[{"kind":"releases","position":0}]}]`,
		"negative position": `[{"row":1,"position":-1,"fields":{}}]`,
	} {
		a := &rowsResult{lim: runsheet.Limits{Rows: 3}}
		if err := a.add(frameRows, []byte(content), false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	if err := (&rowsResult{lim: runsheet.Limits{Rows: 3}}).add(frameText, []byte(`[`+good+`]`), false); !errors.Is(err, errProtocol) {
		t.Errorf("text: error = %v, want a protocol error", err)
	}
	if err := (&rowsResult{lim: runsheet.Limits{Rows: 3}, received: maxRunsheetBytes}).add(frameRows, []byte(`[`+good+`]`),
		false); !errors.Is(err, errProtocol) {
		t.Errorf("too many bytes: error = %v, want a protocol error", err)
	}
}
