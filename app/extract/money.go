package extract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var figures = regexp.MustCompile(`[$§]\s*([0-9OolI|SsBZ][0-9OolI|SsBZ,.\s]*)|\b[SsB]([0-9][0-9OolI|SsBZ]{0,2}(?:[,.]` +
	`[0-9OolI|SsBZ]{3})+(?:[.,][0-9OolI|SsBZ]{2})?)`)

var grouped = regexp.MustCompile(`^(\d{1,3}(?:[,.]\d{3})+|\d+)(?:[.,](\d{2}))?$`)

// maxNominal is the largest nominal consideration in dollars, which deeds state instead of the price.
const maxNominal = 100

func isNominal(value string) bool {
	amount, err := strconv.ParseFloat(value, 64)
	return err == nil && amount <= maxNominal
}

// money returns an amount with two decimals. The text may state it in words, in figures, or both. If it
// states both, they must be equal.
func (r *reader) money(from, to int) ([]string, bool) {
	text := r.source.text[from:to]
	inFigures, words := "", text
	if at := figures.FindStringSubmatchIndex(text); at != nil {
		words = text[:at[0]]
		from, to := at[4], at[5]
		if at[2] >= 0 {
			from, to = at[2], at[3]
		}
		if inFigures = parseFigures(text[from:to]); inFigures == "" {
			return nil, false
		}
	}
	inWords := parseAmountWords(words)
	switch {
	case inFigures == "" && inWords == "":
		return nil, true
	case inFigures == "":
		return []string{inWords}, true
	case inWords != "" && inWords != inFigures:
		return nil, false
	}
	return []string{inFigures}, true
}

func parseFigures(text string) string {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), ".,")
	m := grouped.FindStringSubmatch(certainDigits.Replace(text))
	if m == nil {
		return ""
	}
	whole := strings.TrimLeft(strings.NewReplacer(",", "", ".", "").Replace(m[1]), "0")
	cents := m[2]
	if cents == "" {
		cents = "00"
	}
	const maxDigits = 12
	if len(whole) > maxDigits || whole == "" {
		return ""
	}
	return whole + "." + cents
}

var amountWords = func() map[string]int {
	words := map[string]int{"hundred": 100, "thousand": 1000, "million": 1000000}
	for n, word := range strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
		"seventeen eighteen nineteen") {
		words[word] = n + 1
	}
	for n, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		words[word] = 10 * (n + 2)
	}
	return words
}()

// mayFollow reports whether a number below 100 may follow another one in words, as in "twenty five".
func mayFollow(number, before int) bool {
	return before == 0 || number < 10 && before >= 20 && before%10 == 0
}

var centsText = regexp.MustCompile(`(?i)\b(\d\d|no|zero)\s?/\s?(?:100|1oo|xx)`)

// parseAmountWords returns the amount that the words before "Dollars" state, or "" if there is a word
// that isn't part of a number or that can't follow the word before, as in "hundred hundred".
func parseAmountWords(text string) string {
	cents := 0
	if at := centsText.FindStringSubmatchIndex(text); at != nil {
		cents, _ = strconv.Atoi(text[at[2]:at[3]]) // "no" is 0
		text = text[:at[0]]
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isAlphanumeric(r) })
	if n := len(words); n > 0 && words[n-1] == "and" {
		words = words[:n-1]
	}
	if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "dollar") {
		words = words[:n-1]
	}
	total, group, scale := 0, 0, 1_000_000_000 // scale: of the thousands or millions before
	for _, word := range words {
		value, known := amountWords[word]
		switch {
		case word == "and":
		case !known, value == 100 && group >= 100, value >= 1000 && value >= scale, value < 100 && !mayFollow(value, group%100):
			return ""
		case value == 100:
			group = max(group, 1) * value
		case value >= 1000:
			total += max(group, 1) * value
			group, scale = 0, value
		default:
			group += value
		}
	}
	if total+group == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%02d", total+group, cents)
}
