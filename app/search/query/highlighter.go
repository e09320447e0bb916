package query

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Piece is a part of a text. Marked reports whether it matches the query. Text is not HTML-escaped.
type Piece struct {
	Text   string
	Marked bool
}

// Weights of matches for choosing a snippet. One match outweighs many matches of the next lower
// weight.
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
	words         []string       // all distinct words, prefixes, and misspelled words to look for
	ids           map[string]int // index in words of each word to match completely
	prefixes      []int          // words to match as prefixes
	fuzzyWords    []int          // words to match with a typo
	fuzzyPrefixes []int          // prefixes to match with a typo
	numbers       []numberPattern
	targets       []target
	numClauses    int    // number of clauses added so far
	required      uint64 // clauses that must match (bit set)
	optional      uint64 // clauses that a record of the named county need not contain (bit set)
	stopWords     uint64 // clauses that are a single stop word (bit set)
	onlyTrivial   bool   // all words are single characters or optional
	fuzzy         bool
	singleWord    bool // the query has one word
	text          string
}

// target is a sequence of words to highlight.
type target struct {
	words         []int
	weight        int
	clauses       uint64 // clauses of the query that it matches (bit set)
	needsNeighbor bool   // a single character, highlighted only next to another match
	stopWord      bool   // highlighted only if nothing else matches
	fallback      bool   // highlighted only if nothing else of its clauses matches
	exactWord     int    // for a prefix: index plus one of the complete word; if that occurs, only it is highlighted; 0: none
}

// numberPattern matches a number regardless of its punctuation.
type numberPattern struct {
	compact string
	parts   []string // parts without leading zeros; if not nil, used instead of compact
	prefix  bool     // match any number that starts with it
	target  int      // index in Highlighter.targets
}

// NewHighlighter returns a Highlighter for the text of a query. It highlights the words, prefixes,
// phrases, and numbers by which Search finds documents. Every document that Search finds has at
// least one highlight. If Search rejects the text, nothing is highlighted.
func NewHighlighter(text string) *Highlighter { return newHighlighter(text, false) }

// Fuzzy returns a Highlighter that also matches words with one typo. Use it if Result.Fuzzy
// is set.
func (h *Highlighter) Fuzzy() *Highlighter { return newHighlighter(h.text, true) }

func newHighlighter(text string, fuzzy bool) *Highlighter {
	h := &Highlighter{ids: make(map[string]int), fuzzy: fuzzy, text: text}
	parsed, err := parse(text, MaxQueryBytes)
	if err != nil {
		return h
	}
	h.singleWord, h.onlyTrivial = parsed.numWords == 1, true
	var all []string
	open := false
	for i, g := range parsed.groups {
		first := h.numClauses
		for _, c := range g.clauses {
			h.addClause(c)
			all = append(all, c.parts...)
			open = c.open
		}
		if label, _ := labelBefore(parsed.groups[i:]); !label {
			h.required |= h.clauseBits(first)
		}
		h.addJoined(g.joined, open, h.clauseBits(first))
		h.addNumber(g.number, open, h.clauseBits(first))
	}
	h.addDates(parsed.findDates())
	h.required &^= h.optional
	if len(parsed.groups) > 1 || len(parsed.groups[0].clauses) > 1 {
		h.addPhrase(all, open, h.clauseBits(0))
		h.addNumber(parsed.number, open, h.clauseBits(0))
	}
	return h
}

// clauseBits returns the set of all clauses starting with clause number first.
func (h *Highlighter) clauseBits(first int) (clauses uint64) {
	for i := first; i < h.numClauses; i++ {
		clauses |= 1 << min(i, maxClauses-1)
	}
	return clauses
}

// maxClauses is the number of bits in a set of clauses. The last bit stands for all clauses from
// that number on.
const maxClauses = 64

