package page

import (
	"net/url"
	"time"

	"deedkeep/app/model"
)

// minYear is the first that a date typed into a page may have: an earlier one is a
// slip, such as 0026 for 2026. Programs may send what they have.
const minYear = 1600

const yearTooEarlyText = "The year is before 1600. Write all four of its digits, as in 2026."

// LegacyDateProblems are the dates of a form that are slips, by the names of their fields.
func LegacyDateProblems(fields []Input, sent url.Values) map[string]string {
	refused := map[string]string{}
	for _, in := range fields {
		values := sent[in.Name]
		if in.Type != model.Date || len(values) == 0 {
			continue
		}
		if day, err := time.Parse(time.DateOnly, values[len(values)-1]); err == nil && day.Year() < minYear {
			refused[in.Name] = yearTooEarlyText
		}
	}
	return refused
}
