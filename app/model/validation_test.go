package model

import (
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	const limit = 5
	for _, row := range []struct {
		name     string
		in       Input
		value    string
		rejected string
	}{
		{"absent", Input{}, "", ""},
		{"empty", StringInput(""), "", ""},
		{"only white space", StringInput(" \t\r\n\u00a0\u3000"), "", ""},
		{"trimmed", StringInput("  1 A \n"), "1 A", ""},
		{"at max", StringInput("ABCDE"), "ABCDE", ""},
		{"at max, after trimming", StringInput("  ABCDE  "), "ABCDE", ""},
		{"code points, not bytes", StringInput("Äß語🏠é"), "Äß語🏠é", ""},
		{"one too long", StringInput("ABCDEF"), "", "The address field must not be greater than 5 characters."},
		{"NUL", StringInput("a\x00b"), "", "The address field contains invalid characters."},
		{"NUL at the end", StringInput("a\x00"), "", "The address field contains invalid characters."},
		{"not UTF-8", StringInput("caf\xe9"), "", "The address field contains invalid characters."},
		{"a surrogate in UTF-8", StringInput("\xed\xa0\x80"), "", "The address field contains invalid characters."},
		{"JSON of another type", Input{Kind: InputOther}, "", "The address field must be a string."},
		{"inner line break stays", StringInput("a\nb"), "a\nb", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f validation
			if got := f.line("address", row.in, limit); got != row.value {
				t.Errorf("value = %q, want %q", got, row.value)
			}
			if row.rejected == "" {
				checkFieldErrors(t, f.Fields)
			} else {
				checkFieldErrors(t, f.Fields, "address: "+row.rejected)
			}
		})
	}
}

func TestMaximumLengths(t *testing.T) {
	long := func(n int) Input { return StringInput(strings.Repeat("é", n)) }
	_, f := OrderDraft{Fields: Inputs{"order_number": long(255), "address": long(2000), "city": long(2000),
		"county": long(2000), "state": long(2000)}}.Check(nil, Rules{})
	checkFieldErrors(t, f)
	_, f = OrderDraft{Fields: Inputs{"order_number": long(256), "address": long(2001), "city": long(2001),
		"county": long(2001), "state": long(2001)}}.Check(nil, Rules{})
	checkFieldErrors(t, f,
		"order_number: The order number field must not be greater than 255 characters.",
		"address: The address field must not be greater than 2000 characters.",
		"city: The city field must not be greater than 2000 characters.",
		"county: The county field must not be greater than 2000 characters.",
		"state: The state field must not be greater than 2000 characters.")
	_, f = AbstractDraft{Fields: Inputs{"tax_map": long(2000)}}.Check(nil, true, Rules{})
	checkFieldErrors(t, f)
	_, f = AbstractDraft{Fields: Inputs{"tax_map": long(2001)}}.Check(nil, true, Rules{})
	checkFieldErrors(t, f, "tax_map: The tax map field must not be greater than 2000 characters.")
	_, f = FolderDraft{Name: long(255)}.Check(true)
	checkFieldErrors(t, f)
	_, f = FolderDraft{Name: long(256)}.Check(true)
	checkFieldErrors(t, f, "name: The name field must not be greater than 255 characters.")
}

func TestDate(t *testing.T) {
	const bad = "due_date: The due date field must match the format Y-m-d."
	for _, row := range []struct {
		name     string
		in       Input
		value    string
		rejected string
	}{
		{"absent", Input{}, "", ""},
		{"empty", StringInput(" "), "", ""},
		{"a day", StringInput("2026-06-15"), "2026-06-15", ""},
		{"blanks around", StringInput(" 2026-06-15\n"), "2026-06-15", ""},
		{"leap day", StringInput("2028-02-29"), "2028-02-29", ""},
		{"leap century", StringInput("2000-02-29"), "2000-02-29", ""},
		{"no such day", StringInput("2026-02-30"), "", bad},
		{"no leap day", StringInput("2026-02-29"), "", bad},
		{"no leap century", StringInput("1900-02-29"), "", bad},
		{"month 13", StringInput("2026-13-01"), "", bad},
		{"month 0", StringInput("2026-00-10"), "", bad},
		{"day 0", StringInput("2026-01-00"), "", bad},
		{"one digit", StringInput("2026-6-15"), "", bad},
		{"slashes", StringInput("2026/06/15"), "", bad},
		{"American", StringInput("06/15/2026"), "", bad},
		{"with a time", StringInput("2026-06-15T00:00:00Z"), "", bad},
		{"signed year", StringInput("-026-06-15"), "", bad},
		{"other digits", StringInput("２０２６-06-15"), "", bad},
		{"words", StringInput("tomorrow"), "", bad},
		{"a number", Input{Kind: InputOther}, "", bad},
		{"NUL", StringInput("2026-06-15\x00"), "", "due_date: The due date field contains invalid characters."},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f validation
			if got := f.date("due_date", row.in); got != row.value {
				t.Errorf("value = %q, want %q", got, row.value)
			}
			if row.rejected == "" {
				checkFieldErrors(t, f.Fields)
			} else {
				checkFieldErrors(t, f.Fields, row.rejected)
			}
		})
	}
}
