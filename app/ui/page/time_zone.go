package page

import (
	"slices"

	"deedkeep/app/timezone"
)

// ChooseTimeZone is the message if a form has no valid time zone.
const ChooseTimeZone = "Choose a time zone."

// KnownTimeZone reports whether name is the IANA name of a time zone.
func KnownTimeZone(name string) bool {
	_, err := timezone.Load(name)
	return err == nil
}

// TimeZoneField is the template data of the field "time-zone".
type TimeZoneField struct {
	Name    string // the selected one, or ""
	Zones   []timezone.Zone
	Problem string
}

// NewTimeZoneField returns the field with the time zone that was submitted or, without one, that of
// the vault. A zone that isn't in the list of US time zones is added to it.
func (si *Site) NewTimeZoneField(submitted, problem string) *TimeZoneField {
	f := TimeZoneField{Name: submitted, Zones: timezone.USZones(), Problem: problem}
	if !KnownTimeZone(f.Name) {
		f.Name = si.Vault.TimeZone.Chosen()
	}
	if f.Name != "" && !slices.ContainsFunc(f.Zones, func(z timezone.Zone) bool { return z.Name == f.Name }) {
		f.Zones = append(f.Zones, timezone.Zone{Name: f.Name, Label: f.Name})
	}
	return &f
}
