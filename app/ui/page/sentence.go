package page

import (
	"regexp"
	"strings"
)

// Validation errors contain the sentences of the API, because API clients compare them. Pages
// replace sentences that are written for developers.
var (
	tooManyCharacters = regexp.MustCompile(`The ([^.]+) field must not be greater than ([0-9]+) characters\.`)
	notADay           = regexp.MustCompile(`The ([^.]+) field must match the format Y-m-d\.`)
	tooLongToFind     = regexp.MustCompile(`The q field must not be greater than ([0-9]+) characters\.`)
	toFind            = strings.NewReplacer("The q field has too much to look for; fewer words will do.", "That is too much to look for; fewer words will do.",
		"The q field contains invalid characters.", "That has characters that nothing can be found by.", "The q field must have at least", "Type at least")
	fieldNames = strings.NewReplacer("The filename ", "The name ", "The tax map ", "The parcel or tax map number ", "The selected template id ", "The template ")
)

// Plainly replaces the API sentences of a validation error with the wording used on pages.
func Plainly(sentences string) string {
	sentences = toFind.Replace(tooLongToFind.ReplaceAllString(sentences, "That is too long to look for: $1 characters at most."))
	sentences = tooManyCharacters.ReplaceAllString(sentences, "The $1 can have at most $2 characters.")
	sentences = notADay.ReplaceAllString(sentences, "The $1 is no date: write it as month/day/year, like 3/14/2026.")
	return fieldNames.Replace(sentences)
}
