package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
)

// Maximum lengths in Unicode code points.
const (
	MaxNameLength      = 255    // order numbers and folder names
	MaxLineLength      = 2000   // other one-line fields
	maxParagraphLength = 65_535 // fields of type paragraph
)

// inputKind is the type of an Input.
type inputKind int

// Values of Input.Kind.
const (
	InputMissing inputKind = iota // absent, or JSON null
	InputString
	InputNumber
	InputList
	InputObject
	InputBoolean
	inputOther // nested deeper than any field is
)

// Input is the value of a field as received, before validation.
type Input struct {
	Kind    inputKind
	Value   string  // of a string, the digits of a number, or "true" or "false"
	Items   []Input // of a list
	Members Inputs  // of an object
}

// StringInput returns an Input that holds a string.
func StringInput(value string) Input { return Input{Kind: InputString, Value: value} }

// NumberInput returns an Input that holds a number, or a missing one for 0.
func NumberInput[N int | uint64](n N) Input {
	if n == 0 {
		return Input{}
	}
	return Input{Kind: InputNumber, Value: fmt.Sprint(n)}
}

// ListInput returns an Input that holds a list.
func ListInput(items ...Input) Input { return Input{Kind: InputList, Items: items} }

// StringsInput returns an Input that holds a list of strings.
func StringsInput(list []string) Input {
	in := ListInput()
	for _, text := range list {
		in.Items = append(in.Items, StringInput(text))
	}
	return in
}

// ObjectInput returns an Input that holds an object.
func ObjectInput(members Inputs) Input { return Input{Kind: InputObject, Members: members} }

// isText reports whether the input is a string or missing.
func (in Input) isText() bool { return in.Kind == InputString || in.Kind == InputMissing }

// IsBlank reports whether the input is missing, null, "", or an empty list.
func (in Input) IsBlank() bool {
	switch in.Kind {
	case InputMissing:
		return true
	case InputString:
		return in.Value == ""
	case InputList:
		return len(in.Items) == 0
	case InputNumber, InputObject, InputBoolean, inputOther:
	}
	return false
}

// asText returns the input of a text field that also accepts a number, because clients send book and page
// numbers and amounts as numbers.
func (in Input) asText() Input {
	switch {
	case in.IsBlank():
		return Input{}
	case in.Kind == InputNumber:
		return StringInput(in.Value)
	}
	return in
}

// Texts returns the text of the input or, for a list, of its items.
func (in Input) Texts() (list []string) {
	if in.Kind == InputString || in.Kind == InputNumber {
		return []string{in.Value}
	}
	for _, item := range in.Items {
		list = append(list, item.Texts()...)
	}
	return list
}

// Limits of an Input. More is decoded only to be rejected.
const (
	maxInputDepth = 3                // lists and objects inside each other: rows with a list of texts
	maxInputItems = MaxTitleRows + 1 // of a list
)

// JSONInput returns an Input that holds a JSON value. Text that isn't JSON is an inputOther.
func JSONInput[T ~string | ~[]byte](raw T) (in Input) {
	if in.decode(json.RawMessage(raw), maxInputDepth) != nil {
		return Input{Kind: inputOther}
	}
	return in
}

// UnmarshalJSON sets the input to a JSON value.
func (in *Input) UnmarshalJSON(raw []byte) error { return in.decode(raw, maxInputDepth) }

func (in *Input) decode(raw json.RawMessage, depth int) error {
	*in = Input{Kind: inputOther}
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || raw[0] == 'n':
		in.Kind = InputMissing
	case raw[0] == '"':
		in.Kind = InputString
		return json.Unmarshal(raw, &in.Value)
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		in.Kind, in.Value = InputNumber, string(raw)
	case string(raw) == "true" || string(raw) == "false":
		in.Kind, in.Value = InputBoolean, string(raw)
	case depth == 0:
	case raw[0] == '[':
		var items []json.RawMessage
		err := json.Unmarshal(raw, &items)
		in.Kind, in.Items = InputList, make([]Input, min(len(items), maxInputItems))
		for n := range in.Items {
			err = errors.Join(err, in.Items[n].decode(items[n], depth-1))
		}
		return err
	case raw[0] == '{':
		var members map[string]json.RawMessage
		err := json.Unmarshal(raw, &members)
		in.Kind, in.Members = InputObject, make(Inputs, len(members))
		for name, member := range members {
			var value Input
			err = errors.Join(err, value.decode(member, depth-1))
			in.Members[name] = value
		}
		return err
	}
	return nil
}

