package model

import (
	"regexp"
	"testing"
	"time"
)

var typedNow = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func TestTypedDate(t *testing.T) {
	latest := LatestPast(typedNow)
	for typed, want := range map[string]string{
		"3/9/1998": "1998-03-09", "03/09/1998": "1998-03-09", "3-9-98": "1998-03-09", "03.09.1998": "1998-03-09", "3/9/98": "1998-03-09",
		"030998": "1998-03-09", "03091998": "1998-03-09", "19980309": "1998-03-09", "1998-03-09": "1998-03-09", "1998/3/9": "1998-03-09",
		"Mar 9, 1998": "1998-03-09", "March 9 1998": "1998-03-09", "mar. 9th, 1998": "1998-03-09", "9 Mar 1998": "1998-03-09",
		"9-Mar-98": "1998-03-09", "Sept 9, 1998": "1998-09-09", "Sep 9, '98": "1998-09-09", " 3/9/1998 ": "1998-03-09",
		"3/9/1998 0:00": "1998-03-09", "3/9/1998 12:00:00 AM": "1998-03-09", "1998-03-09T00:00:00Z": "1998-03-09",
		"11/28/26": "2026-11-28", "11/29/26": "1926-11-29", "022900": "2000-02-29", "12/1/1899": "1899-12-01",
		"2/30/1998": "2/30/1998", "13/1/1998": "13/1/1998", "1998-02-30": "1998-02-30", "Foo 9, 1998": "Foo 9, 1998", "3/9": "3/9",
		"3/9/19981": "3/9/19981", "0/0/00": "0/0/00", "soon": "soon", "": "", "3/9/1998 10:42": "3/9/1998 10:42", "45000": "45000",
	} {
		if got := TypedDate(typed, latest); got != want {
			t.Errorf("TypedDate(%q) = %q, want %q", typed, got, want)
		}
	}
	for _, row := range []struct {
		latest time.Time
		want   string
	}{{LatestFuture(typedNow), "2058-06-01"}, {LatestOf("due_date", typedNow), "1958-06-01"}, {latest, "1958-06-01"}} {
		if got := TypedDate("6/1/58", row.latest); got != row.want {
			t.Errorf("TypedDate of 6/1/58 until %s = %q, want %q", row.latest.Format(time.DateOnly), got, row.want)
		}
	}
}

func TestParseConsideration(t *testing.T) {
	for typed, want := range map[string][2]string{
		"$1,234.5": {"1234.50", ""}, "387500": {"387500.00", ""}, "$ 387 500": {"387500.00", ""}, "$ 5.": {"5.00", ""}, "": {"", ""},
		"$1.00 ovc": {"1.00", "$1.00 ovc"}, "$10 & OVC": {"10.00", "$10 & OVC"}, "10.00 OGVC": {"10.00", "10.00 OGVC"},
		"$10ovc": {"10.00", "$10ovc"},
		"$10.00, and other good and valuable consideration": {"10.00", "$10.00, and other good and valuable consideration"},
		"Ten dollars and other valuable consideration":      {"10.00", "Ten dollars and other valuable consideration"},
		"Ten and no/100 Dollars ($10.00)  &  OVC":           {"10.00", "Ten and no/100 Dollars ($10.00) & OVC"},
		"Three Hundred Eighty-Seven Thousand Dollars":       {"387000.00", "Three Hundred Eighty-Seven Thousand Dollars"},
		"250,000 dollars":                             {"250000.00", "250,000 dollars"},
		"love and affection":                          {"", "love and affection"},
		"$10 and assumption of a mortgage of $50,000": {"", "$10 and assumption of a mortgage of $50,000"},
		"$300K":                 {"", "$300K"},
		"$1.5 million":          {"", "$1.5 million"},
		"$10 per acre":          {"", "$10 per acre"},
		"$1,23":                 {"", "$1,23"},
		"$1.234":                {"", "$1.234"},
		"1O,OOO.OO":             {"", "1O,OOO.OO"},
		"40 acres":              {"", "40 acres"},
		"-5":                    {"", "-5"},
		"Ten Dollars ($100.00)": {"", "Ten Dollars ($100.00)"},
		"$10 - $20":             {"", "$10 - $20"},
	} {
		if amount, says := ParseConsideration(typed); amount != want[0] || says != want[1] {
			t.Errorf("ParseConsideration(%q) = %q, %q, want %q", typed, amount, says, want)
		}
	}
}

// An amount with a typing error isn't stored as words without a question. Words are.
func TestIsMistypedAmount(t *testing.T) {
	for text, want := range map[string]bool{"12.5.00": true, "1,00,0.0": true, "$98.5K": true, "$1,23": true, "$1.234": true,
		"1O,OOO.OO": true, "-5": true, "$10 - $20": true, "$1.5 million": true, "$": false, "": false, "387500": false,
		"$1,234.5": false, "$10 & OVC": false, "love and affection": false, "$10 per acre": false, "40 acres": false,
		"Ten Dollars ($100.00)": false, "$10 and assumption of a mortgage of $50,000": false, "x": false} {
		if got := IsMistypedAmount(text); got != want {
			t.Errorf("IsMistypedAmount(%q) = %t, want %t", text, got, want)
		}
	}
}

var (
	isoDate     = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	moneyAmount = regexp.MustCompile(`^[0-9]+\.[0-9]{2}$`)
)

// FuzzTyped checks that what was typed is normalized once and for all, and that amounts and dates are in the form
// in which they are stored.
func FuzzTyped(f *testing.F) {
	for _, text := range misreadTexts {
		f.Add(text)
	}
	for _, text := range []string{"030998", "9-Mar-98",
		"3/9/1998 0:00", "Sep 9, '98", "Ten and no/100 Dollars ($10.00) & OVC", "$300K", "$1,23"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, latest := range []time.Time{LatestPast(typedNow), LatestFuture(typedNow)} {
			date := TypedDate(text, latest)
			if again := TypedDate(date, latest); again != date {
				t.Errorf("TypedDate(%q) = %q, and of that %q", text, date, again)
			}
			if isoDate.MatchString(date) && date != text && !IsDate(date) && TypedDate(text, latest) != text {
				t.Errorf("TypedDate(%q) = %q, which isn't a date", text, date)
			}
		}
		amount, says := ParseConsideration(text)
		if again, saysAgain := ParseConsideration(says); says != "" && (again != amount || saysAgain != says) {
			t.Errorf("ParseConsideration(%q) = %q, %q, and of that %q, %q", text, amount, says, again, saysAgain)
		}
		if amount != "" && !moneyAmount.MatchString(amount) {
			t.Errorf("ParseConsideration(%q) has the amount %q", text, amount)
		}
	})
}
