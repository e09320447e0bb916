package ui

import (
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestHumane(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"active": "Active", "on_hold": "On hold", "Needs Curative": "Needs Curative", "eClosed": "eClosed", "waiting on client": "waiting on client", "": "", "été": "été",
	} {
		if got := humane(status); got != want {
			t.Errorf("humane(%q) = %q, want %q", status, got, want)
		}
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, address, place string
		want                 bool
	}{
		{"itself", "/admin/users", "/admin/users", true},
		{"something in it", "/admin/users/3", "/admin/users", true},
		{"another that begins so", "/admin/users2", "/admin/users", false},
		{"what it is in", "/admin", "/admin/users", false},
		{"everything is under the root", "/me", "/", true},
	} {
		if got := under(c.address, c.place); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// One table gives the color of every status, of orders and abstracts.
func TestTone(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"active": "neutral", "on_hold": "warn", "On Hold": "warn", "completed": "good", "Complete": "good", "Delivered": "good", "cancelled": "", "Cancelled (by client)": "",
		"void": "", "Withdrawn": "", "In Search": "neutral", "Needs Curative": "warn", "Problem": "warn", "Sold": "neutral", "": "neutral",
	} {
		if got := tone(status); got != want {
			t.Errorf("tone(%q) = %q, want %q", status, got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mill s":           "Also shown: what has no word “s”. Type on to narrow it.",
		"tax-é":            "Also shown: what has no word “é”. Type on to narrow it.",
		`"right of wa`:     "Also shown: what has the words, but not one behind the other.",
		"Bk 1022 Pg 311":   "Also shown: what has the number without the word before it.",
		"bk 2":             "Also shown: what has the number without the word before it.",
		"book 7 page 3 ":   "Also shown: what has the number without the word before it.",
		`"right of way" s`: "Also shown: what has no word “s”. Type on to narrow it.",
	} {
		if got := without(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Rows of a sheet are as long as the longest; a heading goes over all of it.
func TestRows(t *testing.T) {
	t.Parallel()
	var m marker
	for text, want := range map[string]string{
		"":                                    "",
		"a\n":                                 "a1",
		"Heading\nNo.\tDeed\tPage\n1\tx\n\n":  "Heading3|No.1 Deed1 Page1|1,1 x1 0|3",
		"a\tb\n1\t" + strings.Repeat("é", 25): "a1 b1|1,1 " + strings.Repeat("é", 25) + "1 long",
	} {
		var lines []string
		for _, row := range m.rows(text) {
			var cells []string
			for _, cell := range row {
				said := ""
				for _, part := range cell.Parts {
					said += part.Text
				}
				if said == "1" {
					said += ","
				}
				if said += strconv.Itoa(cell.Span); cell.Long() {
					said += " long"
				}
				cells = append(cells, said)
			}
			lines = append(lines, strings.Join(cells, " "))
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Who looks for something is told how the index is where that matters.
func TestSearchIndexSays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		state         vault.SearchState
		missing, late string
		complete      bool
		says          string // "": it is tested elsewhere
	}{
		{"whole", vault.SearchState{Ready: true}, "", "", true, ""},
		{"a little behind", vault.SearchState{Ready: true, Behind: 3}, "", "", false, ""},
		{"far behind", vault.SearchState{Ready: true, Behind: 1001}, "", "The search index is catching up: some of what was filed or changed lately is not found yet.", false, ""},
		{"failed", vault.SearchState{Ready: true, Behind: 1, Failed: "/x: no room"}, "", "The search index does not get on for now: what was filed or changed lately is not found yet.", false, ""},
		{"failed, whole", vault.SearchState{Ready: true, Failed: "x"}, "", "", true, ""},
		{"restored", vault.SearchState{Ready: true, Documents: 4, Texts: 1, Lacking: 1}, "", "1 document is not found by what it says yet, only by name.", false,
			"4 records are in the index. 1 document is found by name only until the text is made again, as after a restore."},
		{"restored, made anew", vault.SearchState{Ready: true, Building: true, Texts: 3, Lacking: 2}, "", "2 documents are not found by what they say yet, only by name.", false,
			"The index is being made anew. The old one answers until then. 2 documents are found by name only until the text is made again, as after a restore."},
		{"restored, stopped", vault.SearchState{Ready: true, Behind: 1, Failed: "x", Texts: 1200, Lacking: 1200}, "",
			"The search index does not get on for now: what was filed or changed lately is not found yet. 1,200 documents are not found by what they say yet, only by name.", false, ""},
		{"made anew without texts, the old one has them", vault.SearchState{Ready: true, Building: true, Done: 1, Total: 4, Texts: 3}, "", "", true,
			"The index is being made anew: 25 %, 1 of 4 records. The old one answers until then."},
		{"in processing", vault.SearchState{Ready: true, Documents: 4, Processing: 1}, "", "1 document is not found by what it says yet, only by name.", false, ""},
		{"restored, in processing", vault.SearchState{Ready: true, Texts: 3, Lacking: 3, Processing: 64}, "", "67 documents are not found by what they say yet, only by name.", false, ""},
		{"none, and none of its texts", vault.SearchState{Texts: 3, Lacking: 3}, "", "", false, ""},
		{"made anew", vault.SearchState{Ready: true, Building: true, Total: 9}, "", "", true, ""},
		{"not begun", vault.SearchState{}, "", "", false, ""},
		{"begun", vault.SearchState{Building: true}, "", "", false, ""},
		{"half made", vault.SearchState{Building: true, Done: 1_250, Total: 5_000}, "The search index is being made: 25 %, 1,250 of 5,000 records.", "", false, ""},
		{"half made, failed", vault.SearchState{Building: true, Done: 1_250, Total: 5_000, Failed: "/x: no room"},
			"The search index does not get on for now: 25 %, 1,250 of 5,000 records. Administrators see why under Settings.", "", false, ""},
		{"none, failed", vault.SearchState{Failed: "/x: no room"}, "The search index does not get on for now. Administrators see why under Settings.", "", false, ""},
	} {
		s := searchIndex{SearchState: row.state}
		if row.says != "" && s.Says() != row.says {
			t.Errorf("%s: %s", row.name, s.Says())
		}
		if s.Missing() != row.missing || s.Late() != row.late || s.Complete() != row.complete {
			t.Errorf("%s: %q, %q, %t", row.name, s.Missing(), s.Late(), s.Complete())
		}
	}
	if (searchIndex{Trouble: "x"}).Complete() {
		t.Error("what nothing is known of is complete")
	}
}

// What stands in lines of its own is not read together.
func TestBroken(t *testing.T) {
	t.Parallel()
	of := func(mime string) vault.SearchHit { return vault.SearchHit{Kind: "file", File: &model.File{MIME: mime}} }
	for _, row := range []struct {
		name      string
		hit       vault.SearchHit
		in, wants string
	}{
		{"names of a record", vault.SearchHit{Kind: "abstract"}, "*Hébert*, Théodore\nO'Neal, Sean\r\n\n Landry", "*Hébert*, Théodore / O'Neal, Sean / Landry"},
		{"at a mark", vault.SearchHit{Kind: "order"}, "one\n*two*\nthree", "one / *two* / three"},
		{"lines of a page", of(model.MIMEPDF), "of the County\nof *Wexcombe*,\nGrantors", "of the County\nof *Wexcombe*,\nGrantors"},
		{"paragraphs of a page", of(model.MIMEPDF), "the *end*.\n \nNext\tone\n", "the *end*. / Next\tone\n"},
		{"a letter", of("application/msword"), "Dear\n\tSirs", "Dear / Sirs"},
		{"a sheet", of("application/vnd.ms-excel"), "Hébert\t*O'Neal*\nLot\t14", "Hébert · *O'Neal* / Lot · 14"},
	} {
		var pieces []vault.SnippetPiece
		for i, text := range strings.Split(row.in, "*") {
			pieces = append(pieces, vault.SnippetPiece{Text: text, Marked: i%2 == 1})
		}
		var got []string
		for _, piece := range broken(row.hit, pieces) {
			got = append(got, piece.Text)
		}
		if got := strings.Join(got, "*"); got != row.wants {
			t.Errorf("%s: %q, want %q", row.name, got, row.wants)
		}
		if pieces[0].Text != strings.Split(row.in, "*")[0] {
			t.Errorf("%s: the hit itself has changed", row.name)
		}
	}
}
