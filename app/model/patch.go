package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Optional is one field of a change as it arrived. What is not Present stays as it is;
// what is Present with an empty value, or null, is cleared (API.md, "PATCH").
type Optional[T any] struct {
	Present bool
	Value   T
}

// Some gives a field that is part of a change.
func Some[T any](value T) Optional[T] { return Optional[T]{true, value} }

// IDListInput is a list of ids as it arrived. Array is false when it was none.
type IDListInput struct {
	IsArray bool
	Items   []IDInput
}

// PropertyPatch is a change of a Property as it arrived.
type PropertyPatch struct{ Address, City, County, State Optional[Input] }

func (p PropertyPatch) check(f *validation, old Property) Property {
	return Property{
		Address: f.changedLine("address", p.Address, old.Address),
		City:    f.changedLine("city", p.City, old.City),
		County:  f.changedLine("county", p.County, old.County),
		State:   f.changedLine("state", p.State, old.State),
	}
}

// changedLine is the value of a one-line text after a change.
func (f *validation) changedLine(field string, in Optional[Input], old string) string {
	if !in.Present {
		return old
	}
	return f.line(field, in.Value, MaxLineLength)
}

// changedName is changedLine for a text that cannot be absent.
func (f *validation) changedName(field string, in Optional[Input], old string) string {
	if !in.Present {
		return old
	}
	before := len(f.Fields)
	name := f.line(field, in.Value, MaxNameLength)
	if name == "" && len(f.Fields) == before {
		f.Add(field, required(field))
	}
	return name
}

// changedStatus is the status after a change: one of the list, or the one it has,
// which the list may have lost since. Where the list is empty there is none.
func (f *validation) changedStatus(in Optional[Input], old string, list []string) string {
	const field = "status"
	if !in.Present {
		return old
	}
	before := len(f.Fields)
	status := f.line(field, in.Value, MaxLineLength)
	if len(f.Fields) > before || status == old {
		return status
	}
	switch {
	case status == "" && len(list) > 0:
		f.Add(field, required(field))
	case status != "" && !slices.Contains(list, status):
		f.Add(field, notSelectable(field))
	}
	return status
}

// changedReference is the number of another record after a change, 0 for none.
func (f *validation) changedReference(field string, in Optional[IDInput], old uint64, known bool) uint64 {
	if !in.Present {
		return old
	}
	if in.Value.Valid && in.Value.Present && in.Value.Value > 0 && uint64(in.Value.Value) == old {
		return old
	}
	return f.reference(field, in.Value, known)
}

// changedCustom merges what was sent into the values there are, key by key: a key
// that was sent without a value goes, one that was not sent stays and is not
// judged, nor is one that was sent as it is. CustomNull takes all away.
func (f *validation) changedCustom(in Optional[Custom], old Values, defs []Field, rules Rules) Values {
	if !in.Present || in.Value.Kind != CustomObject && in.Value.Kind != CustomNull {
		return old
	}
	in.Value.tellIgnored(defs)
	values := maps.Clone(old)
	if in.Value.Kind == CustomNull {
		values = nil
	}
	if values == nil {
		values = Values{}
	}
	for _, def := range defs {
		raw, sent := in.Value.Values[def.Key]
		switch {
		case !sent && in.Value.Kind != CustomNull:
		case sent && sameJSON(raw, old[def.Key]):
		default:
			if value := f.custom(def, raw, rules); value != nil {
				values[def.Key] = value
			} else {
				delete(values, def.Key)
			}
		}
	}
	return values
}

// sameJSON reports whether two values differ in nothing but blanks. Absent is the
// same as nothing.
func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
