package model

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// At most so many Unicode code points (API.md, "strings in").
const (
	MaxNameLength      = 255    // order_number, a folder's name
	MaxLineLength      = 2000   // every other one-line field
	MaxParagraphLength = 65_535 // a field of type paragraph
)

// InputKind says in which shape an Input came.
type InputKind int

// The forms of an Input.
const (
	InputMissing   InputKind = iota // absent, or JSON null
	InputString                     // a string, as sent
	InputNotString                  // JSON of another type
)

// Input is a one-line field as it arrived, before any rule was applied.
type Input struct {
	Kind  InputKind
	Value string
}

// StringInput is an Input that carries a string.
func StringInput(value string) Input { return Input{InputString, value} }

// IDInput is an id as it arrived. Present is false when it was absent or empty;
// Valid is false when it was there but no integer. Value may still name nothing.
type IDInput struct {
	Present, Valid bool
	Value          int64
}

// Values are the custom fields of a record: key to JSON value, only keys with a
// value, numbers as they were sent.
type Values map[string]json.RawMessage

// CustomKind says in which shape custom_fields arrived.
type CustomKind int

// The forms of Custom.
const (
	CustomObject      CustomKind = iota // absent, empty, null, {}, [] or an object
	CustomNotObject                     // JSON of another type
	CustomNotJSON                       // a form field that is no JSON
	CustomInvalidText                   // a form field that is no text
	CustomNull                          // JSON null in a change, where it takes all values away
)

// Custom is a custom_fields input as it arrived; Sent holds valid JSON values.
type Custom struct {
	Kind   CustomKind
	Values map[string]json.RawMessage
	// OnUnknownKeys, where it is set, gets the keys of Sent that no definition names, sorted.
	// A change that is applied again calls it again.
	OnUnknownKeys func(keys []string)
}

// tellIgnored tells which keys no definition names.
func (c Custom) tellIgnored(defs []Field) {
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

// line applies the rules of a one-line text: trimmed, no NUL, valid UTF-8, at
// most so many code points. What is refused comes back as "".
func (f *validation) line(field string, in Input, most int) string {
	switch in.Kind {
	case InputMissing:
		return ""
	case InputNotString:
		f.Add(field, notString(field))
		return ""
	}
	if !utf8.ValidString(in.Value) || strings.ContainsRune(in.Value, 0) {
		f.Add(field, badCharacters(field))
		return ""
	}
	value := strings.TrimSpace(in.Value)
	if utf8.RuneCountInString(value) > most {
		f.Add(field, tooLong(field, most))
		return ""
	}
	return value
}

// date applies the rules of a date: YYYY-MM-DD of the real calendar.
func (f *validation) date(field string, in Input) string {
	if in.Kind == InputNotString {
		f.Add(field, notDate(field))
		return ""
	}
	value := f.line(field, in, MaxLineLength)
	if value != "" && !isDate(value) {
		f.Add(field, notDate(field))
		return ""
	}
	return value
}

func isDate(value string) bool {
	if len(value) != len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}

// Property is where a parcel lies; an empty string is an absent value.
type Property struct {
	Address string `json:"address,omitempty"`
	City    string `json:"city,omitempty"`
	County  string `json:"county,omitempty"`
	State   string `json:"state,omitempty"`
}

// PropertyDraft is a Property as it arrived.
type PropertyDraft struct{ Address, City, County, State Input }

func (d PropertyDraft) check(f *validation) Property {
	return Property{
		Address: f.line("address", d.Address, MaxLineLength),
		City:    f.line("city", d.City, MaxLineLength),
		County:  f.line("county", d.County, MaxLineLength),
		State:   f.line("state", d.State, MaxLineLength),
	}
}
