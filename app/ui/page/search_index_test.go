package page

import (
	"testing"

	"deedkeep/app/search"
)

// Users see the state of the search index if it affects their search.
func TestSearchIndexStatus(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		state         search.State
		missing, late string
		complete      bool
		says          string // "" means not checked
	}{
		{"complete", search.State{Ready: true}, "", "", true, ""},
		{"a few pending changes", search.State{Ready: true, PendingChanges: 3}, "", "", false, ""},
		{"many pending changes", search.State{Ready: true, PendingChanges: 1001}, "",
			"Search is catching up. Recent uploads and changes may not appear yet.", false, ""},
		{"failed", search.State{Ready: true, PendingChanges: 1, Failure: "/x: no room"}, "",
			"Search isn't updating right now. Recent uploads and changes may not appear yet.", false, ""},
		{"failed, complete", search.State{Ready: true, Failure: "x"}, "", "", true, ""},
		{"restored", search.State{Ready: true, Documents: 4, MissingText: 1, MissingTextLive: 1}, "",
			"1 document can be found only by name for now.", false,
			"4 records in the search index. 1 document can be found only by name until the server has read the text again."},
		{"restored, rebuilding", search.State{Ready: true, Building: true, MissingText: 3, MissingTextLive: 2}, "",
			"2 documents can be found only by name for now.", false,
			"Rebuilding the search index. Searches use the old index until it is complete. 2 documents can be found only by name " +
				"until the server has read the text again."},
		{"restored, stopped", search.State{Ready: true, PendingChanges: 1, Failure: "x", MissingText: 1200, MissingTextLive: 1200}, "",
			"Search isn't updating right now. Recent uploads and changes may not appear yet. " +
				"1,200 documents can be found only by name for now.", false, ""},
		{"rebuilding without texts that the old index has",
			search.State{Ready: true, Building: true, Done: 1, Total: 4, MissingText: 3}, "", "", true,
			"Rebuilding the search index: 25% (1 of 4 records). Searches use the old index until it is complete."},
		{"in processing", search.State{Ready: true, Documents: 4, Processing: 1}, "",
			"1 document can be found only by name for now.", false, ""},
		{"restored, in processing", search.State{Ready: true, MissingText: 3, MissingTextLive: 3, Processing: 64}, "",
			"67 documents can be found only by name for now.", false, ""},
		{"no index, no texts", search.State{MissingText: 3, MissingTextLive: 3}, "", "", false, ""},
		{"rebuilding", search.State{Ready: true, Building: true, Total: 9}, "", "", true, ""},
		{"not started", search.State{}, "", "", false, ""},
		{"started", search.State{Building: true}, "", "", false, ""},
		{"partly built", search.State{Building: true, Done: 1_250, Total: 5_000},
			"The search index is being built: 25% (1,250 of 5,000 records).", "", false, ""},
		{"partly built, failed", search.State{Building: true, Done: 1_250, Total: 5_000, Failure: "/x: no room"},
			"Search isn't updating right now: 25% (1,250 of 5,000 records). Administrators can see details in Settings.", "", false, ""},
		{"no index, failed", search.State{Failure: "/x: no room"},
			"Search isn't updating right now. Administrators can see details in Settings.", "", false, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			status := SearchIndexStatus{State: row.state}
			if row.says != "" && status.Says() != row.says {
				t.Errorf("Says() = %q, want %q", status.Says(), row.says)
			}
			if status.Missing() != row.missing || status.Late() != row.late || status.Complete() != row.complete {
				t.Errorf("Missing() = %q, Late() = %q, Complete() = %t, want %q, %q, %t", status.Missing(), status.Late(), status.Complete(),
					row.missing, row.late, row.complete)
			}
		})
	}
	if (SearchIndexStatus{Problem: "x"}).Complete() {
		t.Error("Complete() of an unknown state = true, want false")
	}
}
