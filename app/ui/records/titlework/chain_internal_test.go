package titlework

import (
	"strings"
	"testing"

	"deedkeep/app/titlecheck"
)

// A long chain is shortened, and never hides that no instrument joins two owners.
func TestShortenedChain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ owners, want, last string }{
		{"a", "a", "last grantee a"},
		{"a b c d e f", "a → b → c → d → e → f", "last grantee f"},
		{"a b c d e f g", "a → 2 more → d → e → f → g", "last grantee g"},
		{"a b |c d e f g", "a; 2 more → d → e → f → g", "last grantee g"},
		{"a b c |d e f g", "a → 2 more; d → e → f → g", "last grantee g"},
		{"a b c d e f |g", "a → 2 more → d → e → f; g", "last grantee g"},
	} {
		var chain []titlecheck.Owners
		for name := range strings.FieldsSeq(test.owners) {
			short, isApart := strings.CutPrefix(name, "|")
			chain = append(chain, titlecheck.Owners{Names: []string{short, "other"}, Grantees: []string{short}, Short: short, Apart: isApart})
		}
		list, last := chainOwners(chain)
		var b strings.Builder
		for _, o := range list {
			b.WriteString(o.Between + o.Text)
		}
		if b.String() != test.want || last != test.last {
			t.Errorf("%s: got %s (%s), want %s (%s)", test.owners, b.String(), last, test.want, test.last)
		}
	}
}
