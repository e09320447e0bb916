package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/model"
)

// maxWindow is how much text a pattern is matched against, in bytes. It limits the time for a match.
const maxWindow = 1800

// How often a pattern is tried in a document, and how many matches are considered.
const (
	maxTries   = 150
	maxMatches = 20
)

// reader reads the fields of one document.
type reader struct {
	now    time.Time
	rules  *Rules
	types  model.DocumentTypes
	source *source
	fields Fields
	kind   string            // standard name of the type; "" if it isn't known
	other  map[string]string // other readings of names and parcel numbers
}

// candidate is what a pattern found for a field.
type candidate struct {
	rank, at int    // of its pattern, and in the text
	name     string // of the field
	field    Field
	running  bool // a recording reference in running text
	doubtful bool // the text is there, but it can't be read reliably
}

// readPatterns adds the fields that patterns find. For each field, the first pattern in the list that
// finds something wins. If it finds several values, the first one wins.
// More candidates may be given.
func (r *reader) readPatterns(set patternSet, found ...candidate) {
	tries := make([]int, len(set.list))
	text := r.source.text
	for at, word := range textWords(text) {
		for _, p := range set.byWord[word] {
			if tries[p.rank] >= maxTries || !r.mayStart(p, at) {
				continue
			}
			tries[p.rank]++
			found = append(found, r.try(p, at, text[at:windowEnd(text, at)])...)
		}
	}
	for _, p := range set.list {
		if len(p.at) == 0 {
			found = append(found, r.try(p, 0, text)...)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		if x, y := a.order(), b.order(); x != y {
			return x - y
		}
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return a.at - b.at
	})
	decided := map[string]bool{}
	for name := range r.fields {
		decided[name] = true
	}
	for _, c := range found {
		if decided[c.name] {
			if !c.doubtful {
				r.compare(c.name, c.field)
			}
			continue
		}
		decided[c.name] = true
		if !c.doubtful {
			r.fields[c.name] = c.field
		}
	}
}

// order returns 1 for what counts only if there is nothing else, and otherwise 0: a nominal consideration, and a recording
// reference in running text.
func (c candidate) order() int {
	if c.running || c.name == Consideration && isNominal(c.field.Value()) {
		return 1
	}
	return 0
}

// isRunning reports whether an offset in the text is in running text: on a line of it, or on the line below.
func (r *reader) isRunning(at int) bool {
	text := r.source.text
	start := strings.LastIndexByte(text[:at], '\n') + 1
	above := strings.LastIndexByte(text[:max(start-1, 0)], '\n') + 1
	return prose.MatchString(text[above:at])
}

// windowEnd returns the end of the window that starts at an offset.
func windowEnd(text string, at int) int {
	end := min(at+maxWindow, len(text))
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// textWords yields the words of a text in lower case, and "#" for a number.
func textWords(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		start := -1
		for at, r := range text + " " {
			switch in := isAlphanumeric(r); {
			case in && start < 0:
				start = at
			case !in && start >= 0:
				word := text[start:min(at, start+maxWord)]
				if strings.ContainsAny(word, "0123456789") {
					if !yield(start, "#") {
						return
					}
				}
				if !yield(start, strings.ToLower(word)) {
					return
				}
				start = -1
			}
		}
	}
}

// mayStart reports whether a pattern may match at an offset in the text.
func (r *reader) mayStart(p *pattern, at int) bool {
	if len(p.types) > 0 && !slices.Contains(p.types, r.kind) || slices.Contains(p.notTypes, r.kind) {
		return false
	}
	return r.source.inZone(p.zone, at) && (!p.lineStart || r.source.atLineStart(at)) && !r.isAfter(p.notAfter, at)
}

// isAfter reports whether one of some words is right before an offset in the text.
func (r *reader) isAfter(words []string, at int) bool {
	before := strings.Fields(r.source.text[max(0, at-maxPreposition):at])
	return len(before) > 0 && slices.Contains(words, strings.ToLower(before[len(before)-1]))
}

