package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/apitypes"
)

// The plausible range of years. A clock without a battery starts in 1970 or 2000.
const (
	firstYear = 2026
	lastYear  = 2100
)

// checkClock checks whether the year is plausible and whether the latest change in the
// vault is in the future.
func checkClock(data string, now time.Time, found *apitypes.Checkup) apitypes.Diagnosis {
	var newest time.Time
	for _, name := range []string{"vault.db", "tmp", "secret.key"} {
		if info, err := os.Stat(filepath.Join(data, name)); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if found != nil && found.NewestEventAt != nil && found.NewestEventAt.After(newest) {
		newest = found.NewestEventAt.Time
	}
	return diagnoseClock(now, newest)
}

func diagnoseClock(now, newest time.Time) apitypes.Diagnosis {
	message := "current time " + now.Format("Jan 2, 2006, 3:04:05 PM MST")
	const action = "set the clock and turn on time synchronization (NTP: timedatectl, or Windows Date & time settings)"
	switch {
	case now.Year() < firstYear || now.Year() > lastYear:
		return bad("clock", message+": wrong; links, API keys, and certificates expire at the wrong time", action)
	case newest.Sub(now) > 2*time.Minute:
		return bad("clock", fmt.Sprintf("%s, but the data was changed at %s: the clock is wrong now, or was wrong then", message,
			newest.In(now.Location()).Format("Jan 2, 2006, 3:04:05 PM MST")), action)
	}
	return ok("clock", message)
}
