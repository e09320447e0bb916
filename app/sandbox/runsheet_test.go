package sandbox

import (
	"errors"
	"strings"
	"testing"

	"deedkeep/app/runsheet"
)

func TestRowsFromWorker(t *testing.T) {
	const header, good = `{"row":1,"cells":["Type","Book"]}`, `{"row":2,"cells":["Mortgage","1"]}`
	a := &rowsResult{lim: runsheet.Limits{Rows: 3}}
	a.reset()
	for _, frame := range []string{`[` + header + `,` + good + `]`, `[{"row":3,"cells":["","2"]}]`} {
		if err := a.add(frameRows, []byte(frame), false); err != nil {
			t.Fatalf("add frame: %v", err)
		}
	}
	if len(a.rows) != 3 || a.rows[1].Cells[0] != "Mortgage" || a.finish(taskDone{}) != nil {
		t.Errorf("rows = %+v, want 3", a.rows)
	}
	for name, content := range map[string]string{
		"nothing": ``, "no JSON": `[` + good, "no list": good, "empty list": `[]`, "null": `null`,
		"same row": `[` + good + `,` + good + `]`, "row 0": `[{"row":0,"cells":[]}]`,
		"no object":  `[7]`,
		"many cells": `[{"row":1,"cells":["",` + strings.Repeat(`"",`, 1_000) + `""]}]`,
	} {
		a := &rowsResult{lim: runsheet.Limits{Rows: 3}}
		if err := a.add(frameRows, []byte(content), false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	for _, frame := range []string{"", `[` + good + `]`} {
		a := &rowsResult{lim: runsheet.Limits{Rows: 3}}
		if err := a.add(frameRows, []byte(frame), false); err != nil && frame != "" {
			t.Errorf("add frame: %v", err)
		}
		if err := a.finish(taskDone{}); !errors.Is(err, errProtocol) {
			t.Errorf("end after %s: error = %v, want a protocol error", frame, err)
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
