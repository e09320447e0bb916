package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on the text that is read, because a malicious document could otherwise take unlimited time.
// The fields are on the first pages.
const (
	MaxPages     = 12 // later pages of a document are not read
	maxPageText  = 32 << 10
	maxText      = 128 << 10
	maxLineShown = 200
)

// source is the text that fields are read from.
type source struct {
	original string // as it was read, with ASCII punctuation; each line ends with a line feed
	text     string // original with the words of the vocabulary repaired
	edits    []edit
	lines    []sourceLine
	readings map[string]reading // words of original in lower case
	isScan   bool               // the text is from OCR
	body     int                // offset in text of the body of the instrument
	tail     int                // offset in text of the signatures
}

// edit is a difference between text and original. From the offset from in text on, the offset in
// original is larger by shift.
type edit struct{ from, shift int }

// sourceLine is a line of original.
type sourceLine struct {
	start      int
	page       int
	number     int // in the page, from 0
	confidence []int
}

var punctuation = strings.NewReplacer("‘", "'", "’", "'", "`", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "‑", "-", "\u00a0", " ",
	"\u00ad", "", "ﬁ", "fi", "ﬂ", "fl", "_", " ", "\r", " ", "\f", " ", "\t", " ", "\x00", " ")

func newSource(pages []Page, rules *Rules) *source {
	s := &source{}
	var b strings.Builder
	for number, page := range pages {
		if number >= MaxPages {
			break
		}
		left := min(maxPageText, maxText-b.Len())
		if left <= 0 {
			break
		}
		double := page.isDoubleSpaced()
		for n, line := range page.Lines {
			text := line.Text
			if double && n > 0 && isBlank(line) && !isBlank(page.Lines[n-1]) {
				continue
			}
			if len(text) > left {
				text = text[:left]
			}
			left -= len(text) + 1
			s.lines = append(s.lines, sourceLine{start: b.Len(), page: number + 1, number: n, confidence: line.Confidence})
			s.isScan = s.isScan || line.Confidence != nil
			b.WriteString(punctuation.Replace(strings.ToValidUTF8(text, " ")))
			b.WriteByte('\n')
			if left <= 0 {
				break
			}
		}
	}
	s.original = b.String()
	s.repair(rules)
	s.body, s.tail = s.lineOffset(maxHeader), len(s.text)
	if at := rules.bodyStart.FindStringIndex(s.text); at != nil {
		s.body = at[0]
		if at := rules.tailStart.FindStringIndex(s.text[s.body:]); at != nil {
			s.tail = s.body + at[0]
		}
	}
	return s
}

func isBlank(l Line) bool { return strings.TrimSpace(l.Text) == "" }

// startsLower reports whether a line starts in the middle of a sentence.
func startsLower(l Line) bool { return unicode.IsLower(firstRune(strings.TrimSpace(l.Text))) }

// minDoubleSpaced is how many sentences must go across blank lines on a page with double spacing.
const minDoubleSpaced = 2

// isDoubleSpaced reports whether there is a blank line between the lines of a paragraph: more sentences go across a blank line
// than from a line to the next one.
func (p Page) isDoubleSpaced() bool {
	across, next := 0, 0
	for n, line := range p.Lines[:max(len(p.Lines)-1, 0)] {
		if isBlank(line) || strings.HasSuffix(strings.TrimSpace(line.Text), ".") {
			continue
		}
		switch below := p.Lines[n+1]; {
		case startsLower(below):
			next++
		case isBlank(below) && n+2 < len(p.Lines) && startsLower(p.Lines[n+2]):
			across++
		}
	}
	return across >= minDoubleSpaced && across > next
}

// maxHeader is the maximum number of lines above the body.
const maxHeader = 60

// lineOffset returns where a line starts in text, or the end of text if there are fewer lines.
func (s *source) lineOffset(number int) int {
	at := 0
	for range number {
		next := strings.IndexByte(s.text[at:], '\n')
		if next < 0 {
			return len(s.text)
		}
		at += next + 1
	}
	return at
}

// originalAt returns the offset in original for an offset in text.
func (s *source) originalAt(at int) int {
	n, found := slices.BinarySearchFunc(s.edits, at, func(e edit, at int) int { return e.from - at })
	if !found {
		n--
	}
	if n < 0 {
		return at
	}
	return min(at+s.edits[n].shift, len(s.original))
}

// lineAt returns the line of an offset in original.
func (s *source) lineAt(at int) int {
	n, found := slices.BinarySearchFunc(s.lines, at, func(l sourceLine, at int) int { return l.start - at })
	if !found {
		n--
	}
	return max(n, 0)
}

// lineEnd returns where a line ends in original, without the line feed.
func (s *source) lineEnd(n int) int {
	if n+1 < len(s.lines) {
		return s.lines[n+1].start - 1
	}
	return max(len(s.original)-1, 0)
}

// field returns a field without values that was read between two offsets in original.
func (s *source) field(from, to int) Field {
	if len(s.lines) == 0 {
		return Field{}
	}
	n := s.lineAt(from)
	line := strings.Join(strings.Fields(s.original[s.lines[n].start:s.lineEnd(n)]), " ")
	if len(line) > maxLineShown {
		line = strings.ToValidUTF8(line[:maxLineShown], "")
	}
	f := Field{Page: s.lines[n].page, Line: line}
	if mean, lowest, ok := s.confidence(from, to); ok {
		f.Confidence, f.mean, f.lowest, f.repeated = &mean, mean, lowest, s.isRepeated(from, to)
	}
	return f
}

