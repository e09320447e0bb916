package query

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Piece is a part of a text. Marked means that it matches the query. Text is not escaped.
type Piece struct {
	Text   string
	Marked bool
}

// Weights of a match for choosing a snippet. One match outweighs many of the next lower kind.
const (
	markWeightNumber      = 400
	markWeightPhrase      = 300
	markWeightWord        = 100
	markWeightPrefix      = 80
	markWeightFuzzy       = 60
	markWeightFuzzyPrefix = 40
	markWeightTrivial     = 1 // a single character or a stop word
)

// Highlighter highlights the matches of a query in texts. It is safe for concurrent use.
type Highlighter struct {
	words         []string       // words to look for, followed by those of prefixes and the fuzzy lists
	ids           map[string]int // word → index in words
	prefixes      []int          // words to match as prefixes
	fuzzyWords    []int          // words to match with a typing error
	fuzzyPrefixes []int          // words to match as prefixes with a typing error
	numbers       []numberPattern
	targets       []target
	numClauses    int    // added so far
	required      uint64 // clauses that must match, one bit each
	optional      uint64 // clauses that may be missing from records of a county, one bit each
	onlyTrivial   bool   // all words are single characters or optional
	fuzzy         bool
	singleWord    bool // the query has one word
	text          string
}

// target is a sequence of words, as indexes in Highlighter.words.
type target struct {
	words         []int
	weight        int
	clauses       uint64 // clauses that it matches, one bit each
	needsNeighbor bool   // a single character: highlighted only next to another match
	stopWord      bool   // highlighted only if nothing else matches
	fallback      bool   // highlighted only if nothing else of its clauses matches
	exactWord     int    // for a prefix: index plus one of the complete word, which is highlighted instead if it occurs; or 0
}

// numberPattern matches a number with any punctuation.
type numberPattern struct {
	compact string
	parts   []string // parts without leading zeros; used instead of compact
	prefix  bool     // matches numbers that start with it
	target  int      // index of its target
}

// NewHighlighter returns a Highlighter for the text of a query. It highlights the words, prefixes,
// phrases, and numbers by which Search finds documents, at least one in each document found. It
// highlights nothing if Search rejects the text.
func NewHighlighter(text string) *Highlighter { return newHighlighter(text, false) }

// Fuzzy returns a Highlighter that also matches words with one typing error, for a Result that is
// Fuzzy.
func (m *Highlighter) Fuzzy() *Highlighter { return newHighlighter(m.text, true) }

func newHighlighter(text string, tolerant bool) *Highlighter {
	m := &Highlighter{ids: make(map[string]int), fuzzy: tolerant, text: text}
	a, err := parse(text, MaxQueryBytes)
	if err != nil {
		return m
	}
	m.singleWord, m.onlyTrivial = a.numWords == 1, true
	var all []string
	open := false
	for i, g := range a.groups {
		first := m.numClauses
		for _, c := range g.clauses {
			m.addClause(c)
			all = append(all, c.parts...)
			open = c.open
		}
		if label, _ := labelBefore(a.groups[i:]); !label {
			m.required |= m.clauseBits(first)
		}
		m.addJoined(g.joined, open, m.clauseBits(first))
		m.addNumber(g.number, open, m.clauseBits(first))
	}
	m.addDates(a.findDates())
	m.required &^= m.optional
	if len(a.groups) > 1 || len(a.groups[0].clauses) > 1 {
		m.addPhrase(all, open, m.clauseBits(0))
		m.addNumber(a.number, open, m.clauseBits(0))
	}
	return m
}

// clauseBits returns the bits of all clauses from first on.
func (m *Highlighter) clauseBits(first int) (clauses uint64) {
	for i := first; i < m.numClauses; i++ {
		clauses |= 1 << min(i, maxClauses-1)
	}
	return clauses
}

// maxClauses is the number of distinguished clauses. The last bit stands for all further ones.
const maxClauses = 64

