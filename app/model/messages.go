package model

import (
	"fmt"
	"strings"
)

// The messages for invalid input. They are part of the API contract, so their wording must not
// change. Each function takes the name of the invalid field.

// MsgRequired is the message for a missing value.
func MsgRequired(field string) string { return "The " + displayName(field) + " field is required." }

// MsgNotInteger is the message for a value that isn't an integer.
func MsgNotInteger(field string) string {
	return "The " + displayName(field) + " field must be an integer."
}

// MsgNotBoolean is the message for a value that is neither true nor false.
func MsgNotBoolean(field string) string {
	return "The " + displayName(field) + " field must be true or false."
}

// MsgNotDateTime is the message for a value that is neither a date nor a date-time.
func MsgNotDateTime(field string) string {
	return "The " + displayName(field) + " field must be a date or a date-time."
}

// MsgInvalidChoice is the message for a value that isn't one of the allowed choices, and for the
// ID of a record that doesn't exist.
func MsgInvalidChoice(field string) string {
	return "The selected " + displayName(field) + " is invalid."
}

// MsgInvalidCharacters is the message for text with control characters or invalid UTF-8.
func MsgInvalidCharacters(field string) string {
	return "The " + displayName(field) + " field contains invalid characters."
}

// MsgTooLong is the message for text with more than limit characters.
func MsgTooLong(field string, limit int) string {
	return fmt.Sprintf("The %s field must not be greater than %d characters.", displayName(field), limit)
}

// MsgNotBetween is the message for a number that is not between lower and upper.
func MsgNotBetween(field string, lower, upper int) string {
	return fmt.Sprintf("The %s field must be between %d and %d.", displayName(field), lower, upper)
}

// MsgNotCombinable is the message for a field that can't be combined with the field other.
func MsgNotCombinable(field, other string) string {
	return fmt.Sprintf("The %s field cannot be combined with %s.", displayName(field), displayName(other))
}

// MsgTaken is the message for a value that must be unique but is already used.
func MsgTaken(field string) string {
	return "The " + displayName(field) + " has already been taken."
}

func msgNotString(field string) string {
	return "The " + displayName(field) + " field must be a string."
}

func msgNotFile(field string) string { return "The " + displayName(field) + " field must be a file." }

func msgNotArray(field string) string {
	return "The " + displayName(field) + " field must be an array."
}

func msgNotNumber(field string) string {
	return "The " + displayName(field) + " field must be a number."
}

func msgNotDate(field string) string {
	return "The " + displayName(field) + " field must match the format Y-m-d."
}

func msgNotMoney(field string) string {
	return "The " + displayName(field) + " field must be an amount of money."
}

func msgMoneyTooLarge(field string) string {
	return "The " + displayName(field) + " field must not be greater than " + strings.Repeat("9", maxMoneyDigits) + ".99."
}

func msgNotEmail(field string) string {
	return "The " + displayName(field) + " field must be a valid email address."
}

func msgNotPhone(field string) string {
	return "The " + displayName(field) + " field must be a valid phone number."
}

func msgNotURL(field string) string {
	return "The " + displayName(field) + " field must be a valid URL."
}

func msgNotJSON(field string) string {
	return "The " + displayName(field) + " field must be a valid JSON string."
}

// displayName returns the name of a field in messages. It is "search type" for both
// "custom_fields.search_type" and "search_type".
func displayName(field string) string {
	if at := strings.LastIndexByte(field, '.'); at >= 0 {
		field = field[at+1:]
	}
	return strings.ReplaceAll(field, "_", " ")
}
