package model

import (
	"bytes"
	"maps"
	"slices"

	"deedkeep/app/errs"
)

// Optional is one field of a patch as received. A field that isn't Present stays unchanged. A
// field that is Present with an empty value or null is cleared.
type Optional[T any] struct {
	Present bool
	Value   T
}

// Some returns a field that is Present with this value.
func Some[T any](value T) Optional[T] { return Optional[T]{true, value} }

// IDListInput is a list of IDs as received. IsArray is false if the input wasn't an array.
type IDListInput struct {
	IsArray bool
	Items   []IDInput
}

// changedName returns the value of a required name after a patch. It reports an error if the new
// name is empty.
func (v *validation) changedName(field string, in Optional[Input], old string) string {
	if !in.Present {
		return old
	}
	before := len(v.Fields)
	name := v.line(field, in.Value, MaxNameLength)
	if name == "" && len(v.Fields) == before {
		v.Add(field, errs.Required)
	}
	return name
}

// changedStatus validates a new status, which must be in v.statuses. The current status, v.status, stays
// valid even if it is no longer in the list. If the list is empty, the only valid new status is "".
func (v *validation) changedStatus(field string, in Input) string {
	before := len(v.Fields)
	status := v.line(field, in, MaxLineLength)
	if len(v.Fields) > before || status == v.status {
		return status
	}
	switch {
	case status == "" && len(v.statuses) > 0:
		v.Add(field, errs.Required)
	case status != "" && !slices.Contains(v.statuses, status):
		v.Add(field, errs.InvalidChoice)
	}
	return status
}

// changedReference returns the ID of another record after a patch. An ID of 0 means no record.
// known reports whether the requested record exists.
func (v *validation) changedReference(field string, in Optional[IDInput], old uint64, known bool) uint64 {
	if !in.Present {
		return old
	}
	if in.Value.Valid && in.Value.Present && in.Value.Value > 0 && uint64(in.Value.Value) == old {
		return old
	}
	return v.reference(field, in.Value, known)
}

// changedCustom merges the custom fields that were sent into the current ones. A key that was
// sent without a value is removed. A key that wasn't sent, or was sent with its current value,
// isn't validated. CustomNull removes all values.
func (v *validation) changedCustom(in Optional[Custom], old CustomValues, defs []Field, rules Rules) CustomValues {
	if !in.Present || in.Value.Kind != CustomObject && in.Value.Kind != CustomNull {
		return old
	}
	in.Value.reportUnknownKeys(defs)
	values := maps.Clone(old)
	if in.Value.Kind == CustomNull {
		values = nil
	}
	if values == nil {
		values = CustomValues{}
	}
	for _, def := range defs {
		value, sent := in.Value.Values[def.Key]
		switch {
		case !sent && in.Value.Kind != CustomNull:
		case sent && len(old[def.Key]) > 0 && bytes.Equal(value.JSON(), JSONInput(old[def.Key]).JSON()):
		default:
			if stored := v.custom(def, value, rules); stored != nil {
				values[def.Key] = stored
			} else {
				delete(values, def.Key)
			}
		}
	}
	return values
}

// CheckRestored validates a status and custom fields that a record had before and gets again. Those that it has now
// aren't validated.
func CheckRestored(nowStatus, status string, statuses []string, now, values CustomValues, defs []Field, rules Rules) errs.Fields {
	v := validation{status: nowStatus, statuses: statuses}
	v.changedStatus(statusName, StringInput(status))
	for _, def := range defs {
		if raw := values[def.Key]; len(raw) > 0 && !bytes.Equal(raw, now[def.Key]) {
			v.custom(def, JSONInput(raw), rules)
		}
	}
	return v.Fields
}

// reference returns the ID of another record, or 0 if no valid ID was sent. known reports whether
// that record exists.
func (v *validation) reference(field string, n IDInput, known bool) uint64 {
	switch {
	case !n.Present:
		return 0
	case !n.Valid:
		v.Add(field, errs.NotInteger)
	case n.Value <= 0 || !known:
		v.Add(field, errs.InvalidChoice)
	default:
		return uint64(n.Value)
	}
	return 0
}
