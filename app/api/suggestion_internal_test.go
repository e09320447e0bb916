package api

import (
	"encoding/json"
	"strings"
	"testing"

	"deedkeep/app/vault"
)

// Each instrument of a packet says how sure its first page is.
func TestBoundaryOfSuggestion(t *testing.T) {
	for want, g := range map[string]vault.Suggestion{
		`"pages":"3-7","boundary":{"confidence":91}`: {Row: 2, Pages: "3-7", Boundary: 91},
		`"pages":null,"boundary":null`:               {Row: 1},
	} {
		got, err := json.Marshal(suggestion(g))
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("suggestion is %s, %v, want %s", got, err, want)
		}
	}
}
