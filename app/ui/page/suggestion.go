package page

import (
	"context"

	"deedkeep/app/vault"
)

// Suggestions is the template data of the notice about suggested instruments
// (part_suggestions.html).
type Suggestions struct {
	Path string // address of the abstract
	List []vault.Suggestion
}

// Suggestions returns the instruments that the names of the documents of an abstract describe.
func (p *Site) Suggestions(ctx context.Context, abstract uint64) (Suggestions, error) {
	list, err := p.Vault.Instruments.SuggestFromFilenames(ctx, abstract)
	return Suggestions{p.AbstractPath(abstract), list}, err
}
