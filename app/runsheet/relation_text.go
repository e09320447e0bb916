package runsheet

import "regexp"

var numberText = regexp.MustCompile(`^"*#?\d+"*$`)

// quoteNumber quotes the text of a relation that would be read as the No. of a row.
func quoteNumber(text string) string {
	if numberText.MatchString(text) {
		return `"` + text + `"`
	}
	return text
}

// unquoteNumber is the inverse of quoteNumber.
func unquoteNumber(text string) string {
	if len(text) > 2 && text[0] == '"' && text[len(text)-1] == '"' && numberText.MatchString(text[1:len(text)-1]) {
		return text[1 : len(text)-1]
	}
	return text
}
