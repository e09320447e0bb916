package page

import (
	"net/url"
	"slices"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/settings"
)

// FormatTypedDate formats a date as users type it: 4/17/2019. If text is not in the form
// YYYY-MM-DD, it is returned unchanged.
func FormatTypedDate(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.Format("1/2/2006")
}

// FormatTimeOfDay formats a time of day such as 15:04 as 3:04 PM. Other text is returned unchanged.
func FormatTimeOfDay(text string) string {
	for layout, shown := range map[string]string{"15:04": "3:04 PM", "15:04:05": "3:04:05 PM"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(shown)
		}
	}
	return text
}

// ChooseTimeZone is the message if a form has no valid time zone.
const ChooseTimeZone = "Choose a time zone."

// KnownTimeZone reports whether name is the IANA name of a time zone.
func KnownTimeZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}

// TimeZoneField is the template data of the field "time-zone".
type TimeZoneField struct {
	Name    string // the selected one, or ""
	Zones   []settings.Zone
	Problem string
}

// NewTimeZoneField returns the field with the time zone that was submitted or, without one, that of
// the vault. A zone that isn't in the list of US time zones is added to it.
func (si *Site) NewTimeZoneField(submitted, problem string) *TimeZoneField {
	if !KnownTimeZone(submitted) {
		submitted = si.App.Stored.Current().TimeZone
	}
	return &TimeZoneField{Name: submitted, Zones: TimeZones(submitted), Problem: problem}
}

// TimeZones returns the time zones to choose from: those of the United States, and the chosen one.
func TimeZones(chosen string) []settings.Zone {
	zones := settings.USZones()
	if chosen != "" && !slices.ContainsFunc(zones, func(z settings.Zone) bool { return z.Name == chosen }) {
		zones = append(zones, settings.Zone{Name: chosen, Label: chosen})
	}
	return zones
}

// minYear is the earliest year accepted in a form. Earlier years, such as 0026 instead of 2026, are
// typos. The API has no such limit.
const minYear = 1600

const yearTooEarlyText = "The year must be 1600 or later. Enter all four digits, like 2026."

// EarlyDateProblems returns a problem for each submitted date before minYear, by field name.
func EarlyDateProblems(fields []Input, sent url.Values) map[string]string {
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
