package page

import (
	"context"

	"deedkeep/app/vault"
)

// Suggestions is the template data of the notice about suggested instruments
// (part_suggestions.html).
type Suggestions struct {
	Path    string // address of the abstract
	List    []vault.Suggestion
	Missing string // says that they can't be shown
}

// Suggestions returns the instruments that the names of the documents of an abstract describe.
func (p *Site) Suggestions(ctx context.Context, abstract uint64) Suggestions {
	s := Suggestions{Path: p.AbstractPath(abstract)}
	missing := p.Vault.Derive(ctx, vault.PartSuggestions, func() (err error) {
		s.List, err = p.Vault.Instruments.SuggestFromFilenames(ctx, abstract)
		return err
	})
	if missing {
		s.List, s.Missing = nil, MissingText("Suggestions")
	}
	return s
}

// MissingText says that a part of a page is missing; see txn.DB.Derive. what is a plural noun.
func MissingText(what string) string { return what + " can't be shown right now." }
