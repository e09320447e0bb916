package extract

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/model"
)

// maxNameWords is the maximum number of words in the name of a party.
const maxNameWords = 14

var (
	blankLine  = regexp.MustCompile(`\n\s*\n`)
	spouse     = regexp.MustCompile(`(?i)(?:\band|&)\s+((?:(?:his|her|their)\s+)?(?:wife|husband|spouse)\b\s*,?)`)
	conjoined  = regexp.MustCompile(`(?i)\s+(?:and|&)\s+`)
	leadingAnd = regexp.MustCompile(`(?i)^\s*(?:and|&)\s+`)
)

// span is a range of a text.
type span struct{ from, to int }

// nameReader reads the names of parties from a part of the text.
type nameReader struct {
	r    *reader
	at   int    // where masked starts in the text
	text string // text of the part; whatever isn't part of a name is replaced by spaces and separators
}

// names returns the names of the parties in a part of the text. There are none unless all of them
// look like names.
func (r *reader) names(from, to int) (list []string, ok bool) {
	if actsFor.MatchString(r.source.text[from:to]) {
		to += len(trustOrEstate.FindString(r.source.text[to:]))
	}
	n := nameReader{r: r, at: from, text: r.mask(from, to)}
	for _, atom := range n.atoms() {
		parts := n.split(atom)
		for at, part := range parts {
			name := n.name(part)
			if name == "" {
				continue
			}
			if at+1 < len(parts) && r.isFirstName(name) { // "John and Mary Smith"
				words := strings.Fields(n.name(parts[at+1]))
				if len(words) < 2 {
					return nil, true
				}
				name += " " + words[len(words)-1]
			}
			if !r.isParty(name) || dangling.MatchString(name) {
				return nil, true
			}
			if r.isDoubtful(name) && r.other[name] == "" {
				return nil, false
			}
			list = append(list, name)
		}
	}
	if len(list) > model.MaxListItems {
		return nil, true
	}
	return list, true
}

var (
	// actsFor matches the capacity at the end of a name, and trustOrEstate what follows it: "of the Smith Family Trust".
	actsFor       = regexp.MustCompile(`(?i)\b(?:trustees?|executors?|executrix|administrators?|administratrix|representatives?)$`)
	trustOrEstate = regexp.MustCompile(`^,?\s+(?i:of\s+the)\s+(?:[A-Z][\w.'-]*\s+){1,5}(?i:trust)\b|` +
		`^,?\s+(?i:of\s+the\s+estate\s+of)\s+(?:[A-Z][\w'-]*\.?(?:\s+|\b)){2,4}`)
)

// mask returns a part of the text with the descriptions of the parties replaced by semicolons. It ends
// where the names end.
func (r *reader) mask(from, to int) string {
	masked := []byte(r.source.text[from:to])
	blank := func(from, to int, with string) {
		for at := from; at < to; at++ {
			masked[at] = ' '
		}
		copy(masked[from:to], with)
	}
	start := len(masked) - len(strings.TrimLeft(string(masked), " \n,:;"))
	for r.source.atLineStart(from + start) { // titles above the name
		end := bytes.IndexByte(masked[start:], '\n')
		if end < 0 || !r.isHeading(strings.TrimSpace(string(masked[start:start+end]))) {
			break
		}
		blank(start, start+end+1, "")
		start += end + 1
	}
	if at := blankLine.FindIndex(masked[start:]); at != nil {
		masked = masked[:start+at[0]]
	}
	for _, at := range r.rules.description.FindAllIndex(masked, -1) {
		blank(at[0], at[1], ";")
	}
	for _, at := range spouse.FindAllSubmatchIndex(masked, -1) {
		blank(at[2], at[3], "")
	}
	if at := r.rules.nameEnd.FindIndex(masked[start:]); at != nil {
		masked = masked[:start+at[0]]
	}
	for at, c := range masked {
		if c == '\n' {
			masked[at] = r.lineBreak(from+at, strings.TrimSpace(string(masked[:at])))
		}
	}
	return string(masked)
}

// narrowLine is the length up to which a line break separates names. A longer line is body text.
const narrowLine = 46

// lineBreak returns what a line feed means: a separator after a short line, otherwise a space.
func (r *reader) lineBreak(at int, before string) byte {
	start := strings.LastIndexByte(r.source.text[:at], '\n') + 1
	next := strings.ToLower(strings.TrimLeft(r.source.text[at:min(at+6, len(r.source.text))], " \n"))
	last := before[strings.LastIndexAny(before, " \n;")+1:]
	if at-start > narrowLine || strings.HasSuffix(before, ",") || strings.HasSuffix(strings.ToLower(before), " and") ||
		strings.HasPrefix(next, "and ") || unicode.IsLower(firstRune(last)) {
		return ' '
	}
	return ';'
}

