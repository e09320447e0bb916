package control

import (
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/instance"
)

// damageStatus adds the known damage and the state of the scrub to out.
func (c handler) damageStatus(out *apitypes.Status, s instance.Status) {
	for _, d := range c.Vault.Damaged() {
		out.Damaged = append(out.Damaged, apitypes.Damaged{File: d.FileID, SHA256: d.Digest, Problem: d.Problem, FoundAt: apitypes.At(d.FoundAt)})
	}
	scrub := s.Scrub
	out.Scrub = apitypes.Scrub{
		EverySeconds: int64(scrub.Every / time.Second), Progress: scrub.Progress,
		AgeSeconds: int64(scrub.Age / time.Second), Overdue: scrub.Overdue,
	}
	if !scrub.Started.IsZero() {
		out.Scrub.StartedAt = new(apitypes.At(scrub.Started))
	}
	if !scrub.Completed.IsZero() {
		out.Scrub.CompletedAt = new(apitypes.At(scrub.Completed))
	}
}
