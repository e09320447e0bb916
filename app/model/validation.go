package model

import (
	"encoding/json"
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
	MaxParagraphLength = 65_535 // fields of type paragraph
)

// InputKind is the type of an Input.
type InputKind int

// Values of Input.Kind.
const (
	InputMissing   InputKind = iota // absent, or JSON null
	InputString                     // a string
	InputNotString                  // JSON of another type
)

// Input is a one-line text field as received, before validation.
type Input struct {
	Kind  InputKind
	Value string
}

// StringInput returns an Input that holds a string.
func StringInput(value string) Input { return Input{InputString, value} }

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

// CustomKind is the type of a custom_fields input.
type CustomKind int

// Values of Custom.Kind.
const (
	CustomObject      CustomKind = iota // absent, empty, null, {}, [] or an object
	CustomNotObject                     // JSON of another type
	CustomNotJSON                       // a form field that isn't valid JSON
	CustomInvalidText                   // a form field that isn't valid text
	CustomNull                          // JSON null in a patch, which clears all values
)

// Custom is a custom_fields input as received. Values holds valid JSON.
type Custom struct {
	Kind   CustomKind
	Values map[string]json.RawMessage
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

// line trims and validates one-line text. The text must be valid UTF-8 without NUL and at most
// limit code points long. line returns "" after an error.
func (f *validation) line(field string, in Input, limit int) string {
	switch in.Kind {
	case InputMissing:
		return ""
	case InputNotString:
		f.Add(field, errs.NotString)
		return ""
	}
	if !utf8.ValidString(in.Value) || strings.ContainsRune(in.Value, 0) {
		f.Add(field, errs.InvalidCharacters)
		return ""
	}
	value := strings.TrimSpace(in.Value)
	if utf8.RuneCountInString(value) > limit {
		f.Add(field, errs.TooLong, limit)
		return ""
	}
	return value
}

// date validates a calendar date in the format YYYY-MM-DD.
func (f *validation) date(field string, in Input) string {
	if in.Kind == InputNotString {
		f.Add(field, errs.NotDate)
		return ""
	}
	value := f.line(field, in, MaxLineLength)
	if value != "" && !isDate(value) {
		f.AddValue(field, errs.NotDate, value)
		return ""
	}
	return value
}

// require adds an error if a validated value is empty and has no other error.
func (f *validation) require(field, value string) {
	rejected := slices.ContainsFunc(f.Fields, func(e errs.FieldError) bool { return e.Field == field })
	if value == "" && !rejected {
		f.Add(field, errs.Required)
	}
}

func isDate(value string) bool {
	if len(value) != len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}

// validation collects field errors in the order in which the fields are checked. Each of its
// methods validates one field.
type validation struct{ errs.Fields }
