package doctor

import (
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

func TestDamageAndScrub(t *testing.T) {
	at := new(apitypes.At(noon))
	every, days40 := int64(30*day/time.Second), int64(40*day/time.Second)
	for _, row := range []struct {
		name  string
		s     apitypes.Scrub
		state string
		text  string
	}{
		{"off", apitypes.Scrub{}, OK, "off"},
		{"never started", apitypes.Scrub{EverySeconds: every}, OK, "not started"},
		{"in progress", apitypes.Scrub{EverySeconds: every, StartedAt: at, Progress: 0.5}, OK, "50%"},
		{"first one overdue", apitypes.Scrub{EverySeconds: every, StartedAt: at, AgeSeconds: days40, Overdue: true}, Warn, "started 40 days ago"},
		{"overdue", apitypes.Scrub{EverySeconds: every, StartedAt: at, CompletedAt: at, AgeSeconds: days40, Overdue: true}, Warn,
			"last complete pass was 40 days ago"},
		{"done", apitypes.Scrub{EverySeconds: every, StartedAt: at, CompletedAt: at, AgeSeconds: int64(3 * day / time.Second)}, OK, "3 days ago"},
	} {
		check(t, row.name, checkScrub(&apitypes.Checkup{Status: apitypes.Status{Scrub: row.s}}), row.state, row.text)
	}
	check(t, "no damage", checkDamage(&apitypes.Checkup{}), OK, "no damaged documents found")
	check(t, "damage", checkDamage(&apitypes.Checkup{Status: apitypes.Status{Damaged: apitypes.List[apitypes.Damaged]{{File: 12},
		{File: 13}}}}), Bad, "2 stored documents are damaged and can't be downloaded, including document 12")
}
