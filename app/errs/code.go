package errs

import (
	"fmt"
	"strings"
)

// Code is what is wrong with a field. It is the sentence that the API returns: {field} means
// the name of the field, and the verbs are for the arguments. API clients compare these
// sentences, so their wording must not change. Pages may show other sentences for a code.
type Code string

// The codes that several packages use.
const (
	Required          Code = "The {field} field is required."
	NotString         Code = "The {field} field must be a string."
	NotInteger        Code = "The {field} field must be an integer."
	NotNumber         Code = "The {field} field must be a number."
	NotBoolean        Code = "The {field} field must be true or false."
	NotArray          Code = "The {field} field must be an array."
	NotJSON           Code = "The {field} field must be a valid JSON string."
	NotFile           Code = "The {field} field must be a file."
	NotDate           Code = "The {field} field must match the format Y-m-d."
	NotDateTime       Code = "The {field} field must be a date or a date-time."
	NotMoney          Code = "The {field} field must be an amount of money."
	NotEmail          Code = "The {field} field must be a valid email address."
	NotPhone          Code = "The {field} field must be a valid phone number."
	NotURL            Code = "The {field} field must be a valid URL."
	TooLong           Code = "The {field} field must not be greater than %d characters."
	TooMany           Code = "The {field} field must not have more than %d items."
	NotBetween        Code = "The {field} field must be between %d and %d."
	NotCombinable     Code = "The {field} field cannot be combined with %s."
	InvalidCharacters Code = "The {field} field contains invalid characters."
	InvalidChoice     Code = "The selected {field} is invalid."
	Taken             Code = "The {field} has already been taken."
)

// Problem is one reason why a field is invalid.
type Problem struct {
	Code Code
	Name string // what sentences call the field
	Args []any
	// Value is the start of the text that isn't valid, for the sentences of pages. It can be empty.
	Value string
}

// Sentence returns the sentence of the API.
func (p Problem) Sentence() string {
	if len(p.Args) == 0 {
		return strings.ReplaceAll(string(p.Code), "{field}", p.Name)
	}
	format := strings.ReplaceAll(string(p.Code), "{field}", strings.ReplaceAll(p.Name, "%", "%%"))
	return fmt.Sprintf(format, p.Args...)
}

// displayName returns the name of a field in sentences. It is "search type" for both
// "custom_fields.search_type" and "search_type".
func displayName(field string) string {
	return strings.ReplaceAll(field[strings.LastIndexByte(field, '.')+1:], "_", " ")
}
