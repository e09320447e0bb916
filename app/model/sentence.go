package model

import (
	"fmt"
	"strings"
)

// The sentences of API.md's wording table for what arrives outside a draft: in the
// query of a list, or in a header. Each takes the name of what was refused.

// MsgRequired is the sentence for what was left out.
func MsgRequired(field string) string { return required(field) }

// MsgNotInteger is the sentence for what is no whole number.
func MsgNotInteger(field string) string { return notInteger(field) }

// MsgNotBoolean is the sentence for what is neither true nor false.
func MsgNotBoolean(field string) string { return notBoolean(field) }

// MsgNotDateTime is the sentence for what is neither a date nor a date-time.
func MsgNotDateTime(field string) string {
	return "The " + spoken(field) + " field must be a date or a date-time."
}

// MsgInvalidChoice is the sentence for what is none of the choices.
func MsgInvalidChoice(field string) string { return notSelectable(field) }

// MsgInvalidCharacters is the sentence for a text with a NUL or invalid UTF-8.
func MsgInvalidCharacters(field string) string { return badCharacters(field) }

// MsgTooLong is the sentence for a text of more than so many characters.
func MsgTooLong(field string, most int) string { return tooLong(field, most) }

// MsgNotBetween is the sentence for a number outside its bounds.
func MsgNotBetween(field string, least, most int) string {
	return fmt.Sprintf("The %s field must be between %d and %d.", spoken(field), least, most)
}

// MsgNotCombinable is the sentence for what cannot be asked for along with another field.
func MsgNotCombinable(field, other string) string {
	return fmt.Sprintf("The %s field cannot be combined with %s.", spoken(field), spoken(other))
}

// spoken is a field's name in a sentence: "custom_fields.search_type" and
// "search_type" are both "search type".
func spoken(field string) string {
	if at := strings.LastIndexByte(field, '.'); at >= 0 {
		field = field[at+1:]
	}
	return strings.ReplaceAll(field, "_", " ")
}

// The sentences of API.md's wording table; each takes a field's name.

func required(field string) string  { return "The " + spoken(field) + " field is required." }
func notString(field string) string { return "The " + spoken(field) + " field must be a string." }
func notFile(field string) string   { return "The " + spoken(field) + " field must be a file." }
func notArray(field string) string  { return "The " + spoken(field) + " field must be an array." }
func notNumber(field string) string { return "The " + spoken(field) + " field must be a number." }
func notDate(field string) string {
	return "The " + spoken(field) + " field must match the format Y-m-d."
}
func notMoney(field string) string {
	return "The " + spoken(field) + " field must be an amount of money."
}
func tooMuch(field string) string {
	return "The " + spoken(field) + " field must not be greater than " + strings.Repeat("9", moneyDigits) + ".99."
}
func notEmail(field string) string {
	return "The " + spoken(field) + " field must be a valid email address."
}
func notPhone(field string) string {
	return "The " + spoken(field) + " field must be a valid phone number."
}
func notURL(field string) string     { return "The " + spoken(field) + " field must be a valid URL." }
func notInteger(field string) string { return "The " + spoken(field) + " field must be an integer." }
func notBoolean(field string) string {
	return "The " + spoken(field) + " field must be true or false."
}
func notJSON(field string) string {
	return "The " + spoken(field) + " field must be a valid JSON string."
}
func notSelectable(field string) string { return "The selected " + spoken(field) + " is invalid." }
func badCharacters(field string) string {
	return "The " + spoken(field) + " field contains invalid characters."
}
func tooLong(field string, most int) string {
	return fmt.Sprintf("The %s field must not be greater than %d characters.", spoken(field), most)
}

// MsgTaken is the sentence for a value that must be unique and is not.
func MsgTaken(field string) string { return "The " + spoken(field) + " has already been taken." }
