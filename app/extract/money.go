package extract

import (
	"regexp"
	"strconv"
	"strings"

	"deedkeep/app/model"
)

var figures = regexp.MustCompile(`[$§]\s*([0-9OolI|SsBZ][0-9OolI|SsBZ,.\s]*)|\b[SsB]([0-9][0-9OolI|SsBZ]{0,2}(?:[,.]` +
	`[0-9OolI|SsBZ]{3})+(?:[.,][0-9OolI|SsBZ]{2})?)`)

var grouped = regexp.MustCompile(`^(\d{1,3}(?:[,.]\d{3})+|\d+)(?:[.,](\d{2}))?$`)

// amountRest matches the end of an amount after a blank that OCR read into it.
var amountRest = regexp.MustCompile(`^[ ][0-9]{1,3}[,.][0-9]{2}`)

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
	if amountRest.MatchString(r.source.text[to:]) {
		return nil, false
	}
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
	inWords := model.AmountInWords(words)
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

// considerationText returns what the instrument says about the consideration.
func (r *reader) considerationText(from, to int) ([]string, bool) {
	text := strings.Join(strings.Fields(r.source.text[from:to]), " ")
	if len(text) > model.MaxConsideration {
		return nil, true
	}
	return []string{text}, true
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