// addClause adds the targets of a clause.
func (m *Highlighter) addClause(c clause) {
	m.numClauses++
	clauses := m.clauseBits(m.numClauses - 1)
	if len(c.place.counties) > 0 {
		m.optional |= clauses
	}
	m.addNumber(c.number, c.open, clauses)
	m.addJoined(c.joined, c.open, clauses)
	for _, s := range c.variants {
		m.addJoined([]string{s.word}, s.open, clauses)
	}
	for _, state := range c.place.states {
		m.add(target{words: []int{m.wordID(state)}, weight: markWeightWord, clauses: clauses, fallback: true})
	}
	for _, parts := range [][]string{c.parts, c.alternative()} {
		m.addTogether(c, parts, clauses)
	}
	if len(c.parts) > 1 {
		m.onlyTrivial = m.onlyTrivial && len(c.initials) > 0
		m.addUnfinishedPhrase(c, clauses)
		if c.quoted || !m.fuzzy && len(c.initials) == 0 {
			return
		}
	}
	for i, w := range c.parts {
		m.addPart(c, w, c.open && i == len(c.parts)-1, clauses)
	}
}

// addTogether adds a sequence of words, also without leading zeros.
func (m *Highlighter) addTogether(c clause, parts []string, clauses uint64) {
	for _, p := range [][]string{parts, c.trimmedZeros(parts)} {
		switch len(p) {
		case 0:
		case 1:
			m.add(target{
				words: []int{m.wordID(p[0])}, weight: markWeightWord, clauses: clauses,
				needsNeighbor: isSingle(c.parts[0]), stopWord: isStopWord(p[0]),
			})
		default:
			m.addPhrase(p, c.open, clauses)
		}
	}
}

// addUnfinishedPhrase adds the parts by which an open phrase is found if it does not match
// completely: the words before the last one, and words that start with the last one.
func (m *Highlighter) addUnfinishedPhrase(c clause, clauses uint64) {
	last := len(c.parts) - 1
	if !c.open || c.isNumber() || areSingle(c.parts[:last]) {
		return
	}
	m.add(target{words: m.wordIDs(c.parts[:last]), weight: markWeightPrefix, clauses: clauses, fallback: true})
	m.add(target{
		words: []int{m.prefixID(c.parts[last])}, weight: markWeightPrefix, clauses: clauses,
		fallback: true, needsNeighbor: isSingle(c.parts[last]),
	})
}

// addPart adds one word of a clause.
func (m *Highlighter) addPart(c clause, w string, open bool, clauses uint64) {
	needsNeighbor := isSingle(w)
	optional := model.IsNumberLabel(w) || model.ClassifyWord(w) != model.NotReferenceWord || len(c.place.counties) > 0
	m.onlyTrivial = m.onlyTrivial && (needsNeighbor || optional)
	if len(c.parts) > 1 {
		m.add(target{words: []int{m.wordID(w)}, weight: markWeightWord, clauses: clauses, needsNeighbor: needsNeighbor, stopWord: isStopWord(w)})
	}
	if open {
		m.add(target{
			words: []int{m.prefixID(w)}, weight: markWeightPrefix, clauses: clauses,
			exactWord: m.wordID(w) + 1, needsNeighbor: needsNeighbor,
		})
		if at := longestIndexedPrefix(w); at < len(w) {
			m.add(target{words: []int{m.prefixID(w[:at])}, weight: markWeightFuzzyPrefix, clauses: clauses, fallback: true})
		}
	}
	if !m.fuzzy || c.quoted || !mayBeMisspelled(w, m.singleWord) {
		return
	}
	m.add(target{words: []int{m.uniqueID(&m.fuzzyWords, w)}, weight: markWeightFuzzy, clauses: clauses})
	if open {
		m.add(target{words: []int{m.uniqueID(&m.fuzzyPrefixes, w)}, weight: markWeightFuzzyPrefix, clauses: clauses, fallback: true})
	}
}

// longestIndexedPrefix returns the length of the longest prefix of w that is in the index.
func longestIndexedPrefix(w string) int {
	if s, all := indexedPrefix(w); s != "" && !all {
		return len(s)
	}
	return len(w)
}

// addJoined adds words that may stand for several words.
func (m *Highlighter) addJoined(words []string, open bool, clauses uint64) {
	for _, w := range words {
		m.add(target{words: []int{m.wordID(w)}, weight: markWeightPhrase, clauses: clauses})
		if open {
			m.add(target{words: []int{m.prefixID(w)}, weight: markWeightPrefix, clauses: clauses})
		}
	}
}

