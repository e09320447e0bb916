package apitypes_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"deedkeep/app/apitypes"
)

func TestFieldErrorsKeepOrder(t *testing.T) {
	var e apitypes.FieldErrors
	e.Add("state", "s1")
	e.Add("address", "a1")
	e.Add("state", "s2")
	want := apitypes.FieldErrors{{"state", []string{"s1", "s2"}}, {"address", []string{"a1"}}}
	if !reflect.DeepEqual(e, want) {
		t.Fatalf("got %v, want %v", e, want)
	}
	if got := e.Of("state"); !reflect.DeepEqual(got, []string{"s1", "s2"}) {
		t.Errorf(`Of("state") = %q, want [s1 s2]`, got)
	}
	if got := e.Of("city"); got != nil {
		t.Errorf(`Of("city") = %q, want nil`, got)
	}
}

func TestFieldErrorsUnmarshal(t *testing.T) {
	for _, row := range []struct {
		name, in string
		want     apitypes.FieldErrors
		bad      bool
	}{
		{name: "none", in: `{"message":"m"}`},
		{name: "null", in: `{"message":"m","errors":null}`},
		{name: "order", in: `{"errors":{"b":["1"],"a":["2","3"]}}`, want: apitypes.FieldErrors{{"b", []string{"1"}}, {"a", []string{"2", "3"}}}},
		{name: "repeated", in: `{"errors":{"b":["1"],"a":["2"],"b":["3"]}}`,
			want: apitypes.FieldErrors{{"b", []string{"1", "3"}}, {"a", []string{"2"}}}},
		{name: "array", in: `{"errors":["x"]}`, bad: true},
		{name: "string", in: `{"errors":"x"}`, bad: true},
		{name: "not a list", in: `{"errors":{"a":"x"}}`, bad: true},
		{name: "not a sentence", in: `{"errors":{"a":[1]}}`, bad: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got apitypes.Failure
			err := json.Unmarshal([]byte(row.in), &got)
			if (err != nil) != row.bad {
				t.Fatalf("unmarshal %s: got error %v, want an error: %v", row.in, err, row.bad)
			}
			if !row.bad && !reflect.DeepEqual(got.Errors, row.want) {
				t.Fatalf("got %v, want %v", got.Errors, row.want)
			}
		})
	}
}

func FuzzFailure(f *testing.F) {
	for _, s := range []string{`{"message":"m","errors":{"b":["1"],"a":["2"]}}`, `{"errors":null}`, `{"errors":{"":[]}}`,
		`{"errors":{"a":["\ud800"]}}`, `{"errors":[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first apitypes.Failure
		if json.Unmarshal(data, &first) != nil {
			return
		}
		b, err := apitypes.Marshal(first)
		if err != nil {
			t.Fatalf("marshal %v: %v", first, err)
		}
		var again apitypes.Failure
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatalf("unmarshal %s: %v", b, err)
		}
		if len(first.Errors) != len(again.Errors) || len(first.Errors) > 0 && !reflect.DeepEqual(first.Errors, again.Errors) {
			t.Fatalf("got %v after a round trip, want %v", again.Errors, first.Errors)
		}
	})
}
