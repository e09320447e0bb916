package control

import (
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/integrity"
)

func (c handler) verify(w http.ResponseWriter, r *http.Request) {
	streamProgress(c, w, r, "documents", func(report func(done, total int64)) (apitypes.Verify, error) {
		found, err := c.Vault.Integrity.Verify(r.Context(), func(done, total int) { report(int64(done), int64(total)) })
		return verified(found), err
	})
}

func (c handler) repair(w http.ResponseWriter, r *http.Request) {
	streamProgress(c, w, r, "documents", func(report func(done, total int64)) (apitypes.Verify, error) {
		did, err := c.Vault.Integrity.Repair(r.Context(), operator(r), func(done, total int) { report(int64(done), int64(total)) })
		out := verified(did.Report)
		out.Repaired = &apitypes.Repaired{
			Done: did.Applied, Findings: int64(did.FindingsBefore), TasksAdded: int64(did.TasksAdded), TasksRemoved: int64(did.TasksRemoved),
			Leftovers: int64(did.Leftovers), Orphans: int64(did.Orphans),
		}
		return out, err
	})
}

func verified(r integrity.Report) apitypes.Verify {
	out := apitypes.Verify{
		OK: r.OK(), Records: int64(r.Records), Files: int64(r.Files), Blobs: int64(r.Blobs), Bytes: r.Bytes, Events: int64(r.Events),
		Orphans: int64(r.Orphans), Leftovers: int64(r.Leftovers), SearchBytes: r.IndexBytes, Texts: int64(r.Texts),
		Other: int64(r.OtherVersion), Damaged: int64(r.DamagedPreviews),
		Findings: make([]apitypes.Finding, 0, len(r.Findings)),
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, apitypes.Finding{Kind: f.Kind, Subject: f.Subject, Problem: f.Problem})
	}
	return out
}