// addClause adds the targets of a clause.
func (h *Highlighter) addClause(c clause) {
	h.numClauses++
	clauses := h.clauseBits(h.numClauses - 1)
	if len(c.place.counties) > 0 {
		h.optional |= clauses
	}
	if len(c.parts) == 1 && isStopWord(c.parts[0]) {
		h.stopWords |= clauses
	}
	h.addNumber(c.number, c.open, clauses)
	h.addJoined(c.joined, c.open, clauses)
	for _, s := range c.variants {
		h.addJoined([]string{s.word}, s.open, clauses)
	}
	for _, state := range c.place.states {
		h.add(target{words: []int{h.wordID(state)}, weight: markWeightWord, clauses: clauses, fallback: true})
	}
	for _, parts := range [][]string{c.parts, c.alternative()} {
		h.addTogether(c, parts, clauses)
	}
	if len(c.parts) > 1 {
		h.onlyTrivial = h.onlyTrivial && len(c.initials) > 0
		h.addUnfinishedPhrase(c, clauses)
		if c.quoted || !h.fuzzy && len(c.initials) == 0 {
			return
		}
	}
	for i, w := range c.parts {
		h.addPart(c, w, c.open && i == len(c.parts)-1, clauses)
	}
}

// addTogether adds consecutive words, both as typed and without leading zeros.
func (h *Highlighter) addTogether(c clause, parts []string, clauses uint64) {
	for _, p := range [][]string{parts, c.trimmedZeros(parts)} {
		switch len(p) {
		case 0:
		case 1:
			h.add(target{
				words: []int{h.wordID(p[0])}, weight: markWeightWord, clauses: clauses,
				needsNeighbor: isSingle(c.parts[0]), stopWord: isStopWord(p[0]),
			})
		default:
			h.addPhrase(p, c.open, clauses)
		}
	}
}

// addUnfinishedPhrase adds the parts by which Search finds an open phrase that does not match
// completely: the words before the last one, and words that start with the last one.
func (h *Highlighter) addUnfinishedPhrase(c clause, clauses uint64) {
	last := len(c.parts) - 1
	if !c.open || c.isNumber() || areSingle(c.parts[:last]) {
		return
	}
	h.add(target{words: h.wordIDs(c.parts[:last]), weight: markWeightPrefix, clauses: clauses, fallback: true})
	h.add(target{
		words: []int{h.prefixID(c.parts[last])}, weight: markWeightPrefix, clauses: clauses,
		fallback: true, needsNeighbor: isSingle(c.parts[last]),
	})
}

// addPart adds one word of a clause.
func (h *Highlighter) addPart(c clause, w string, open bool, clauses uint64) {
	needsNeighbor := isSingle(w)
	optional := model.IsNumberLabel(w) || model.ClassifyWord(w) != model.NotReferenceWord || len(c.place.counties) > 0
	h.onlyTrivial = h.onlyTrivial && (needsNeighbor || optional)
	if len(c.parts) > 1 {
		h.add(target{words: []int{h.wordID(w)}, weight: markWeightWord, clauses: clauses, needsNeighbor: needsNeighbor, stopWord: isStopWord(w)})
	}
	if open {
		h.add(target{
			words: []int{h.prefixID(w)}, weight: markWeightPrefix, clauses: clauses,
			exactWord: h.wordID(w) + 1, needsNeighbor: needsNeighbor,
		})
		if at := longestIndexedPrefix(w); at < len(w) {
			h.add(target{words: []int{h.prefixID(w[:at])}, weight: markWeightFuzzyPrefix, clauses: clauses, fallback: true})
		}
	}
	if !h.fuzzy || c.quoted || !mayBeMisspelled(w, h.singleWord) {
		return
	}
	h.add(target{words: []int{h.uniqueID(&h.fuzzyWords, w)}, weight: markWeightFuzzy, clauses: clauses})
	if open {
		h.add(target{words: []int{h.uniqueID(&h.fuzzyPrefixes, w)}, weight: markWeightFuzzyPrefix, clauses: clauses, fallback: true})
	}
}

