package page

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// typedValues are dates, times, and amounts as people type them.
var typedValues = []string{
	"", "'", ".", "-", "3-9-98", "3/9/98", "030998", "2/30/2024", "02302024", "0/0/00", "12/31/99", "20240230",
	"Jan 2, 2026", "january 2, 2026", "1998-02-30",
	"$10 & OVC", "$1.00 ovc", "$1,234,567.8", "1 234 567", "- $ 5.", "1,23",
	"$1,234.567", "0012", "-0.50", "1e9", "999999999999999999999",
	"15:04", "15:04:05", "24:00", "9:41 AM",
	"\u00a0", "\u202e3", "\x00", "\xff", "1/1/0000", "1/1/9999",
}

var isoDate = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// FuzzTypedValues checks that what was typed is normalized once and for all, and that a value that is shown in a
// form is stored as it was if no one changes it.
func FuzzTypedValues(f *testing.F) {
	for _, text := range typedValues {
		f.Add(text)
	}
	latest := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		date := model.TypedDate(text, latest)
		if again := model.TypedDate(date, latest); again != date {
			t.Errorf("model.TypedDate(%q) = %q, and of that %q", text, date, again)
		}
		day, err := time.Parse(time.DateOnly, date)
		if isoDate.MatchString(date) && date != strings.TrimSpace(text) && err != nil {
			t.Errorf("model.TypedDate(%q) = %q, which is not a date", text, date)
		}
		if err == nil && day.Year() >= 1000 {
			if shown := FormatTypedDate(date); model.TypedDate(shown, latest) != date {
				t.Errorf("%q is shown as %q, which is parsed as %q", date, shown, model.TypedDate(shown, latest))
			}
		}
		for name, normalize := range map[string]func(string) string{"normalizeNumber": normalizeNumber,
			"normalizeMoney": normalizeMoney, "groupThousands": func(text string) string { return model.FormatAmount(model.Number, text) }} {
			if once := normalize(text); normalize(once) != once {
				t.Errorf("%s(%q) = %q, and of that %q", name, text, once, normalize(once))
			}
		}
		if amount, ok := model.NormalizeMoney(text); ok {
			if again, ok := model.NormalizeMoney(amount); again != amount || !ok {
				t.Errorf("NormalizeMoney(%q) = %q, and of that %q, %v", text, amount, again, ok)
			}
			if shown := FormatValues(model.Money, []string{amount}); normalizeMoney(shown) != amount {
				t.Errorf("%q is shown as %q, which is stored as %q", amount, shown, normalizeMoney(shown))
			}
		}
		for _, kind := range []model.FieldType{model.Text, model.Paragraph, model.Date, model.Number, model.Money, model.Phone,
			model.Checkbox, model.Multiselect} {
			values := SubmittedValues(kind, "closing_date", []string{"", text}, testNow)
			stored := model.StoredTexts(customInput(kind, values).JSON())
			_ = FormatValues(kind, stored)
			if kind != model.Checkbox && strings.ToValidUTF8(text, "") == text && Fingerprint(kind, values) != Fingerprint(kind, stored) {
				t.Errorf("%s %q is stored as %q, which has another fingerprint", kind, values, stored)
			}
		}
	})
}
