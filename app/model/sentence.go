package model

import "fmt"

// The sentences of API.md's wording table for what arrives outside a draft: in the
// query of a list, or in a header. Each takes the name of what was refused.

// Required is the sentence for what was left out.
func Required(field string) string { return required(field) }

// NotInteger is the sentence for what is no whole number.
func NotInteger(field string) string { return notInteger(field) }

// NotBoolean is the sentence for what is neither true nor false.
func NotBoolean(field string) string { return notBoolean(field) }

// NotInstant is the sentence for what is neither a date nor a date-time.
func NotInstant(field string) string {
	return "The " + spoken(field) + " field must be a date or a date-time."
}

// NotSelectable is the sentence for what is none of the choices.
func NotSelectable(field string) string { return notSelectable(field) }

// BadCharacters is the sentence for a text with a NUL or invalid UTF-8.
func BadCharacters(field string) string { return badCharacters(field) }

// TooLong is the sentence for a text of more than so many characters.
func TooLong(field string, most int) string { return tooLong(field, most) }

// NotBetween is the sentence for a number outside its bounds.
func NotBetween(field string, least, most int) string {
	return fmt.Sprintf("The %s field must be between %d and %d.", spoken(field), least, most)
}

// NotWith is the sentence for what cannot be asked for along with another field.
func NotWith(field, other string) string {
	return fmt.Sprintf("The %s field cannot be combined with %s.", spoken(field), spoken(other))
}
