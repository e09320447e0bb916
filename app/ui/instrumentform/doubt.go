package instrumentform

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// looks says how each look is recognized and named. The first that fits names it.
var looks = []struct {
	model.Look
	text string
	fits func(value string, now time.Time) bool
}{
	{model.LooksLikeCharacter, "is only one character", func(v string, _ time.Time) bool { return utf8.RuneCountInString(v) == 1 }},
	{model.LooksLikeLetter, "is only one letter", func(v string, _ time.Time) bool {
		r, size := utf8.DecodeRuneInString(v)
		return size == len(v) && unicode.IsLetter(r)
	}},
	{model.LooksLate, "is in the future", func(v string, now time.Time) bool {
		day, err := time.Parse(time.DateOnly, model.TypedDate(v, model.LatestFuture(now)))
		return err == nil && day.After(now.AddDate(0, 0, 1))
	}},
	{model.LooksEarly, "is before 1600", func(v string, now time.Time) bool {
		day, err := time.Parse(time.DateOnly, model.TypedDate(v, model.LatestFuture(now)))
		return err == nil && day.Year() < 1600
	}},
	{model.LooksLarge, "is unusually large", func(v string, _ time.Time) bool {
		dollars, err := strconv.ParseFloat(normalizedAmount(v), 64)
		return err == nil && dollars >= 100_000_000
	}},
	{model.LooksMistyped, "can't be read as an amount", func(v string, _ time.Time) bool { return model.IsMistypedAmount(v) }},
	{model.LooksLikeDate, "looks like a date", looksLikeDate},
	{model.LooksLikeAmount, "looks like an amount", func(v string, _ time.Time) bool { return amountText.MatchString(v) }},
	{model.LooksLikePlace, "looks like a book and page", func(v string, _ time.Time) bool { return placeText.MatchString(v) }},
	{model.LooksLikeDigits, "looks like a number", func(v string, _ time.Time) bool {
		return strings.ContainsAny(v, "0123456789") && strings.IndexFunc(v, unicode.IsLetter) < 0
	}},
	{model.LooksLikeWords, "looks like words", func(v string, _ time.Time) bool { return looksLikeWords(v) }},
}

var (
	clockText  = regexp.MustCompile(` +\d{1,2}:\d{2}.*$`)
	amountText = regexp.MustCompile(`^(?:\$ ?\d[\d,]*(?:\.\d\d)?|\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+\.\d\d)$`)
	placeText  = regexp.MustCompile(`(?i)^[a-z. ]*\d+ ?/ ?\d+(?:-\d+)?$|` +
		`^[a-z. ]*\b(?:book|bk|liber|vol|volume)\b\.? *\d+.*\b(?:page|pg|p|folio)\b\.? *\d+$`)
	romanText = regexp.MustCompile(`(?i)^[ivxlcdm]+$`)
)

// looksLikeDate reports whether a text is a date with separators, with or without a time. Digits alone can
// be a number.
func looksLikeDate(text string, now time.Time) bool {
	text = clockText.ReplaceAllString(text, "")
	return strings.ContainsAny(text, "/.- ") && model.IsDate(model.TypedDate(text, model.LatestFuture(now)))
}

// looksLikeWords reports whether a text has words where the letters and digits of a number belong, such as
// "A", "XIV", or "OR".
func looksLikeWords(text string) bool {
	letters, numerals := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			numerals++
		}
	}
	if numerals > 0 {
		return letters > 4*numerals && len(strings.Fields(text)) > 2
	}
	return letters > 2 && !romanText.MatchString(text)
}

// normalizedAmount returns an amount without its separators, or the text if it isn't an amount.
func normalizedAmount(text string) string {
	if dollars, ok := model.NormalizeMoney(text); ok {
		return dollars
	}
	return text
}

// Question asks about a new value of a field that can't be right for it, such as a date as a grantor. It
// returns "" if the value can be right. With another county, it asks about the state of old. It doesn't ask
// again about what the instrument has already. Parties and dates are called as in instruments of the type.
func Question(old model.Instrument, of model.DocumentType, field, value string, now time.Time) string {
	d := definitionOf(field)
	stored := d.parts(d.stored(vault.InstrumentView{Instrument: old}, 0))
	for _, part := range d.parts(value) {
		for _, l := range looks {
			if d.Unlike&l.Look != 0 && l.fits(part, now) && !slices.Contains(stored, part) {
				return "“" + page.Truncate(d.shown(part), 100) + "” " + l.text + ". Keep it as " + d.named(of) + "?"
			}
		}
	}
	if field == "county" && old.County != "" && old.State != "" && value != "" &&
		model.FoldCounty(value) != model.FoldCounty(old.County) {
		return "Check the state: keep " + old.State + " with the county " + page.Truncate(value, 100) + "?"
	}
	return dateQuestion(old, of, field, value, now)
}

// dateQuestion asks about a date that makes an instrument dated after it was recorded.
func dateQuestion(old model.Instrument, of model.DocumentType, field, value string, now time.Time) string {
	changed, day := old, model.TypedDate(value, model.LatestPast(now))
	switch field {
	case "dated":
		changed.Dated = day
	case "recorded":
		changed.Recorded = day
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil || old.DatedAfterRecorded() || !changed.DatedAfterRecorded() {
		return ""
	}
	return "The instrument is dated " + page.FormatDate(changed.Dated) + ", after it was " + strings.ToLower(of.RecordedLabel()) + " on " +
		page.FormatDate(changed.Recorded) + ". Keep both dates?"
}

// parts returns the values in a text of the field, which can be a list of names.
func (d definition) parts(value string) (list []string) {
	switch value = strings.TrimSpace(value); {
	case value == "" || d.Unlike == 0:
	case d.control == names:
		return model.SplitNames(value)
	case d.control == parties:
		for _, p := range splitParties(value) {
			list = append(list, p.Name)
		}
	default:
		list = append(list, value)
	}
	return list
}

// named says what a value of the field is in an instrument of a type, such as "a mortgagor".
func (d definition) named(of model.DocumentType) string {
	grantor, grantee := of.Parties()
	label, isParty := map[string]string{"grantors": grantor.Label, "grantees": grantee.Label}[d.Name]
	switch label = strings.ToLower(label); {
	case !isParty:
		return d.Called
	case strings.ContainsAny(label[:1], "aeio"):
		return "an " + label
	}
	return "a " + label
}

// InputQuestion returns the first question about the fields of an input for an instrument of a type, or "".
func InputQuestion(old model.Instrument, of model.DocumentType, in model.Inputs, now time.Time) string {
	for _, d := range definitions {
		text := in[d.Name].Value
		if d.control == money && text == "" {
			text = in["consideration_text"].Value
		}
		if in[d.Name].Kind == model.InputList {
			text = model.JoinNames(in[d.Name].Texts(), "\n")
		}
		if question := Question(old, of, d.Name, text, now); question != "" {
			return question
		}
	}
	return ""
}
