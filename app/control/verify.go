package control

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/integrity"
	"deedkeep/app/search"
)

// Verify checks every record and every byte of the vault and calls progress, unless nil, in this goroutine. The result
// lists the damage, which is not an error. Verify returns a *client.Error if the server can't finish, and
// io.ErrUnexpectedEOF if the response ends early or exceeds 64 MiB.
func (c *Client) Verify(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/verify", nil, progress)
}

func (h handler) verify(w http.ResponseWriter, r *http.Request) {
	streamProgress(h, w, r, "documents", func(report func(done, total int64)) (apitypes.Verify, error) {
		found, err := h.App.Integrity.Verify(r.Context(), func(done, total int) { report(int64(done), int64(total)) })
		return verified(found), err
	})
}

// Repair rebuilds everything that is derived from records and then verifies like Verify; the result also says what was
// rebuilt. It returns a *client.Error if the vault accepts no writes.
func (c *Client) Repair(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/repair", nil, progress)
}

func (h handler) repair(w http.ResponseWriter, r *http.Request) {
	streamProgress(h, w, r, "documents", func(report func(done, total int64)) (apitypes.Verify, error) {
		did, err := h.App.Integrity.Repair(r.Context(), operator(r), func(done, total int) { report(int64(done), int64(total)) })
		out := verified(did.Report)
		out.Repaired = &apitypes.Repaired{
			Done: did.Applied, Findings: int64(did.FindingsBefore), TasksAdded: int64(did.TasksAdded), TasksRemoved: int64(did.TasksRemoved),
			Leftovers: int64(did.Leftovers), Orphans: int64(did.Orphans),
		}
		out.Advise()
		return out, err
	})
}

func verified(r integrity.Report) apitypes.Verify {
	out := apitypes.Verify{
		OK: r.OK(), Records: int64(r.Records), Files: int64(r.Files), Blobs: int64(r.Blobs), Bytes: r.Bytes, Events: int64(r.Events),
		Orphans: int64(r.Orphans), Leftovers: int64(r.Leftovers), SearchBytes: r.IndexBytes, SearchReady: r.IndexReady,
		SearchBuilding: r.IndexBuilding, Texts: int64(r.Texts),
		PreviewsOtherVersion: int64(r.OtherVersion), PreviewsDamaged: int64(r.DamagedPreviews),
		Findings: make([]apitypes.Finding, 0, len(r.Findings)),
	}
	for _, f := range r.Findings {
		class := "" // depends on the type
		if r.Unreadable[f] {
			class = apitypes.ClassUnreadable
		}
		out.Findings = append(out.Findings, apitypes.Finding{Kind: f.Kind, Subject: f.Subject, Problem: f.Problem, Class: class})
	}
	out.Advise()
	return out
}

// Reindex rebuilds the search index and waits until it is complete. It calls progress in this goroutine unless
// progress is nil. If ctx ends, a running server continues rebuilding.
func (c *Client) Reindex(ctx context.Context, progress func(apitypes.Progress)) (apitypes.SearchIndex, error) {
	return followProgress[apitypes.SearchIndex](ctx, c, "/control/reindex", nil, progress)
}

func (h handler) reindex(w http.ResponseWriter, r *http.Request) {
	streamProgress(h, w, r, "records", func(report func(done, total int64)) (apitypes.SearchIndex, error) {
		if err := h.App.Search.Rebuild(r.Context(), operator(r)); err != nil {
			return apitypes.SearchIndex{}, err
		}
		s, err := h.App.Search.Await(r.Context(), func(done, total uint64) { report(int64(done), int64(total)) })
		return searchIndex(s), err
	})
}

func searchIndex(s search.State) apitypes.SearchIndex {
	out := apitypes.SearchIndex{
		Ready: s.Ready, Building: s.Building, Records: int64(s.Documents), Bytes: s.Bytes, Segments: int64(s.Segments),
		Behind: int64(s.PendingChanges), Texts: int64(s.MissingText), MissingTexts: int64(s.MissingTextLive),
	}
	if s.Building {
		out.Done, out.Total = new(int64(s.Done)), new(int64(s.Total))
	}
	if !s.Since.IsZero() {
		out.Since = new(apitypes.At(s.Since))
	}
	if s.Failure != "" {
		out.Error = &s.Failure
	}
	return out
}
