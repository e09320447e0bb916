package doctor

import (
	"fmt"
	"time"

	"deedkeep/app/apitypes"
)

// checkDamage reports documents that are known to be damaged on disk.
func checkDamage(found *apitypes.Checkup) apitypes.Diagnosis {
	list := found.Status.Damaged
	if len(list) == 0 {
		return ok("damage", "no stored document is known to be damaged")
	}
	return bad("damage", fmt.Sprintf("%s, file %d among them",
		apitypes.Count(len(list), "stored document is damaged and isn't sent", "stored documents are damaged and aren't sent"), list[0].File),
		`upload the same files again, or get them from a backup with "deedkeep restore latest --file N" and upload them; check the disk's health`)
}

// checkScrub reports when the last scrub, which reads every stored document, was completed.
func checkScrub(found *apitypes.Checkup) apitypes.Diagnosis {
	s := found.Status.Scrub
	age := time.Duration(s.AgeSeconds) * time.Second
	switch {
	case s.EverySeconds == 0:
		return ok("scrub", "off: the server reads no documents to find damage (scrub.every)")
	case s.StartedAt == nil:
		return ok("scrub", "not started: the server reads every document while it runs")
	case s.Overdue && s.CompletedAt == nil:
		return warn("scrub", fmt.Sprintf("the first one started %s ago and isn't complete", formatAge(age)),
			`keep the server running, or run "deedkeep verify", which reads every document`)
	case s.Overdue:
		return warn("scrub", fmt.Sprintf("the last one was completed %s ago", formatAge(age)),
			`keep the server running, or run "deedkeep verify", which reads every document`)
	case s.CompletedAt == nil:
		return ok("scrub", fmt.Sprintf("the first one has read %.0f%% of the documents", 100*s.Progress))
	}
	return ok("scrub", fmt.Sprintf("every document was read, the last one %s ago", formatAge(age)))
}
