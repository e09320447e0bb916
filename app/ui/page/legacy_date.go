package page

import (
	"net/url"
	"time"

	"deedkeep/app/model"
)

// minYear is the earliest year accepted in a form. Earlier years, such as 0026 instead of 2026, are
// typos. The API has no such limit.
const minYear = 1600

const yearTooEarlyText = "The year must be 1600 or later. Enter all four digits, like 2026."

// LegacyDateProblems returns a problem for each submitted date before minYear, by field name.
func LegacyDateProblems(fields []Input, sent url.Values) map[string]string {
	rejected := map[string]string{}
	for _, in := range fields {
		values := sent[in.Name]
		if in.Type != model.Date || len(values) == 0 {
			continue
		}
		if day, err := time.Parse(time.DateOnly, values[len(values)-1]); err == nil && day.Year() < minYear {
			rejected[in.Name] = yearTooEarlyText
		}
	}
	return rejected
}
