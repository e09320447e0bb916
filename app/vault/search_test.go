package vault_test

import (
	"strings"
	"testing"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// marks writes a snippet with brackets around what is marked.
func marks(pieces []vault.SnippetPiece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Marked {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestSearchRefused(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	for name, row := range map[string]struct {
		q    vault.SearchQuery
		want string
	}{
		"nothing":        {vault.SearchQuery{Text: " "}, "The q field is required."},
		"bad characters": {vault.SearchQuery{Text: "a\x00b"}, "The q field contains invalid characters."},
		"too long":       {vault.SearchQuery{Text: strings.Repeat("ü", 501)}, "The q field must not be greater than 500 characters."},
		"kind":           {vault.SearchQuery{Text: "elm", Kind: "folder"}, "The selected kind is invalid."},
		"no date":        {vault.SearchQuery{Text: "elm", From: "2026-02-30"}, "The created from field must be a date or a date-time."},
		"two":            {vault.SearchQuery{From: "x", To: "y"}, "The q field is required. (and 2 more errors)"},
	} {
		_, err := v.Search(t.Context(), clerk, row.q)
		if title.KindOf(err) != title.Invalid || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}