// atoms returns the parts between commas and semicolons. A suffix after a comma, such as "Jr."
// or "LLC", belongs to the name before it.
func (n nameReader) atoms() (list []span) {
	start := 0
	for at := 0; at <= len(n.text); at++ {
		if at < len(n.text) && n.text[at] != ',' && n.text[at] != ';' {
			continue
		}
		if at < len(n.text) && n.text[at] == ',' && (n.isInitial(start, at) || n.isIndexName(start, at)) {
			continue
		}
		s := span{start, at}
		joined := start > 0 && n.text[start-1] == ',' && len(list) > 0 && list[len(list)-1].to == start-1 &&
			n.r.rules.suffixes.MatchString(n.text[s.from:s.to])
		switch {
		case joined:
			list[len(list)-1].to = at
		case strings.TrimSpace(n.text[s.from:s.to]) != "":
			list = append(list, s)
		}
		start = at + 1
	}
	return list
}

// isInitial reports whether a comma is a period after an initial that was misread.
func (n nameReader) isInitial(start, comma int) bool {
	words := strings.Fields(n.text[start:comma])
	return len(words) > 1 && len(words[len(words)-1]) == 1 && unicode.IsUpper(rune(words[len(words)-1][0]))
}

// isIndexName reports whether a comma is in a name such as "Smith, John A."
func (n nameReader) isIndexName(start, comma int) bool {
	before, rest := strings.Fields(n.text[start:comma]), n.text[comma+1:]
	if end := strings.IndexAny(rest, ",;"); end >= 0 {
		rest = rest[:end]
	}
	after := strings.Fields(rest)
	const maxGivenNames = 3
	return len(before) == 1 && len(after) > 0 && len(after) <= maxGivenNames && n.r.rules.givenNames[strings.ToLower(after[0])]
}

// split returns the names of an atom, which may be joined by "and".
func (n nameReader) split(s span) (list []span) {
	text := n.text[s.from:s.to]
	if at := leadingAnd.FindStringIndex(text); at != nil {
		s.from += at[1]
		text = text[at[1]:]
	}
	start := 0
	for _, at := range conjoined.FindAllStringIndex(text, -1) {
		if n.r.isEntity(text[start:]) && !n.isComplete(text[start:at[0]]) {
			continue
		}
		list = append(list, span{s.from + start, s.from + at[0]})
		start = at[1]
	}
	return append(list, span{s.from + start, s.to})
}

var completeEntity = regexp.MustCompile(`(?i)\b(?:inc|llc|l\.l\.c|corp|corporation|company|lp|l\.p|ltd|n\.a)\.?\s*$`)

// isComplete reports whether the text before an "and" is a complete name and not the start of one
// such as "Henderson and Sons, Inc."
func (n nameReader) isComplete(text string) bool {
	words := strings.Fields(text)
	return completeEntity.MatchString(text) || len(words) > 1 && n.r.rules.givenNames[strings.ToLower(words[0])]
}

// name returns a name as it is in the document.
func (n nameReader) name(s span) string {
	text := n.text[s.from:s.to]
	s.from += len(text) - len(strings.TrimLeft(text, " .,:;-*\"'"))
	s.to -= len(text) - len(strings.TrimRight(text, " ,:;-*\"'"))
	if s.from >= s.to {
		return ""
	}
	original := n.r.source.original[n.r.source.originalAt(n.at+s.from):n.r.source.originalAt(n.at+s.to)]
	words := strings.Fields(strings.Trim(original, " ,:;\"'"))
	isEntity := n.r.isEntity(n.text[s.from:s.to]) || n.r.isEntity(n.r.rules.entityWords.repairAll(original))
	others := make([]string, len(words))
	for at, word := range words {
		words[at] = initial(lettersOf(word))
		others[at] = n.r.otherReading(words[at], isEntity)
		if at > 1 && at == len(words)-1 && !isEntity {
			others[at] = numeralReading(others[at])
		}
	}
	name, other := n.r.joinName(words), n.r.joinName(others)
	if other != name {
		n.r.noteReading(name, other)
	}
	return name
}

// joinName returns the name with these words. A period ends the sentence unless it belongs to the last word.
func (r *reader) joinName(words []string) string {
	name := strings.Join(words, " ")
	if strings.HasSuffix(name, ".") && !r.rules.suffixes.MatchString(words[len(words)-1]) && len(words[len(words)-1]) > 2 {
		name = strings.TrimRight(name, ".")
	}
	return name
}

// noteReading notes what a value may be instead.
func (r *reader) noteReading(value, other string) {
	if r.other == nil {
		r.other = map[string]string{}
	}
	r.other[value] = other
}

// lettersOf replaces the digits that OCR read instead of letters in a word.
func lettersOf(word string) string {
	letters, digits, lower := 0, 0, 0
	for _, c := range word {
		switch {
		case unicode.IsDigit(c) || c == '|' || c == '!':
			digits++
		case unicode.IsLetter(c):
			letters++
			if unicode.IsLower(c) {
				lower++
			}
		}
	}
	if digits == 0 || letters <= digits {
		return word
	}
	if lower*2 > letters {
		return strings.NewReplacer("0", "o", "1", "l", "|", "l", "!", "l", "5", "s").Replace(word)
	}
	return strings.NewReplacer("0", "O", "1", "I", "|", "I", "!", "I", "5", "S", "8", "B").Replace(word)
}