// try returns what a pattern finds in a window of the text. at is the offset of the window.
func (r *reader) try(p *pattern, at int, window string) (list []candidate) {
	for range maxMatches {
		m := p.find.FindStringSubmatchIndex(window)
		if m == nil {
			return list
		}
		if r.mayStart(p, at+m[0]) && r.isNear(p, at+m[0], at+m[1]) && !r.isReference(p, at+m[0], at+m[1]) {
			if found := r.candidates(p, at, m); len(found) > 0 {
				return append(list, found...)
			}
		}
		if len(p.at) > 0 || m[1] <= 0 {
			return list
		}
		window, at = window[m[1]:], at+m[1]
	}
	return list
}

// candidates returns the fields of a match.
func (r *reader) candidates(p *pattern, at int, m []int) (list []candidate) {
	for n, name := range p.find.SubexpNames() {
		if name == "" || m[2*n] < 0 || m[2*n] == m[2*n+1] {
			continue
		}
		from, to := at+m[2*n], at+m[2*n+1]
		values, ok := r.rules.cleaners[name](r, from, to)
		c := candidate{rank: p.rank, at: from, name: name, running: p.zone == inStamp && name != Recorded && r.isRunning(at+m[0])}
		switch {
		case !ok:
			c.doubtful = true
		case len(values) == 0 && name == Grantors:
			return nil // what follows isn't the other side
		case len(values) == 0:
			continue
		default:
			c.field = r.fieldOf(values, from, to)
			c.field.Doubtful = c.field.Doubtful || r.isCorrected(name, values, from, to)
			c.doubtful = !r.isSure(name, from, to)
		}
		list = append(list, c)
	}
	bad := slices.ContainsFunc(list, func(c candidate) bool { return c.doubtful && (c.name == Book || c.name == PageNumber) })
	for n := range list {
		if f := list[n].name; bad && (f == Book || f == PageNumber || f == BookType || f == PageTo) {
			list[n].doubtful = true
		}
	}
	return list
}

// fieldOf returns a field with values that were read between two offsets in the text.
func (r *reader) fieldOf(values []string, from, to int) Field {
	f := r.source.field(r.source.originalAt(from), r.source.originalAt(to))
	f.Values = values
	for _, value := range values {
		if other := r.other[value]; other != "" {
			f.Readings, f.Doubtful = append(f.Readings, other), true
		}
	}
	return f
}

// The lowest confidence of a word of a number, and the lowest mean confidence of the words of a name.
const (
	minNumberConfidence = 45
	minNameConfidence   = 45
)

// isSure reports whether OCR is sure enough of the text of a field, given by two offsets in the text.
func (r *reader) isSure(name string, from, to int) bool {
	mean, lowest, known := r.source.confidence(r.source.originalAt(from), r.source.originalAt(to))
	switch name {
	case Grantors, Grantees, Trustee, Nominee:
		return !known || mean >= minNameConfidence
	case Subdivision:
		return !known || lowest >= minNameConfidence
	case BookType, Type:
		return true
	}
	return !known || lowest >= minNumberConfidence
}

// inZone reports whether an offset in text is in a zone.
func (s *source) inZone(z zone, at int) bool {
	switch z {
	case inHeader:
		return at < s.body
	case inBody:
		return at >= s.body
	case inTail:
		return at >= s.tail
	case inStamp:
		return at < s.body || at >= s.tail || s.atPageEdge(at)
	}
	return true
}

// edgeLines is how many lines at the top and bottom of a page may belong to a stamp.
const edgeLines = 3

// atPageEdge reports whether an offset in text is on one of the first or last lines of its page.
func (s *source) atPageEdge(at int) bool {
	n := s.lineAt(s.originalAt(at))
	page := s.lines[n].page
	for _, other := range []int{n - edgeLines, n + edgeLines} {
		if other < 0 || other >= len(s.lines) || s.lines[other].page != page {
			return true
		}
	}
	return false
}

