package doctor

import (
	"testing"
	"time"

	"deedkeep/app/wire"
)

func TestDamageAndScrub(t *testing.T) {
	at := new(wire.At(noon))
	every, days40 := int64(30*day/time.Second), int64(40*day/time.Second)
	for _, row := range []struct {
		name  string
		s     wire.Scrub
		state string
		words string
	}{
		{"off", wire.Scrub{}, OK, "off"},
		{"never served", wire.Scrub{EverySeconds: every}, OK, "not started"},
		{"under way", wire.Scrub{EverySeconds: every, StartedAt: at, Progress: 0.5}, OK, "50%"},
		{"first one late", wire.Scrub{EverySeconds: every, StartedAt: at, AgeSeconds: days40, Overdue: true}, Warn, "started 40 days ago"},
		{"late", wire.Scrub{EverySeconds: every, StartedAt: at, CompletedAt: at, AgeSeconds: days40, Overdue: true}, Warn, "completed 40 days ago"},
		{"done", wire.Scrub{EverySeconds: every, StartedAt: at, CompletedAt: at, AgeSeconds: int64(3 * day / time.Second)}, OK, "3 days ago"},
	} {
		check(t, row.name, scrub(&wire.Checkup{Status: wire.Status{Scrub: row.s}}), row.state, row.words)
	}
	check(t, "no damage", damage(&wire.Checkup{}), OK, "no stored document")
	check(t, "damage", damage(&wire.Checkup{Status: wire.Status{Damaged: wire.List[wire.Damaged]{{File: 12}, {File: 13}}}}), Bad, "2 stored documents are damaged and aren't sent, file 12 among them")
}
