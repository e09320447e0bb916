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
		return ok("damage", "no damaged documents found")
	}
	return bad("damage", fmt.Sprintf("%s, including document %d",
		apitypes.Count(len(list), "stored document is damaged and can't be downloaded", "stored documents are damaged and can't be downloaded"), list[0].File),
		`upload the same documents again, or restore them from a backup with "deedkeep restore latest --file ID" and upload them; check the disk's health`)
}

// checkScrub reports when the last scrub, which reads every stored document, was completed.
func checkScrub(found *apitypes.Checkup) apitypes.Diagnosis {
	s := found.Status.Scrub
	age := time.Duration(s.AgeSeconds) * time.Second
	switch {
	case s.EverySeconds == 0:
		return ok("scrub", "off (scrub.every): the server doesn't check stored documents for damage")
	case s.StartedAt == nil:
		return ok("scrub", "not started; the running server checks all documents in the background")
	case s.Overdue && s.CompletedAt == nil:
		return warn("scrub", fmt.Sprintf("the first pass started %s ago and isn't complete", FormatAge(age)),
			`keep the server running, or run "deedkeep verify" to check all documents`)
	case s.Overdue:
		return warn("scrub", fmt.Sprintf("the last complete pass was %s ago", FormatAge(age)),
			`keep the server running, or run "deedkeep verify" to check all documents`)
	case s.CompletedAt == nil:
		return ok("scrub", fmt.Sprintf("first pass: %.0f%% of the documents checked", 100*s.Progress))
	}
	return ok("scrub", fmt.Sprintf("all documents checked; last pass completed %s ago", FormatAge(age)))
}
