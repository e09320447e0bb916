package query

import (
	"slices"
	"strings"

	"deedkeep/app/search/index"
)

// splitInitials splits the tokens from..to, which are single letters, at blanks. It returns nil if
// there is only one part or if the tokens contain anything else, as in A 1 or T & S.
func (p *parser) splitInitials(from, to int, open bool) (clauses []clause) {
	if slices.ContainsFunc(p.words[from:to], func(w string) bool { return !isSingleLetter(w) }) {
		return nil
	}
	for at := from; at < to; {
		end := at + 1
		for end < to && !hasBlank(p.textAfter(end-1)) {
			end++
		}
		clauses = append(clauses, p.newClause(at, end, open && end == to))
		at = end
	}
	if len(clauses) < 2 || strings.Contains(p.textOf(from, to), "&") {
		return nil
	}
	return clauses
}

// initials returns the nodes for single letters in a query with other words. Each letter may appear
// anywhere, as in apt b n main. In later stages, the letter being typed is optional.
func (b *builder) initials(c clause) []index.Node {
	if b.stage == exact || len(c.initials) == 0 || b.numWords == len(c.parts) {
		return nil
	}
	last := c.initials[len(c.initials)-1]
	missing := last.open && len(last.parts) == 1
	b.wider = b.wider || b.stage == splitInitials || b.stage == relaxed && missing
	var must index.All
	for i, letters := range c.initials {
		if i < len(c.initials)-1 || !missing || b.stage == splitInitials {
			must = append(must, append(index.Any(phrases(letters.parts, weightField)), b.joinedWords(letters.joined, false)...))
		}
	}
	return []index.Node{allOf(must)}
}
