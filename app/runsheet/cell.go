package runsheet

import (
	"regexp"
	"strings"

	"deedkeep/app/apitypes"
)

// escapeCell returns a cell of a CSV file that no spreadsheet takes for a formula.
func escapeCell(value string) string {
	if isEscapable(value) {
		return "'" + value
	}
	return value
}

// unescapeCell is the inverse of escapeCell.
func unescapeCell(cell string) string {
	if value, found := strings.CutPrefix(cell, "'"); found && isEscapable(value) {
		return value
	}
	return cell
}

// isEscapable reports whether a value is a formula, or one that is escaped already.
func isEscapable(value string) bool {
	bare := strings.TrimLeft(value, "'")
	return apitypes.EscapeFormula(bare) != bare
}

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
