package query

import (
	"slices"
	"strings"

	"deedkeep/app/search/index"
)

// apart are the letters of tokens from to to, parted where blanks are; nil where there
// are none, and where something else is among them: A 1, T & S.
func (p *parser) apart(from, to int, open bool) (parted []clause) {
	if slices.ContainsFunc(p.words[from:to], func(w string) bool { return !isLetter(w) }) {
		return nil
	}
	for at := from; at < to; {
		end := at + 1
		for end < to && !hasBlank(p.behind(end-1)) {
			end++
		}
		parted = append(parted, p.clause(at, end, open && end == to))
		at = end
	}
	if len(parted) < 2 || strings.Contains(p.between(from, to), "&") {
		return nil
	}
	return parted
}

// parted is single letters beside other words, each of them anywhere: apt b n main. That
// which is being typed may be missing, behind all that have it.
func (b *builder) parted(c clause) []index.Node {
	if b.stage == strict || len(c.apart) == 0 || b.words == len(c.parts) {
		return nil
	}
	last := c.apart[len(c.apart)-1]
	missing := last.open && len(last.parts) == 1
	b.wider = b.wider || b.stage == parted || b.stage == loose && missing
	var must index.All
	for i, letters := range c.apart {
		if i < len(c.apart)-1 || !missing || b.stage == parted {
			must = append(must, append(index.Any(phrases(letters.parts, worthField)), b.oneWord(letters.joined, false)...))
		}
	}
	return []index.Node{all(must)}
}
