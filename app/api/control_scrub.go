package api

import (
	"time"

	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

// damageStatus adds what is known of damage, and how the scrub goes.
func (c control) damageStatus(out *wire.Status, s vault.Status) {
	for _, d := range c.Vault.Damaged() {
		out.Damaged = append(out.Damaged, wire.Damaged{File: d.File, SHA256: d.Digest, Problem: d.Problem, FoundAt: wire.At(d.Found)})
	}
	scrub := s.Scrub
	out.Scrub = wire.Scrub{
		EverySeconds: int64(scrub.Every / time.Second), Progress: scrub.Progress,
		AgeSeconds: int64(scrub.Age / time.Second), Overdue: scrub.Overdue,
	}
	if !scrub.Started.IsZero() {
		out.Scrub.StartedAt = new(wire.At(scrub.Started))
	}
	if !scrub.Completed.IsZero() {
		out.Scrub.CompletedAt = new(wire.At(scrub.Completed))
	}
}
