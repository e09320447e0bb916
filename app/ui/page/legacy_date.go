package page

import (
	"net/url"
	"time"

	"deedkeep/app/model"
)

// minYear is the minimum year of a date typed into a form. Earlier years are typing errors, such as
// 0026 for 2026. The API has no such limit.
const minYear = 1600

const yearTooEarlyText = "The year is before 1600. Write all four of its digits, as in 2026."

// LegacyDateProblems returns the problems of submitted dates before minYear, by the name of the
// field.
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