// addPhrase adds a sequence of words.
func (m *Highlighter) addPhrase(parts []string, open bool, clauses uint64) {
	words := m.wordIDs(parts)
	m.add(target{words: words, weight: markWeightPhrase, clauses: clauses})
	if open {
		prefixed := slices.Clone(words)
		prefixed[len(prefixed)-1] = m.prefixID(parts[len(parts)-1])
		m.add(target{words: prefixed, weight: markWeightPhrase, clauses: clauses, exactWord: words[len(words)-1] + 1})
	}
}

// addNumber adds the spellings of a number. If it has no digits or very few characters, it is a
// fallback, because it is usually found as words.
func (m *Highlighter) addNumber(c numberForms, open bool, clauses uint64) {
	const minLen = 3 // characters
	if len(c.compact) < 2 || len(c.compact) > maxRunBytes || isStopWord(c.typed) {
		return
	}
	digits := strings.ContainsAny(c.compact, "0123456789")
	fallback := len(c.compact) < minLen || !digits
	add := func(n numberPattern, fallback bool) {
		n.target = len(m.targets)
		m.numbers = append(m.numbers, n)
		m.add(target{weight: markWeightNumber, clauses: clauses, fallback: fallback})
	}
	add(numberPattern{compact: c.compact, prefix: open}, fallback)
	if parts := strings.Split(c.trimmed, "-"); digits && len(parts) > 1 {
		add(numberPattern{parts: parts}, fallback)
	}
	if at := longestIndexedPrefix(c.compact); open && at < len(c.compact) {
		if bits.OnesCount64(clauses) > 1 { // the number need not extend to the last word
			clauses = 0
		}
		add(numberPattern{compact: c.compact[:at], prefix: true}, true)
	}
}

func (m *Highlighter) add(t target) {
	if t.stopWord || t.needsNeighbor {
		t.weight = markWeightTrivial
	}
	m.targets = append(m.targets, t)
}

// isStopWord reports whether a word means little without others.
func isStopWord(w string) bool {
	switch w {
	case "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with":
		return true
	}
	return false
}

// wordID returns the index of a word to look for.
func (m *Highlighter) wordID(w string) int {
	id, known := m.ids[w]
	if !known {
		id = len(m.words)
		m.ids[w] = id
		m.words = append(m.words, w)
	}
	return id
}

// wordIDs returns the indexes of words to look for.
func (m *Highlighter) wordIDs(parts []string) []int {
	words := make([]int, len(parts))
	for i, w := range parts {
		words[i] = m.wordID(w)
	}
	return words
}

// uniqueID returns the index of w in words and adds it to list, without duplicates in list.
func (m *Highlighter) uniqueID(list *[]int, w string) int {
	for _, id := range *list {
		if m.words[id] == w {
			return id
		}
	}
	*list = append(*list, len(m.words))
	m.words = append(m.words, w)
	return len(m.words) - 1
}

// prefixID returns the index of a prefix to look for.
func (m *Highlighter) prefixID(w string) int { return m.uniqueID(&m.prefixes, w) }

// hasFuzzyPrefix reports whether a folded word starts with something one typing error away from
// other. If other has three letters, only a missing letter counts.
func hasFuzzyPrefix(word, other string) bool {
	characters := utf8.RuneCountInString(other)
	n, minLen := 0, characters-1
	if characters < minFuzzyLetters {
		minLen = characters + 1
	}
	for i := range word {
		if n >= minLen && isOneEditApart(word[:i], other) {
			return true
		}
		if n++; n > characters+1 {
			return false
		}
	}
	return n >= minLen && isOneEditApart(word, other)
}

// isOneEditApart reports whether two folded words differ by exactly one typing error.
func isOneEditApart(s, t string) bool {
	if len(s) > len(t) {
		s, t = t, s
	}
	if len(t)-len(s) > utf8.UTFMax || s == t {
		return false
	}
	for s != "" {
		a, m := utf8.DecodeRuneInString(s)
		b, n := utf8.DecodeRuneInString(t)
		if a != b {
			break
		}
		s, t = s[m:], t[n:]
	}
	for s != "" {
		a, m := utf8.DecodeLastRuneInString(s)
		b, n := utf8.DecodeLastRuneInString(t)
		if a != b {
			break
		}
		s, t = s[:len(s)-m], t[:len(t)-n]
	}
	p, q := []rune(s), []rune(t)
	return len(p) <= 1 && len(q) <= 1 || len(p) == 2 && len(q) == 2 && p[0] == q[1] && p[1] == q[0]
}
