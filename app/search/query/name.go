package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxParticleLetters is the maximum number of letters in a word of Names or of a query that may be
// the first part of a name. A name may be written as one word or as several: Le Blanc and Leblanc,
// de la Houssaye and Delahoussaye. In texts, only particles may be the first part of a name.
const maxParticleLetters = 3

// particles are the words that may be the first part of a name in any text.
var particles = setOf(`o mc mac de la le les los du des del dela della di da dos
 van von vande vander vanden der den ter san santa st ste fitz`)

// nonParticles are short words that are never part of a name.
var nonParticles = setOf(`a an and as at by for from in is of on or the to with et al aka fka nka dba jr sr ii iii iv mr mrs ms dr esq
 inc llc llp lp ltd co corp na rd ave ln ct hwy blvd cir apt n e s w ne nw se sw no nr num id apn pin tax map ref bk pg pgs db lib vol
 p pp f fol l lot blk sec doc pdf tif jpg not are was be his her its said`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// prevWord is a preceding word of letters. If there is none, text is empty.
type prevWord struct {
	text       []byte
	start, end int
	position   uint32
	joined     bool // the word before it and this word form one name
}

// emitVariants emits the alternative spellings of a word of letters.
func (a *analyzer) emitVariants(s string, t token) {
	first, last := &a.beforePrev, &a.prev
	joined := len(last.text) > 0 && a.startsName(last, t, s[last.end:t.start])
	if joined && last.joined {
		a.emitJoinedName(t, first.text, last.text, first)
	}
	if joined {
		a.emitJoinedName(t, nil, last.text, last)
	} else if len(last.text) > 0 && (isHyphenatedLineEnd(s[last.end:t.start]) || isCompound(last.text, t.text, s[last.end:t.start])) {
		a.emitHyphenated(t)
	}
	for _, spelling := range abbreviations[string(t.text)] {
		a.joined = append(a.joined[:0], spelling...)
		a.emit(token{text: a.joined, start: t.start, end: t.end, position: t.position, variant: true})
	}
	a.beforePrev, a.prev = a.prev, a.beforePrev
	a.prev.text = append(a.prev.text[:0], t.text...)
	a.prev.start, a.prev.end, a.prev.position, a.prev.joined = t.start, t.end, t.position, joined
}

// emitHyphenated emits a hyphenated word without its hyphen. It omits abbreviations that have
// already been emitted, such as gov-ernor.
func (a *analyzer) emitHyphenated(t token) {
	last := &a.prev
	if len(last.text)+len(t.text) > maxWordBytes {
		return
	}
	a.joined = append(append(a.joined[:0], last.text...), t.text...)
	if !slices.Contains(abbreviations[string(last.text)], string(a.joined)) {
		a.emit(token{text: a.joined, start: last.start, end: t.end, position: last.position, variant: true})
	}
}

// emitJoinedName emits two or three words, joined into one name. from is the first of them.
func (a *analyzer) emitJoinedName(t token, first, second []byte, from *prevWord) {
	if len(first)+len(second)+len(t.text) <= maxWordBytes {
		a.joined = append(append(append(a.joined[:0], first...), second...), t.text...)
		a.emit(token{text: a.joined, start: from.start, end: t.end, position: from.position, variant: true, nameVariant: true})
	}
}

// startsName reports whether first is the first part of a name that continues with t. between is
// the text between them.
func (a *analyzer) startsName(first *prevWord, t token, between string) bool {
	if nonParticles[string(t.text)] || !isSpaced(between) && !(isLineEnd(between) && particles[string(first.text)]) {
		return false
	}
	switch string(first.text) {
	case "d":
		return a.joinNames && between != ". "
	case "o", "mc", "mac":
		return between != ". "
	}
	const minLetters = 2 // minimum number of letters in the following word
	if len(t.text) < minLetters {
		return false
	}
	if particles[string(first.text)] {
		return true
	}
	return a.joinNames && len(first.text) > 1 && len(first.text) <= maxParticleLetters && !nonParticles[string(first.text)]
}

// isSpaced reports whether two words separated by this text on one line can be one name.
func isSpaced(between string) bool {
	return between == " " || between == ". " || between == "' " || between == "’ " || between == "-"
}

// isLineEnd reports whether the text between two words is only a line break and blanks.
func isLineEnd(between string) bool {
	const maxBlanks = 8 // including the line break
	return len(between) <= maxBlanks && strings.Count(between, "\n") == 1 && strings.Trim(between, " \t\r\n") == ""
}

// isCompound reports whether two hyphenated words may also be written as one word, as in
// Winston-Salem but not in Smith-to-Jones.
func isCompound(first, second []byte, between string) bool {
	const minLetters = 2 // minimum number of letters in each word
	return (between == "-" || between == "‐" || between == "‑") && len(first) >= minLetters && len(second) >= minLetters &&
		!isStopWord(string(first)) && !isStopWord(string(second))
}

// isHyphenatedLineEnd reports whether the text between two words is a hyphen at the end of a line.
func isHyphenatedLineEnd(between string) bool {
	return len(between) > 1 && len(between) <= 8 && between[0] == '-' &&
		strings.Trim(between[1:], " \t\r\n") == "" && strings.Contains(between, "\n")
}

// nameVariant is a joined name that contains a clause, or a word that sounds like the clause or
// that name.
type nameVariant struct {
	word string
	open bool // word is a prefix
}

// soundAlikes returns the spelling with Mc for a word that starts with Mac, and vice versa.
func soundAlikes(word string) []string {
	const minLetters = 3 // more letters than this must follow: mace is not mce
	for _, pair := range [][2]string{{"mac", "mc"}, {"mc", "mac"}} {
		if rest, ok := strings.CutPrefix(word, pair[0]); ok && utf8.RuneCountInString(rest) > minLetters {
			return []string{pair[1] + rest}
		}
	}
	return nil
}

// addNameVariants adds each joined name as a variant to the clauses that are part of it.
func (p *parser) addNameVariants() {
	for g := range p.groups {
		for c := range p.groups[g].clauses {
			at := &p.groups[g].clauses[c]
			if at.quoted {
				continue
			}
			for i, t := range p.names {
				if t.start < at.end && at.start < t.end {
					last := t.end == p.tokens[len(p.tokens)-1].end
					at.addVariant(p.nameWords[i], p.open && last && !p.endsWithBlank())
				}
			}
			if len(at.parts) == 1 {
				for _, w := range soundAlikes(at.parts[0]) {
					at.variants = append(at.variants, nameVariant{w, at.open})
				}
			}
		}
	}
}

// addVariant adds a name, and the words that sound like it, to the clause.
func (c *clause) addVariant(word string, open bool) {
	for _, w := range append([]string{word}, soundAlikes(word)...) {
		if s := (nameVariant{w, open}); !slices.Contains(c.variants, s) {
			c.variants = append(c.variants, s)
		}
	}
}