// confidence returns the mean and the lowest confidence of the words between two offsets in original,
// and false if the words are not from OCR. Punctuation doesn't count.
func (s *source) confidence(from, to int) (mean, lowest int, ok bool) {
	sum, count := 0, 0
	lowest = 100
	for n := s.lineAt(from); n < len(s.lines) && s.lines[n].start < to; n++ {
		line := s.lines[n]
		if line.confidence == nil {
			continue
		}
		word := 0
		for at, r := range wordsOf(s.original[line.start:s.lineEnd(n)]) {
			start, end := line.start+at, line.start+at+len(r)
			if start < to && end > from && word < len(line.confidence) && strings.ContainsFunc(r, isAlphanumeric) {
				sum += line.confidence[word]
				count++
				lowest = min(lowest, line.confidence[word])
			}
			word++
		}
	}
	if count == 0 {
		return 0, 0, false
	}
	return sum / count, lowest, true
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordsOf yields the words of a line, separated by spaces, and where they are.
func wordsOf(line string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		start := -1
		for at, r := range line {
			switch space := unicode.IsSpace(r); {
			case !space && start < 0:
				start = at
			case space && start >= 0:
				if !yield(start, line[start:at]) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(start, line[start:])
		}
	}
}

// repair sets text: words that OCR misread are replaced by words of the vocabulary.
func (s *source) repair(rules *Rules) {
	var b strings.Builder
	done := 0
	for at := 0; at < len(s.original); {
		r, size := utf8.DecodeRuneInString(s.original[at:])
		if !isWordRune(r) {
			at += size
			continue
		}
		end := at
		for end < len(s.original) {
			r, size := utf8.DecodeRuneInString(s.original[end:])
			if !isWordRune(r) {
				break
			}
			end += size
		}
		if fixed := rules.words.repair(s.original[at:end]); fixed != "" {
			b.WriteString(s.original[done:at])
			b.WriteString(fixed)
			done = end
			s.edits = append(s.edits, edit{from: b.Len(), shift: end - b.Len()})
		}
		at = end
	}
	b.WriteString(s.original[done:])
	s.text = b.String()
}

func isWordRune(r rune) bool { return isAlphanumeric(r) || r == '|' || r == '!' }

// reading is how often a word occurs, and the highest confidence of its occurrences.
type reading struct{ count, confidence int }

// Confidence limits for the words of names. A word below doubted may be replaced by a similar word
// that was read elsewhere with at least the confidence trusted.
const (
	doubted = 88
	trusted = 90
)

// countReadings sets readings, if the words are from OCR.
func (s *source) countReadings() {
	s.readings = map[string]reading{}
	for n, line := range s.lines {
		at := 0
		for _, word := range wordsOf(s.original[line.start:s.lineEnd(n)]) {
			if at < len(line.confidence) {
				word = strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !isAlphanumeric(r) }))
				seen := s.readings[word]
				s.readings[word] = reading{seen.count + 1, max(seen.confidence, line.confidence[at])}
			}
			at++
		}
	}
}

// isDoubtful reports whether a lower-case word occurs once, with a confidence below a limit.
func (s *source) isDoubtful(word string, limit int) bool {
	if s.readings == nil {
		s.countReadings()
	}
	own := s.readings[word]
	return own.count == 1 && own.confidence < limit
}

// confusions are letters that OCR takes for each other.
var confusions = [][2]string{{"rn", "m"}, {"m", "rn"}, {"cl", "d"}, {"d", "cl"}, {"vv", "w"}, {"li", "h"}, {"h", "li"},
	{"l", "i"}, {"i", "l"}}

// confusedName returns the usual name, or the word of the document, that a word of a name looks like: "Cornelius" for
// "Comelius". It returns word if there is none, or if word is a usual name.
func (s *source) confusedName(word string, rules *Rules) string {
	lower := strings.ToLower(word)
	if len(lower) < minShapeWord || rules.givenNames[lower] || rules.surnames[lower] {
		return word
	}
	if s.readings == nil {
		s.countReadings()
	}
	for _, pair := range confusions {
		for at := 0; at+len(pair[0]) <= len(lower); at++ {
			if !strings.HasPrefix(lower[at:], pair[0]) {
				continue
			}
			other := lower[:at] + pair[1] + lower[at+len(pair[0]):]
			if rules.givenNames[other] || rules.surnames[other] || s.readings[other].count > s.readings[lower].count {
				return likeCase(other, word)
			}
		}
	}
	return word
}

// bestReading returns the word that a doubtful word of a name probably is: a similar word of the
// document that was read better. A word that was read well, or twice, stays.
func (s *source) bestReading(word string) string {
	lower := strings.ToLower(word)
	if !s.isDoubtful(lower, doubted) || len(lower) < minShapeWord {
		return word
	}
	best := ""
	for other, seen := range s.readings {
		if seen.confidence < trusted || len(other) < minShapeWord || shapeOf(other) != shapeOf(lower) && !isOneLetterOff(other, lower) {
			continue
		}
		if best != "" {
			return word
		}
		best = other
	}
	if best == "" {
		return word
	}
	return likeCase(best, word)
}
