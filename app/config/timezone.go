package config

import (
	"fmt"
	"time"
	_ "time/tzdata" // Windows and small containers have no time zone database
)

// loadTimeZone returns the time zone with the given IANA name. If name is "", it returns the local time zone.
func loadTimeZone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	return time.LoadLocation(name)
}

func checkTimeZone(name string) string {
	if _, err := loadTimeZone(name); err != nil {
		return fmt.Sprintf(
			"%q is not a time zone; use an IANA name such as America/New_York, America/Chicago, or UTC", name)
	}
	return ""
}