// MarshalJSON returns JSON.
func (in Input) MarshalJSON() ([]byte, error) { return in.JSON(), nil }

// JSON returns the input as JSON. An inputOther becomes null.
func (in Input) JSON() json.RawMessage {
	switch in.Kind {
	case InputString:
		return encodeJSON(in.Value)
	case InputNumber, InputBoolean:
		return json.RawMessage(in.Value)
	case InputList:
		return marshalPlain(append([]Input{}, in.Items...))
	case InputObject:
		return marshalPlain(in.Members)
	case InputMissing, inputOther:
	}
	return null
}

// IDInput is an ID as received. Present is false if it was absent or empty. Valid is false if it
// was present but not an integer. A record with a valid ID doesn't necessarily exist.
type IDInput struct {
	Present, Valid bool
	Value          int64
}

// NewIDInput returns the input for a record's ID. If id is 0, the input is absent.
func NewIDInput(id uint64) IDInput {
	return IDInput{Present: id != 0, Valid: true, Value: int64(id)} // IDs have 63 bits
}

// CustomValues maps the keys of a record's custom fields to JSON values. Keys without a value are
// omitted, and numbers keep the digits that were sent.
type CustomValues map[string]json.RawMessage

// customKind is the type of a custom_fields input.
type customKind int

// Values of Custom.Kind.
const (
	customObject      customKind = iota // absent, empty, null, {}, [] or an object
	CustomNotObject                     // JSON of another type
	CustomNotJSON                       // a form field that isn't valid JSON
	CustomInvalidText                   // a form field that isn't valid text
	CustomNull                          // JSON null in a patch, which clears all values
)

// Custom is a custom_fields input as received.
type Custom struct {
	Kind   customKind
	Values Inputs
	// OnUnknownKeys, if set, receives the sorted keys of Values that aren't defined. It is
	// called again if the patch is applied again.
	OnUnknownKeys func(keys []string)
}

// reportUnknownKeys calls OnUnknownKeys with the keys that aren't in defs.
func (c Custom) reportUnknownKeys(defs []Field) {
	if c.OnUnknownKeys == nil {
		return
	}
	var keys []string
	for key := range c.Values {
		if !slices.ContainsFunc(defs, func(def Field) bool { return def.Key == key }) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	c.OnUnknownKeys(keys)
}

// line trims and validates one-line text of up to limit code points. It returns "" after an error.
func (v *validation) line(field string, in Input, limit int) string {
	in.Value = strings.TrimSpace(in.Value)
	return v.plainText(field, in, limit)
}

// paragraph validates multi-line text and keeps its white space.
func (v *validation) paragraph(field string, in Input) string {
	return v.plainText(field, in, maxParagraphLength)
}

// plainText validates a text, which must be valid UTF-8 without NUL and at most limit code points long.
func (v *validation) plainText(field string, in Input, limit int) string {
	if !in.isText() {
		v.Add(field, errs.NotString)
		return ""
	}
	if !utf8.ValidString(in.Value) || strings.ContainsRune(in.Value, 0) {
		v.Add(field, errs.InvalidCharacters)
		return ""
	}
	if utf8.RuneCountInString(in.Value) > limit {
		v.Add(field, errs.TooLong, limit)
		return ""
	}
	return in.Value
}

// date validates a calendar date in the format YYYY-MM-DD.
func (v *validation) date(field string, in Input) string {
	if !in.isText() {
		v.Add(field, errs.NotDate)
		return ""
	}
	value := v.line(field, in, MaxLineLength)
	if value != "" && !IsDate(value) {
		v.AddValue(field, errs.NotDate, value)
		return ""
	}
	return value
}

// require adds an error if a validated value is empty and has no other error.
func (v *validation) require(field, value string) {
	rejected := slices.ContainsFunc(v.Fields, func(e errs.FieldError) bool { return e.Field == field })
	if value == "" && !rejected {
		v.Add(field, errs.Required)
	}
}

// IsDate reports whether a value is a date in the form YYYY-MM-DD.
func IsDate(value string) bool {
	if len(value) != len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}

// validation collects field errors in the order in which the fields are checked. Each of its
// methods validates one field.
type validation struct {
	errs.Fields
	status   string   // current status of the record
	statuses []string // that a record can get
}

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
	if !in.Present || in.Value.Kind != customObject && in.Value.Kind != CustomNull {
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