// atLineStart reports whether there are no letters or digits before an offset on its line.
func (s *source) atLineStart(at int) bool {
	start := strings.LastIndexByte(s.text[:at], '\n') + 1
	return !strings.ContainsFunc(s.text[start:at], isAlphanumeric)
}

// nearLines is how many lines before and after a match a pattern looks for the words near it.
const nearLines = 4

func (r *reader) isNear(p *pattern, from, to int) bool {
	if p.near == nil {
		return true
	}
	text := r.source.text
	for range nearLines + 1 {
		if from = strings.LastIndexByte(text[:from], '\n'); from < 0 {
			from = 0
			break
		}
	}
	for range nearLines + 1 {
		next := strings.IndexByte(text[min(to+1, len(text)):], '\n')
		if next < 0 {
			to = len(text)
			break
		}
		to += 1 + next
	}
	return p.near.MatchString(text[from:min(to, len(text))])
}

// isReference reports whether a match about the recording is on a line about another instrument, such as "Instrument No. 12
// of Official Records".
func (r *reader) isReference(p *pattern, at, to int) bool {
	if p.zone != inStamp && p.zone != inHeader || p.find.SubexpIndex(County) >= 0 {
		return false
	}
	text := r.source.text
	start := strings.LastIndexByte(text[:at], '\n') + 1
	if searchReport.MatchString(text) || searchPeriod.MatchString(text[start:to]) {
		return true // nothing was recorded
	}
	end := at + max(strings.IndexByte(text[at:], '\n'), 0)
	if r.rules.reference.MatchString(text[start:at]) || faxLine.MatchString(text[start:end]) || ofRecords.MatchString(text[to:]) {
		return true
	}
	if recordedPhrase.MatchString(text[start:at]) { // "Recorded in Book 12" is a stamp
		return false
	}
	before := text[max(0, at-maxPreposition):at]
	return citedDate.MatchString(before) || preposition.MatchString(before) && !certificate.MatchString(before)
}

const maxPreposition = 50

var (
	// searchReport matches the title of what a searcher found, such as a certificate of search.
	searchReport = regexp.MustCompile(`(?i)\A\W*(?:certificate of (?:\w+ )?search|(?:judgment|lien|docket|name|tax)s?` +
		`(?: (?:and|&|or) \w+)* search)\b`)
	searchPeriod = regexp.MustCompile(`(?i)\bperiod\b|\b(?:through|thru)\s+(?:[a-z]{3,9}\.?\s+\d|\d{1,2}[/-]\d)`)

	ofRecords   = regexp.MustCompile(`(?i)^,?\s+(?:of|in)\s+(?:the\s+)?(?:official|deed|public|land|said)\s`)
	faxLine     = regexp.MustCompile(`(?i)\bfax\b`)
	certificate = regexp.MustCompile(`(?i)\b(?:admitted to record|received for record|filed for record|duly recorded` +
		`|this day)\s+(?:and\s+recorded\s+)?in\s+$`)
	recordedPhrase = regexp.MustCompile(`^\W*(?:Filed|FILED|Recorded|RECORDED|Received|RECEIVED)\b`)
	// citedDate matches the date of another instrument before its book and page, as in "by deed dated June 30, 1921, Deed Book 12".
	citedDate = regexp.MustCompile(`(?i)\bdated\s+[a-z0-9][^.;:]{3,24},\s*(?:(?:deed|mortgage|official|land|record)s?\s+){0,2}$`)
	// preposition matches what is before a reference in running text. A line may break after "Deed", as in "in Deed Book 12".
	preposition = regexp.MustCompile(`(?i)\b(?:in|at|of|under|as|by)\s+(?:(?:the|said)\s+)?(?:(?:plan|plat|map|deed` +
		`|mortgage|official|condominium|land|record)s?[ ]+){0,2}(?:(?:plan|plat|map|deed|mortgage|record)\n\s*)?$`)
)
