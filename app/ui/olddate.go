package ui

import (
	"net/url"
	"time"

	"deedkeep/app/model"
)

// oldestYear is the first that a date typed into a page may have: an earlier one is a
// slip, such as 0026 for 2026. Programs may send what they have.
const oldestYear = 1600

const tooOld = "The year is before 1600. Write all four of its digits, as in 2026."

// oldDates are the dates of a form that are slips, by the names of their fields.
func oldDates(fields []input, sent url.Values) map[string]string {
	refused := map[string]string{}
	for _, in := range fields {
		values := sent[in.Name]
		if in.Type != model.Date || len(values) == 0 {
			continue
		}
		if day, err := time.Parse(time.DateOnly, values[len(values)-1]); err == nil && day.Year() < oldestYear {
			refused[in.Name] = tooOld
		}
	}
	return refused
}
