package model

import "bytes"

// reversal puts the values back that a change of a record replaced.
type reversal struct {
	changed bool // a value isn't the one that the change set: it was changed since
}

// revert puts back a value, unless the change left it alone.
func revert[V any](r *reversal, now *V, before, after V) {
	was, set := encodeValue(before), encodeValue(after)
	switch {
	case bytes.Equal(was, set):
	case bytes.Equal(set, encodeValue(*now)):
		*now = before
	default:
		r.changed = true
	}
}

// revertTexts puts back the values of fields.
func revertTexts[T any](r *reversal, fields []textField[T], now, before, after *T) {
	for _, field := range fields {
		revert(r, field.text(now), *field.text(before), *field.text(after))
	}
}

// custom puts back the values of custom fields, each on its own.
func (r *reversal) custom(now *CustomValues, before, after CustomValues) {
	is := mergedKeys(*now, nil)
	for key := range mergedKeys(before, after) {
		value := is[key]
		revert(r, &value, before[key], after[key])
		if is[key] = value; len(value) == 0 {
			delete(is, key)
		}
	}
	if *now = is; len(is) == 0 {
		*now = nil
	}
}
