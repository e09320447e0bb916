package records

import (
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/search"
)

func TestLooseNotice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mill s":           "Includes results without “s”. Keep typing to narrow the list.",
		"tax-é":            "Includes results without “é”. Keep typing to narrow the list.",
		`"right of wa`:     "Includes results with these words, but not as an exact phrase.",
		"Bk 1022 Pg 311":   "Includes results with the number but without the word before it.",
		"bk 2":             "Includes results with the number but without the word before it.",
		"book 7 page 3 ":   "Includes results with the number but without the word before it.",
		`"right of way" s`: "Includes results without “s”. Keep typing to narrow the list.",
	} {
		t.Run(text, func(t *testing.T) {
			if got := looseNotice(text); got != want {
				t.Errorf("looseNotice(%q) = %q, want %q", text, got, want)
			}
		})
	}
}

// A snippet shows where the lines of its text end.
func TestSingleLine(t *testing.T) {
	t.Parallel()
	fileHit := func(mime string) search.Hit {
		return search.Hit{Kind: "file", File: &model.File{MIME: mime}}
	}
	for _, row := range []struct {
		name     string
		hit      search.Hit
		in, want string
	}{
		{"names of a record", search.Hit{Kind: "abstract"}, "*Hébert*, Théodore\nO'Neal, Sean\r\n\n Landry",
			"*Hébert*, Théodore / O'Neal, Sean / Landry"},
		{"next to a match", search.Hit{Kind: "order"}, "one\n*two*\nthree", "one / *two* / three"},
		{"lines of a page", fileHit(model.MIMEPDF), "of the County\nof *Wexcombe*,\nGrantors", "of the County\nof *Wexcombe*,\nGrantors"},
		{"paragraphs of a page", fileHit(model.MIMEPDF), "the *end*.\n \nNext\tone\n", "the *end*. / Next\tone\n"},
		{"a letter", fileHit("application/msword"), "Dear\n\tSirs", "Dear / Sirs"},
		{"a sheet", fileHit("application/vnd.ms-excel"), "Hébert\t*O'Neal*\nLot\t14", "Hébert · *O'Neal* / Lot · 14"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var pieces []search.SnippetPiece
			for i, text := range strings.Split(row.in, "*") {
				pieces = append(pieces, search.SnippetPiece{Text: text, Marked: i%2 == 1})
			}
			row.hit.Snippet = pieces
			var got []string
			for _, piece := range singleLine(row.hit) {
				got = append(got, piece.Text)
			}
			if got := strings.Join(got, "*"); got != row.want {
				t.Errorf("singleLine() = %q, want %q", got, row.want)
			}
			if pieces[0].Text != strings.Split(row.in, "*")[0] {
				t.Errorf("singleLine changed its argument to %q", pieces[0].Text)
			}
		})
	}
}
