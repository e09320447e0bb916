package page

import (
	"testing"

	"deedkeep/app/search"
)

// Users see the status of the search index where it affects their search.
func TestSearchIndexSays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		state         search.SearchState
		missing, late string
		complete      bool
		says          string // "": it is tested elsewhere
	}{
		{"whole", search.SearchState{Ready: true}, "", "", true, ""},
		{"a little behind", search.SearchState{Ready: true, Behind: 3}, "", "", false, ""},
		{"far behind", search.SearchState{Ready: true, Behind: 1001}, "", "The search index is catching up: some of what was filed or changed lately is not found yet.", false, ""},
		{"failed", search.SearchState{Ready: true, Behind: 1, Failed: "/x: no room"}, "", "The search index does not get on for now: what was filed or changed lately is not found yet.", false, ""},
		{"failed, whole", search.SearchState{Ready: true, Failed: "x"}, "", "", true, ""},
		{"restored", search.SearchState{Ready: true, Documents: 4, Texts: 1, Lacking: 1}, "", "1 document is not found by what it says yet, only by name.", false,
			"4 records are in the index. 1 document is found by name only until the text is made again, as after a restore."},
		{"restored, made anew", search.SearchState{Ready: true, Building: true, Texts: 3, Lacking: 2}, "", "2 documents are not found by what they say yet, only by name.", false,
			"The index is being made anew. The old one answers until then. 2 documents are found by name only until the text is made again, as after a restore."},
		{"restored, stopped", search.SearchState{Ready: true, Behind: 1, Failed: "x", Texts: 1200, Lacking: 1200}, "",
			"The search index does not get on for now: what was filed or changed lately is not found yet. 1,200 documents are not found by what they say yet, only by name.", false, ""},
		{"made anew without texts, the old one has them", search.SearchState{Ready: true, Building: true, Done: 1, Total: 4, Texts: 3}, "", "", true,
			"The index is being made anew: 25 %, 1 of 4 records. The old one answers until then."},
		{"in processing", search.SearchState{Ready: true, Documents: 4, Processing: 1}, "", "1 document is not found by what it says yet, only by name.", false, ""},
		{"restored, in processing", search.SearchState{Ready: true, Texts: 3, Lacking: 3, Processing: 64}, "", "67 documents are not found by what they say yet, only by name.", false, ""},
		{"none, and none of its texts", search.SearchState{Texts: 3, Lacking: 3}, "", "", false, ""},
		{"made anew", search.SearchState{Ready: true, Building: true, Total: 9}, "", "", true, ""},
		{"not begun", search.SearchState{}, "", "", false, ""},
		{"begun", search.SearchState{Building: true}, "", "", false, ""},
		{"half made", search.SearchState{Building: true, Done: 1_250, Total: 5_000}, "The search index is being made: 25 %, 1,250 of 5,000 records.", "", false, ""},
		{"half made, failed", search.SearchState{Building: true, Done: 1_250, Total: 5_000, Failed: "/x: no room"},
			"The search index does not get on for now: 25 %, 1,250 of 5,000 records. Administrators see why under Settings.", "", false, ""},
		{"none, failed", search.SearchState{Failed: "/x: no room"}, "The search index does not get on for now. Administrators see why under Settings.", "", false, ""},
	} {
		s := SearchIndexStatus{SearchState: row.state}
		if row.says != "" && s.Says() != row.says {
			t.Errorf("%s: %s", row.name, s.Says())
		}
		if s.Missing() != row.missing || s.Late() != row.late || s.Complete() != row.complete {
			t.Errorf("%s: %q, %q, %t", row.name, s.Missing(), s.Late(), s.Complete())
		}
	}
	if (SearchIndexStatus{Problem: "x"}).Complete() {
		t.Error("what nothing is known of is complete")
	}
}
