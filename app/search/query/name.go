package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Names that people write as one word or as several: Le Blanc and Leblanc, de la Houssaye
// and Delahoussaye. In Names, and in queries, any word of at most mostParticle letters may
// be the first half of one; in texts only those of particles.
const mostParticle = 3

// particles are first halves of names, wherever they stand.
var particles = setOf("o mc mac de la le les los du des del dela della di da dos van von vande vander vanden der den ter san santa st ste fitz")

// apart are short words that are no half of a name.
var apart = setOf(`a an and as at by for from in is of on or the to with et al aka fka nka dba jr sr ii iii iv mr mrs ms dr esq
 inc llc llp lp ltd co corp na rd ave ln ct hwy blvd cir apt n e s w ne nw se sw no nr num id apn pin tax map ref bk pg pgs db lib vol
 p pp f fol l lot blk sec doc pdf tif jpg not are was be his her its said`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// lastWord is the word before this one, where that one is of letters.
type lastWord struct {
	text       []byte
	start, end int
	position   uint32
	joined     bool // the one before it is the first half of it
}

// name gives the other spellings of a word of letters.
func (a *analyser) name(s string, t token) {
	first, last := &a.first, &a.last
	joined := len(last.text) > 0 && a.isHalf(last, t, s[last.end:t.start])
	if joined && last.joined {
		a.join(t, first.text, last.text, first)
	}
	if joined {
		a.join(t, nil, last.text, last)
	} else if len(last.text) > 0 && (isHyphened(s[last.end:t.start]) || isLinked(last.text, t.text, s[last.end:t.start])) {
		a.hyphened(t)
	}
	for _, spelling := range spellings[string(t.text)] {
		a.joined = append(a.joined[:0], spelling...)
		a.emit(token{text: a.joined, start: t.start, end: t.end, position: t.position, also: true})
	}
	a.first, a.last = a.last, a.first
	a.last.text = append(a.last.text[:0], t.text...)
	a.last.start, a.last.end, a.last.position, a.last.joined = t.start, t.end, t.position, joined
}

// hyphened gives two words as one, but for a spelling that the first one has had: gov-ernor.
func (a *analyser) hyphened(t token) {
	last := &a.last
	if len(last.text)+len(t.text) > mostWord {
		return
	}
	a.joined = append(append(a.joined[:0], last.text...), t.text...)
	if !slices.Contains(spellings[string(last.text)], string(a.joined)) {
		a.emit(token{text: a.joined, start: last.start, end: t.end, position: last.position, also: true})
	}
}

// join gives two or three words as one name, which begins where from does.
func (a *analyser) join(t token, first, second []byte, from *lastWord) {
	if len(first)+len(second)+len(t.text) <= mostWord {
		a.joined = append(append(append(a.joined[:0], first...), second...), t.text...)
		a.emit(token{text: a.joined, start: from.start, end: t.end, position: from.position, also: true, name: true})
	}
}

// isHalf says whether a word is the first half of a name that goes on with another.
func (a *analyser) isHalf(first *lastWord, t token, behind string) bool {
	if apart[string(t.text)] || !isSpaced(behind) && !(isLineEnd(behind) && particles[string(first.text)]) {
		return false
	}
	switch string(first.text) {
	case "d":
		return a.names && behind != ". "
	case "o", "mc", "mac":
		return behind != ". "
	}
	const least = 2 // letters of what follows
	if len(t.text) < least {
		return false
	}
	if particles[string(first.text)] {
		return true
	}
	return a.names && len(first.text) > 1 && len(first.text) <= mostParticle && !apart[string(first.text)]
}

// isSpaced says whether what stands between two words leaves them one name.
func isSpaced(behind string) bool {
	return behind == " " || behind == ". " || behind == "' " || behind == "’ " || behind == "-"
}

// isLineEnd says whether a line ends between two words, and nothing else does.
func isLineEnd(behind string) bool {
	const most = 8 // blanks
	return len(behind) <= most && strings.Count(behind, "\n") == 1 && strings.Trim(behind, " \t\r\n") == ""
}

// isLinked says whether two words of letters with a hyphen between them may be written
// as one: Winston-Salem, but not Smith-to-Jones.
func isLinked(first, second []byte, behind string) bool {
	const least = 2 // letters of each
	return (behind == "-" || behind == "‐" || behind == "‑") && len(first) >= least && len(second) >= least &&
		!isSmall(string(first)) && !isSmall(string(second))
}

// isHyphened says whether a word goes on in the next line.
func isHyphened(behind string) bool {
	return len(behind) > 1 && len(behind) <= 8 && behind[0] == '-' && strings.Trim(behind[1:], " \t\r\n") == "" && strings.Contains(behind, "\n")
}

// spelling is a name of which a clause is a part, or that sounds the same.
type spelling struct {
	word string
	open bool // it may go on
}

// sounding are the other spellings of Mac and Mc.
func sounding(word string) []string {
	const least = 3 // letters behind it: mace is no mce
	for _, way := range [][2]string{{"mac", "mc"}, {"mc", "mac"}} {
		if rest, is := strings.CutPrefix(word, way[0]); is && utf8.RuneCountInString(rest) > least {
			return []string{way[1] + rest}
		}
	}
	return nil
}

// spell tells the clauses of a text which names they are parts of.
func (p *parser) spell() {
	for g := range p.groups {
		for c := range p.groups[g].clauses {
			at := &p.groups[g].clauses[c]
			if at.quoted {
				continue
			}
			for i, t := range p.names {
				if t.start < at.end && at.start < t.end {
					last := t.end == p.tokens[len(p.tokens)-1].end
					at.spell(p.spelled[i], p.open && last && !p.blank())
				}
			}
			if len(at.parts) == 1 {
				for _, w := range sounding(at.parts[0]) {
					at.spellings = append(at.spellings, spelling{w, at.open})
				}
			}
		}
	}
}

// spell adds a name and what sounds like it.
func (c *clause) spell(word string, open bool) {
	for _, w := range append([]string{word}, sounding(word)...) {
		if s := (spelling{w, open}); !slices.Contains(c.spellings, s) {
			c.spellings = append(c.spellings, s)
		}
	}
}
