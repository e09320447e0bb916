package apitypes_test

import (
	"encoding/json"
	"testing"

	"deedkeep/app/apitypes"
)

func TestEventGolden(t *testing.T) {
	full := apitypes.Event{
		Seq: 7, At: created, Actor: apitypes.Actor{Kind: "key", ID: ptr(int64(4)), Name: ptr("R & D <x>"), Address: ptr("192.0.2.1")},
		Kind:   "order.changed",
		Record: ptr("order:k3Jd82QzAbc"), Detail: apitypes.Detail{"b": "2", "a": "<1>"},
		Changes: apitypes.List[apitypes.Change]{{Field: "county", From: nil, To: json.RawMessage(`"<Essex>"`)},
			{Field: "custom_fields.fee", From: json.RawMessage(`1.50`), To: json.RawMessage(`null`)}},
		RequestID: ptr("r-1"), Hash: "00ff",
	}
	const fullJSON = `{"seq":7,"at":"2026-05-29T04:00:00.000000Z","actor":{"kind":"key","id":4,"name":"R & D <x>",` +
		`"address":"192.0.2.1"},"kind":"order.changed",` +
		`"record":"order:k3Jd82QzAbc","detail":{"a":"<1>","b":"2"},` +
		`"changes":[{"field":"county","from":null,"to":"<Essex>","row":null,"text":null},` +
		`{"field":"custom_fields.fee","from":1.50,"to":null,"row":null,"text":null}],"names":{},` +
		`"request_id":"r-1","hash":"00ff"}`
	const bareJSON = `{"seq":1,"at":"2026-05-29T04:00:00.000000Z","actor":{"kind":"system","id":null,"name":null,"address":null},` +
		`"kind":"vault.created",` +
		`"record":null,"detail":{},"changes":[],"names":{},"request_id":null,"hash":""}`
	finding := apitypes.Finding{Kind: "changed", Subject: "7", Problem: "its hash doesn't match"}
	const findingJSON = `{"kind":"changed","subject":"7","problem":"its hash doesn't match"}`
	for _, row := range []struct {
		name  string
		value any
		want  string
	}{
		{"all fields", full, fullJSON},
		{"no optional fields", apitypes.Event{Seq: 1, At: created, Actor: apitypes.Actor{Kind: "system"}, Kind: "vault.created"}, bareJSON},
		{"empty list", apitypes.Data[apitypes.List[apitypes.Event]]{}, `{"data":[]}`},
		{"event line", apitypes.EventLine{Event: &full}, `{"event":` + fullJSON + `}`},
		{"damage line", apitypes.EventLine{Damaged: &finding}, `{"damaged":` + findingJSON + `}`},
		{"end line", apitypes.EventLine{End: &apitypes.EventEnd{}}, `{"end":{"entries":0}}`},
		{"verified", apitypes.Line[apitypes.EventVerify]{Result: &apitypes.EventVerify{OK: true, Entries: 1, Last: 2, Head: "ab"}},
			`{"result":{"ok":true,"entries":1,"last":2,"head":"ab","findings":[],"more":0,"matching":null}}`},
		{"verified with findings",
			apitypes.Line[apitypes.EventVerify]{Result: &apitypes.EventVerify{Findings: apitypes.List[apitypes.Finding]{finding}, More: 3}},
			`{"result":{"ok":false,"entries":0,"last":0,"head":"","findings":[` + findingJSON + `],"more":3,"matching":null}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := apitypes.Marshal(row.value)
			if err != nil || string(got) != row.want {
				t.Errorf("Marshal: error %v\ngot  %s\nwant %s", err, got, row.want)
			}
		})
	}
}
