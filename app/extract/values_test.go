package extract

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deedkeep/app/model"
)

// misreadValues are dates, amounts, numbers, and legal descriptions as OCR reads them and people write them.
var misreadValues = []string{
	"", "'", ".", "-", ",", "’", "\u0301", "\x00", "\xff", "O", "l", "3-9-98", "2/30/2024", "0-0-00", "April l5, 2O19",
	"15th day of Apri1, 2019",
	"twenty-first day of May, 1921", "2019 May 3", "1998-02-30", "$10 & OVC", "$1.00 ovc", "$3B7,5OO.OO", "S120,000", "$1,234,567,890,123.00",
	"ten and no/100 dollars", "one hundred hundred hundred", "nine hundred ninety nine million dollars",
	"ZERO DOLLARS", "99/100", "47-O312-ll9", "37-0297-B- 173", "A1-B2-C3", "Oak Hill",
	"Lot 12, Block C, Oak Hill", "Oak Hill Subdivision, Lot 12", "Lot Lot 0 0", "Lots 1 and 2, Plan of Lots, Merriweather", "LOT A BLK. B, '",
	"Lot 1,,Lot 2 abcd",
	"lot no. 7 of the Subdivision Plan Plat", "Comelius Quill", "Grantcr", strings.Repeat("hundred ", 40),
	strings.Repeat("9", 400), strings.Repeat("lot 1 ", 60),
}

var (
	amountText = regexp.MustCompile(`^[0-9]{1,16}\.[0-9]{2}$`)
	digitsText = regexp.MustCompile(`^[0-9]*$`)
)

// FuzzValues checks that values have their form and are read from themselves again.
func FuzzValues(f *testing.F) {
	for _, text := range misreadValues {
		f.Add(text)
	}
	words := DefaultRules().entityWords
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 600)]
		if date := parseDate(text, time.Now()); date != "" {
			at, err := time.Parse(time.DateOnly, date)
			if err != nil || date < firstDay || at.After(time.Now().AddDate(0, 0, 2)) || parseDate(date, time.Now()) != date {
				t.Errorf("parseDate(%q, time.Now()) = %q, and of that %q", text, date, parseDate(date, time.Now()))
			}
		}
		if amount := parseFigures(text); amount != "" && (!amountText.MatchString(amount) || parseFigures(amount) != amount) {
			t.Errorf("parseFigures(%q) = %q, and of that %q", text, amount, parseFigures(amount))
		}
		if amount := model.AmountInWords(text); amount != "" && !amountText.MatchString(amount) {
			t.Errorf("model.AmountInWords(%q) = %q, want an amount", text, amount)
		}
		if number, ok := digits(text); ok && !digitsText.MatchString(number) {
			t.Errorf("digits(%q) = %q, want digits", text, number)
		}
		if number, ok := parcelNumber(text); ok {
			if again, ok := parcelNumber(number); again != number || !ok {
				t.Errorf("parcelNumber(%q) = %q, and of that %q, %v", text, number, again, ok)
			}
		}
		if fixed := words.repair(text); fixed != "" && (words.repair(fixed) != "" || !words.exact[strings.ToLower(fixed)]) {
			t.Errorf("repair(%q) = %q, want a word of the vocabulary", text, fixed)
		}
		if utf8.ValidString(text) {
			checkLot(t, text)
		}
	})
}

// checkLot checks that a lot is read from its own description again.
func checkLot(t *testing.T, text string) {
	l, ok := ReadLot(text)
	if !ok {
		return
	}
	if again, ok := ReadLot(l.String()); !ok || again.Lot != l.Lot || again.Block != l.Block {
		t.Errorf("ReadLot(%q) = %+v, and of %q: %+v, %v", text, l, l.String(), again, ok)
	}
	if l.SubdivisionName() == "" || strings.ContainsAny(l.Subdivision, "\n,;") {
		t.Errorf("ReadLot(%q) has the subdivision %q", text, l.Subdivision)
	}
}

// FuzzPatterns checks that each pattern file has problems, or rules with which a text can be read.
func FuzzPatterns(f *testing.F) {
	for _, text := range []string{
		"- county: Kanawha\n  state: WV\n  find: 'Kanawha Recording {no}(?P<instrument_number>{n})'\n  in: header\n",
		"- find: '(?P<grantors>.*)'\n- find: '(?P<book>{n})'\n  near: deed\n  line_start: yes\n",
		"- find: '('\n", "- find: '(?P<legal>x)'\n",
		"- 1\n", "a: b\n",
		"- find: '{date}'\n", "- find: ''\n- {}\n", "'", "- find: \"(?P<recorded>{date})\"\n  in: \"’\"\n", "--- \n...\n---\n",
	} {
		f.Add(text)
	}
	const deed = "Kanawha Recording No. 12345 04/17/2019\nDEED between John O’Neil, Grantor, and ', Grantee\n"
	types := model.NewDocumentTypes()
	f.Fuzz(func(t *testing.T, text string) {
		rules, problems := DefaultRules().WithPatterns([]byte(text[:min(len(text), 2000)]))
		for _, problem := range problems {
			if problem.Reason == "" || problem.String() == "" {
				t.Errorf("problem %+v of %q, want a reason", problem, text)
			}
		}
		for name, field := range Read([]Page{PlainText(deed)}, rules.For("Kanawha", "WV"), types, time.Now()) {
			if len(field.Values) == 0 || field.Page != 1 {
				t.Errorf("%s is %+v, want values on page 1", name, field)
			}
		}
	})
}

func TestParseAmountWords(t *testing.T) {
	for text, want := range map[string]string{
		"Three Hundred Eighty-Seven Thousand Five Hundred and 00/100": "387500.00", "ten and no/100 dollars": "10.00",
		"hundred dollars": "100.00",
		"one million two hundred thousand and fifteen": "1200015.00", "twenty one hundred": "2100.00", "ninety nine and 99/100": "99.99",
		"hundred hundred": "", "two thousand thousand": "", "one thousand two million": "", "ten twenty": "",
		"five five": "", "twenty eleven": "",
	} {
		if got := model.AmountInWords(text); got != want {
			t.Errorf("model.AmountInWords(%q) = %q, want %q", text, got, want)
		}
	}
}