// longestIndexedPrefix returns the length in bytes of the longest prefix of w that the index
// contains.
func longestIndexedPrefix(w string) int {
	if s, all := indexedPrefix(w); s != "" && !all {
		return len(s)
	}
	return len(w)
}

// addJoined adds words that are joined from several typed words.
func (h *Highlighter) addJoined(words []string, open bool, clauses uint64) {
	for _, w := range words {
		h.add(target{words: []int{h.wordID(w)}, weight: markWeightPhrase, clauses: clauses})
		if open {
			h.add(target{words: []int{h.prefixID(w)}, weight: markWeightPrefix, clauses: clauses})
		}
	}
}

// addPhrase adds a phrase. If open is set, its last word may also be a prefix.
func (h *Highlighter) addPhrase(parts []string, open bool, clauses uint64) {
	words := h.wordIDs(parts)
	h.add(target{words: words, weight: markWeightPhrase, clauses: clauses})
	if open {
		prefixed := slices.Clone(words)
		prefixed[len(prefixed)-1] = h.prefixID(parts[len(parts)-1])
		h.add(target{words: prefixed, weight: markWeightPhrase, clauses: clauses, exactWord: words[len(words)-1] + 1})
	}
}

// addNumber adds the spellings of a number. A number without digits or with very few characters is
// a fallback because it is usually found as words.
func (h *Highlighter) addNumber(c numberForms, open bool, clauses uint64) {
	const minLen = 3 // minimum characters of a number that is not a fallback
	if len(c.compact) < 2 || len(c.compact) > maxRunBytes || isStopWord(c.typed) {
		return
	}
	digits := strings.ContainsAny(c.compact, "0123456789")
	fallback := len(c.compact) < minLen || !digits
	add := func(n numberPattern, fallback bool) {
		n.target = len(h.targets)
		h.numbers = append(h.numbers, n)
		h.add(target{weight: markWeightNumber, clauses: clauses, fallback: fallback})
	}
	add(numberPattern{compact: c.compact, prefix: open}, fallback)
	if parts := strings.Split(c.trimmed, "-"); digits && len(parts) > 1 {
		add(numberPattern{parts: parts}, fallback)
	}
	if at := longestIndexedPrefix(c.compact); open && at < len(c.compact) {
		if bits.OnesCount64(clauses) > 1 { // the prefix may end before the last words
			clauses = 0
		}
		add(numberPattern{compact: c.compact[:at], prefix: true}, true)
	}
}

func (h *Highlighter) add(t target) {
	if t.stopWord || t.needsNeighbor {
		t.weight = markWeightTrivial
	}
	h.targets = append(h.targets, t)
}

// isStopWord reports whether a word means little on its own.
func isStopWord(w string) bool {
	switch w {
	case "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with":
		return true
	}
	return false
}

// wordID returns the index in h.words of a word to match completely, and adds it if necessary.
func (h *Highlighter) wordID(w string) int {
	id, known := h.ids[w]
	if !known {
		id = len(h.words)
		h.ids[w] = id
		h.words = append(h.words, w)
	}
	return id
}

// wordIDs returns the indexes in h.words of words to match completely.
func (h *Highlighter) wordIDs(parts []string) []int {
	words := make([]int, len(parts))
	for i, w := range parts {
		words[i] = h.wordID(w)
	}
	return words
}

// uniqueID returns the index of w in h.words. It adds the index to list unless list already has it.
func (h *Highlighter) uniqueID(list *[]int, w string) int {
	for _, id := range *list {
		if h.words[id] == w {
			return id
		}
	}
	*list = append(*list, len(h.words))
	h.words = append(h.words, w)
	return len(h.words) - 1
}

// prefixID returns the index in h.words of a prefix to match.
func (h *Highlighter) prefixID(w string) int { return h.uniqueID(&h.prefixes, w) }

// hasFuzzyPrefix reports whether a prefix of a folded word differs from other by one typo.
// If other has three letters, the error must be a missing letter.
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

// isOneEditApart reports whether two folded words differ by exactly one typo.
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
