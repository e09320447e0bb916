package model

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// fill sets every value in v, at any depth.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(len(text)))
	case reflect.Int:
		v.SetInt(int64(len(text)))
	case reflect.Float64:
		v.SetFloat(float64(len(text)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for n := range v.NumField() {
			fill(v.Field(n), text)
		}
	}
}

// checkReverted checks that Reverted puts back every field that is in the audit log.
func checkReverted[T interface {
	Changes(to T) []Change
	Reverted(before, after T) (T, bool)
}](t *testing.T, name string, custom func(*T) *CustomValues) {
	t.Helper()
	var before, after, other T
	fill(reflect.ValueOf(&after).Elem(), "after")
	fill(reflect.ValueOf(&other).Elem(), "another one")
	if custom != nil {
		*custom(&before) = CustomValues{"changed": json.RawMessage(`"was"`), "removed": json.RawMessage(`1`), "kept": json.RawMessage(`2`)}
		*custom(&after) = CustomValues{"changed": json.RawMessage(`"is"`), "added": json.RawMessage(`3`), "kept": json.RawMessage(`2`)}
	}
	if len(before.Changes(after)) < 2 {
		t.Fatalf("%s: the test changes %v, want every field", name, before.Changes(after))
	}
	now, ok := after.Reverted(before, after)
	if left := before.Changes(now); !ok || len(left) > 0 {
		t.Errorf("%s: Reverted = %v, and these fields stay: %v", name, ok, left)
	}
	record := func(v *T) reflect.Value { // without the type that embeds it in this test
		fields := reflect.ValueOf(v).Elem()
		if fields.NumField() == 1 {
			fields = fields.Field(0)
		}
		return fields
	}
	for n := range record(&other).NumField() {
		now := after
		record(&now).Field(n).Set(record(&other).Field(n))
		if _, ok := now.Reverted(before, after); ok && len(after.Changes(now)) > 0 {
			t.Errorf("%s: Reverted replaced %s, which was changed since", name, record(&other).Type().Field(n).Name)
		}
	}
	if now, ok := other.Reverted(after, after); !ok || len(other.Changes(now)) > 0 {
		t.Errorf("%s: Reverted of no change = %v, %v", name, ok, other.Changes(now))
	}
}

func TestReverted(t *testing.T) {
	t.Parallel()
	checkReverted(t, "order", func(o *Order) *CustomValues { return &o.Custom })
	checkReverted(t, "abstract", func(a *Abstract) *CustomValues { return &a.Custom })
	checkReverted[Note](t, "note", nil)
	// Instruments move to another abstract and title work gets another order in other ways than by an edit.
	checkReverted[movedInstrument](t, "instrument", nil)
	checkReverted[orderedTitleWork](t, "title work", nil)
}

type movedInstrument struct{ Instrument }

func (i movedInstrument) Changes(to movedInstrument) []Change {
	to.AbstractID = i.AbstractID
	return i.Instrument.Changes(to.Instrument)
}

func (i movedInstrument) Reverted(before, after movedInstrument) (movedInstrument, bool) {
	now, ok := i.Instrument.Reverted(before.Instrument, after.Instrument)
	return movedInstrument{now}, ok
}

type orderedTitleWork struct{ TitleWork }

func (w orderedTitleWork) Changes(to orderedTitleWork) []Change {
	to.OrderID = w.OrderID
	return w.TitleWork.Changes(to.TitleWork)
}

func (w orderedTitleWork) Reverted(before, after orderedTitleWork) (orderedTitleWork, bool) {
	now, ok := w.TitleWork.Reverted(before.TitleWork, after.TitleWork)
	return orderedTitleWork{now}, ok
}

// Values that the change left alone keep what they have now, each custom field on its own. A status has the person again who
// had set it.
func TestRevertedKeepsOtherValues(t *testing.T) {
	t.Parallel()
	values := func(text string) (v CustomValues) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := Order{Number: "1", DueDate: "2026-01-02", Custom: values(`{"a":"1","b":"2"}`)}
	after := Order{Number: "2", DueDate: "2026-01-02", Custom: values(`{"a":"9","b":"2"}`)}
	now := Order{Number: "2", DueDate: "2026-03-04", Status: "open", Custom: values(`{"a":"9","b":"8","c":"7"}`)}
	got, ok := now.Reverted(before, after)
	want := Order{Number: "1", DueDate: "2026-03-04", Status: "open", Custom: values(`{"a":"1","b":"8","c":"7"}`)}
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("Reverted = %+v, %v, want %+v", got, ok, want)
	}
	now.Custom["a"] = json.RawMessage(`"changed"`)
	if _, ok := now.Reverted(before, after); ok {
		t.Error("Reverted replaced a custom field that was changed since")
	}
	ann, bea := &Actor{Name: "Ann"}, &Actor{Name: "Bea"}
	deed := Instrument{Status: InstrumentOpen, StatusSetBy: ann}
	set := Instrument{Status: "released", StatusSetBy: bea}
	if got, ok := set.Reverted(deed, set); !ok || got.Status != InstrumentOpen || got.StatusSetBy != ann {
		t.Errorf("Reverted = %+v, %v, want the status that Ann set", got, ok)
	}
}
