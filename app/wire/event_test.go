package wire_test

import (
	"encoding/json"
	"testing"

	"deedkeep/app/wire"
)

func TestEventGolden(t *testing.T) {
	full := wire.Event{
		Seq: 7, At: created, Actor: wire.Actor{Kind: "key", ID: ptr(int64(4)), Name: ptr("R & D <x>"), Address: ptr("192.0.2.1")}, Kind: "order.changed",
		Record: ptr("order:k3Jd82QzAbc"), Detail: wire.Detail{"b": "2", "a": "<1>"},
		Changes:   wire.List[wire.Change]{{Field: "county", From: nil, To: json.RawMessage(`"<Essex>"`)}, {Field: "custom_fields.fee", From: json.RawMessage(`1.50`), To: json.RawMessage(`null`)}},
		RequestID: ptr("r-1"), Hash: "00ff",
	}
	const fullJSON = `{"seq":7,"at":"2026-05-29T04:00:00.000000Z","actor":{"kind":"key","id":4,"name":"R & D <x>","address":"192.0.2.1"},"kind":"order.changed",` +
		`"record":"order:k3Jd82QzAbc","detail":{"a":"<1>","b":"2"},"changes":[{"field":"county","from":null,"to":"<Essex>"},{"field":"custom_fields.fee","from":1.50,"to":null}],` +
		`"request_id":"r-1","hash":"00ff"}`
	const bareJSON = `{"seq":1,"at":"2026-05-29T04:00:00.000000Z","actor":{"kind":"system","id":null,"name":null,"address":null},"kind":"vault.created",` +
		`"record":null,"detail":{},"changes":[],"request_id":null,"hash":""}`
	finding := wire.Finding{Kind: "changed", Subject: "7", Problem: "it does not hold to its hash"}
	const findingJSON = `{"kind":"changed","subject":"7","problem":"it does not hold to its hash"}`
	for _, row := range []struct {
		name  string
		value any
		want  string
	}{
		{"everything", full, fullJSON},
		{"nothing", wire.Event{Seq: 1, At: created, Actor: wire.Actor{Kind: "system"}, Kind: "vault.created"}, bareJSON},
		{"none", wire.Events{}, `{"data":[]}`},
		{"line of an event", wire.EventLine{Event: &full}, `{"event":` + fullJSON + `}`},
		{"line of damage", wire.EventLine{Damaged: &finding}, `{"damaged":` + findingJSON + `}`},
		{"line of the end", wire.EventLine{End: &wire.EventEnd{}}, `{"end":{"entries":0}}`},
		{"verified", wire.Line[wire.EventVerify]{Result: &wire.EventVerify{OK: true, Entries: 1, Last: 2, Head: "ab"}},
			`{"result":{"ok":true,"entries":1,"last":2,"head":"ab","findings":[],"more":0,"agree":null}}`},
		{"verified with findings", wire.Line[wire.EventVerify]{Result: &wire.EventVerify{Findings: wire.List[wire.Finding]{finding}, More: 3}},
			`{"result":{"ok":false,"entries":0,"last":0,"head":"","findings":[` + findingJSON + `],"more":3,"agree":null}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := wire.Marshal(row.value)
			if err != nil || string(got) != row.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, row.want)
			}
		})
	}
}