var initialComma = regexp.MustCompile(`^[A-Z],$`)

// initial returns a word with a period if it is an initial with a comma.
func initial(word string) string {
	if initialComma.MatchString(word) {
		return word[:1] + "."
	}
	return word
}

// otherReading returns what a word of a name may be instead: OCR may have read it better elsewhere, or a usual name looks
// like it. It returns word if there is nothing.
func (r *reader) otherReading(word string, entity bool) string {
	letters := strings.TrimRight(word, ".,;:")
	end := word[len(letters):]
	if entity && r.source.isDoubtful(strings.ToLower(letters), doubted) {
		if known := r.rules.entityWords.repair(letters); known != "" {
			return known + end
		}
	}
	if best := r.source.bestReading(letters); best != letters {
		return best + end
	}
	return r.source.confusedName(letters, r.rules) + end
}

// isDoubtful reports whether OCR wasn't sure of a word of a name and nothing else supports it.
func (r *reader) isDoubtful(name string) bool {
	for _, word := range strings.Fields(name) {
		word = strings.ToLower(strings.TrimFunc(word, func(c rune) bool { return !isAlphanumeric(c) }))
		if r.source.isDoubtful(word, minNameConfidence) && !r.rules.givenNames[word] && !r.rules.entities[word] && len(word) > 1 {
			return true
		}
	}
	return false
}

var dangling = regexp.MustCompile(`(?i)\b(?:known|formerly|of|the|and|as|a/k/a|f/k/a|n/k/a)$`)

// isEntity reports whether a text names a company, a trust, or an authority.
func (r *reader) isEntity(text string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !isAlphanumeric(c) && c != '.' }) {
		if r.rules.entities[strings.ReplaceAll(word, ".", "")] {
			return true
		}
	}
	return false
}

// IsNameSuffix reports whether what follows a comma in a name belongs to the name before it, such as
// "Jr.", "LLC", or "Trustee".
func IsNameSuffix(text string) bool {
	end := DefaultRules().suffixes.FindStringIndex(text)
	if end == nil {
		return false
	}
	suffix, rest := strings.Trim(text[:end[1]], " ."), strings.TrimSpace(text[end[1]:])
	return len(suffix) > 1 || rest == "" // "V." in "V. James" is an initial
}

// IsGivenName reports whether a word in lower case is a common first name.
func IsGivenName(word string) bool { return DefaultRules().givenNames[word] }

// isFirstName reports whether a name is only a first name, as in "John and Mary Smith".
func (r *reader) isFirstName(name string) bool {
	words := strings.Fields(name)
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && len(strings.Trim(words[1], ".")) > 1 {
		return false
	}
	return r.rules.givenNames[strings.ToLower(words[0])]
}

var personWord = regexp.MustCompile(`^[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ'.-]*$`)

// isParty reports whether a name looks like that of a person or a company.
func (r *reader) isParty(name string) bool {
	first := firstRune(name)
	words := strings.FieldsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || c == ',' })
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) || len(words) > maxNameWords || len(name) > model.MaxNameLength ||
		r.rules.notParty.MatchString(name) {
		return false
	}
	plain := name
	if at := capacity.FindStringIndex(name); at != nil { // "Trustee of the Smith Family Trust"
		plain = name[:at[0]]
	}
	if entity, article := strings.CutPrefix(strings.ToLower(plain), "the "); article && r.isEntity(entity) {
		plain = entity
	}
	for _, word := range strings.Fields(plain) {
		if r.rules.notNames[strings.ToLower(strings.Trim(word, ".,"))] {
			return false
		}
	}
	if r.isEntity(name) {
		return true
	}
	last := words[len(words)-1]
	if len(strings.Trim(last, ".")) == 1 && len(words) > 1 && last != "V" && !strings.Contains(name, ",") { // the surname is missing
		return false
	}
	const maxPersonWords = 6
	if len(words) < 2 || len(words) > maxPersonWords {
		return len(words) > maxPersonWords && r.hasCapacity(name)
	}
	return r.hasCapacity(name) || !slices.ContainsFunc(words, func(word string) bool {
		return !personWord.MatchString(word) || unicode.IsLower(firstRune(word)) && !nameParticles[word]
	})
}

// nameParticles are the words in lower case of the names of persons.
var nameParticles = wordSet("de del della den der des di do dos du el la las le los mac of san st ten ter van vander von y zu")

var capacity = regexp.MustCompile(`(?i)\b(?:trustee|executor|executrix|administrator|administratrix|representative` +
	`|guardian|attorney.in.fact|[fan]/?k/?a|known as|et al|et ux)\b`)

// hasCapacity reports whether a name states the capacity in which a person acts, or an alias.
func (r *reader) hasCapacity(name string) bool { return capacity.MatchString(name) }
