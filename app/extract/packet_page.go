package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// pageFacts say whether an instrument starts on a page. Those of an instrument are those of its pages together.
type pageFacts struct {
	page          int
	lastText      int    // last page with text; 0: none
	kind          string // standard type that a title names; "" if there is none
	hasBody       bool   // has the first words of the body of an instrument
	hasStart      bool   // the same without words that a certificate has, too
	opens         bool   // has those words right below the title
	hasTail       bool   // has the first words of the signatures
	isSigned      bool   // has lines of signatures or of a notary
	isFresh       bool   // has words that only start an instrument
	isCover       bool   // is a sheet that the recorder's office puts before an instrument
	isAttached    bool   // has the heading of an exhibit, a rider, or a certificate
	continues     bool   // "Page 2 of 4"
	count         int    // pages that the instrument has; 0 if the page doesn't tell
	prose         int    // lines of running text
	middle        int    // line where an instrument starts below the end of another one; 0 if there is none
	number        stampNumber
	book, bookTop stampNumber // the book, and its page
	recorded      stampNumber
}

// Parts of a page where a stamp is.
const (
	topLines    = 16
	bottomLines = 4
	// tailLines is how many lines at the bottom of a page may be those of signatures.
	tailLines = 30
	// maxProseAbove is how many lines of running text may be above the title of an instrument.
	maxProseAbove = 2
	// maxEdgeLine is how much of a line of a stamp is read.
	maxEdgeLine = 300
)

var (
	pageOf = regexp.MustCompile(`(?i)(?:\b(?:p[ao][gq]e|fage|pg)\s*[:.]?\s*|^\W*(?:[\w-]+ )?)([\dlIOoZ]{1,3})\s*[o0]f\s*([\dlIOoZ]{1,3})\b`)
	// pageCount matches how many pages an instrument has, in a stamp. A book before it makes it a number of a page.
	pageCount = regexp.MustCompile(`(?i)\b(?:book|bk|vol\.?|volume|liber)\W*\d+\W*(?:pages?|pgs?)\b|` +
		`\b(?:p[ao]ges|pgs|page count)\b\s*[:=#]?\s*([\dlIO]{1,3})(?:[^\d,./-]|$)|` +
		`(?:^|[^\d$.,/-])([\dlIO]{1,2}) (?:p[ao]ges|pgs)\b|\b(?:p[ao]ge|pg)\s*[:.]?\s*1 [o0]f ([\dlIO]{1,3})\b`)
	// freshStart matches words that start an instrument, but not a certificate or an exhibit.
	freshStart = regexp.MustCompile(`(?i)\bknow all (?:men|persons|people)\b|` +
		`\bthis (?:[a-z-]+ ){0,4}?(?:deed|indenture|mortgage|agreement|assignment|release|easement)\b[ ,:(]+made\b`)
	// prose matches a line of running text: words in lower case, four in a row or five.
	prose = regexp.MustCompile(`(?:\b[a-z]{2,}[,;]?\s+){3}[a-z]{2,}|(?:\b[a-z]{2,}\b.*){5}`)
	// coverSheet matches what is only on a sheet that the recorder's office adds.
	coverSheet = regexp.MustCompile(`(?i)\b(?:cover|recording|endorsement|recordation) (?:and endorsement )?(?:page|sheet)\b|` +
		`\bcover (?:page|sheet)\b|\b(?:do not|not be) (?:detach|discard|remove)|\bremoved or detached\b|` +
		`\b(?:this|is) (?:page|sheet) (?:is|constitutes|has been)\b|\b(?:is|as|it is now) (?:a )?part of the (?:recorded|legal) (?:document|` +
		`instrument)\b`)
	// attachedHeading matches the heading of what belongs to the instrument before.
	attachedHeading = regexp.MustCompile(`(?i)^\W*(?:[\w-]+ ){0,5}?(?:exhibit|rider|addend(?:um|a)|schedule|appendix|attachment|annex|` +
		`allonge|` +
		`acknowledge?ments?|signature pages?|signatures|legal description|jurat|certificate of (?:acknowledge?ment|true copy|service|` +
		`residence|notary)|` +
		`notar(?:y|ial) (?:acknowledge?ment|certificate|public)|continuation|` +
		`affidavit of (?:consideration|value|residence|true)|certificate of value|transfer tax|description of (?:the )?(?:premises|property|` +
		`land))\b(?:\W+(?:[\w"']+\W*){0,4})?$`)
	// signatureLine matches a line of signatures or of a notary.
	signatureLine = regexp.MustCompile(`(?i)\b(?:notary|commission|witness(?:es)?:?|sworn|seal|acknowledged)\b|^\W*by\s*:|_{4}|/s/`)
)

// standardTypes are the document types that a title is compared with.
var standardTypes = model.NewDocumentTypes()

// readPage returns the facts about a page of a document with total pages.
func readPage(page Page, number, total int, rules *Rules, now time.Time) pageFacts {
	f := pageFacts{page: number}
	r := reader{rules: rules, now: now, source: newSource([]Page{page}, rules), fields: Fields{}}
	if strings.TrimSpace(r.source.text) == "" {
		return f
	}
	f.lastText = number
	f.hasBody, f.hasStart = bodyOf(r.source.text, rules)
	f.isFresh = freshStart.MatchString(r.source.text)
	f.hasTail = f.hasBody && r.source.tail < len(r.source.text)
	if title, kind, at := r.title(maxProseAbove); !strings.HasSuffix(title, ".") { // not the end of a sentence
		f.kind = kind
		f.opens = kind != "" && f.hasStart && opensBelow(r.source.text[at:], rules)
	}
	edges := stampLines(page.Lines)
	f.readCount(edges, number, total)
	f.prose = proseLines(page.Lines)
	f.isCover = f.prose <= minProse && !f.hasTail && slices.ContainsFunc(edges, func(l Line) bool { return coverSheet.MatchString(l.Text) })
	f.isAttached = isAttached(page.Lines)
	f.isSigned = f.hasTail || slices.ContainsFunc(page.Lines[max(0, len(page.Lines)-tailLines):], func(l Line) bool {
		return signatureLine.MatchString(l.Text[:min(len(l.Text), maxEdgeLine)])
	})
	if at, kind := r.middleTitle(); at > 0 && (f.kind == "" || !f.hasBody) {
		f.middle, f.kind, f.isAttached = at, kind, false
		edges = page.Lines[at:min(at+topLines, len(page.Lines))]
	}
	stamp := reader{rules: rules, now: now, source: newSource([]Page{{Lines: withoutProse(edges, rules)}}, rules), fields: Fields{}}
	stamp.readPatterns(rules.stamps)
	f.number, f.book, f.bookTop = stamp.stampNumber(InstrumentNumber), stamp.stampNumber(Book), stamp.stampNumber(PageNumber)
	f.recorded = stamp.stampNumber(Recorded)
	return f
}

// bodyOf reports whether a text has the first words of the body of an instrument, and whether they are words that a
// certificate doesn't have.
func bodyOf(text string, rules *Rules) (hasBody, hasStart bool) {
	const limit = 4
	tail := len(text)
	for _, at := range rules.bodyStart.FindAllStringIndex(text, limit) {
		words := text[at[0]:at[1]]
		if strings.EqualFold(words, "before me,") {
			continue
		}
		if !hasBody {
			if end := rules.tailStart.FindStringIndex(text); end != nil {
				tail = end[0]
			}
		}
		hasBody = true
		isReference := strings.HasPrefix(strings.ToLower(words), "the grantor") && at[0] > 0 && text[at[0]-1] != '\n'
		hasStart = hasStart || at[0] < tail && !isReference && !strings.HasSuffix(strings.ToLower(words), "undersigned")
	}
	return hasBody, hasStart
}

// maxOpening is how far below a title the first words of a body are that belong to it, in bytes.
const maxOpening = 300

// opensBelow reports whether a text, which starts with the line of a title, continues with a new sentence and with the first
// words of the body of an instrument.
func opensBelow(text string, rules *Rules) bool {
	_, below, _ := strings.Cut(text[:min(len(text), maxOpening)], "\n")
	if unicode.IsLower(firstRune(strings.TrimSpace(below))) {
		return false
	}
	_, hasStart := bodyOf(below, rules)
	return hasStart
}

// stampLines returns the lines of a page that a stamp may be on.
func stampLines(lines []Line) []Line {
	edges := slices.Clone(lines[:min(len(lines), topLines)])
	if len(lines) > topLines {
		edges = append(edges, lines[max(len(lines)-bottomLines, topLines):]...)
	}
	for n, line := range edges {
		if len(line.Text) > maxEdgeLine {
			edges[n].Text = strings.ToValidUTF8(line.Text[:maxEdgeLine], "")
		}
	}
	return edges
}

// readCount reads which page of the instrument a page is, and how many there are.
func (f *pageFacts) readCount(edges []Line, number, total int) {
	for _, line := range edges {
		if m := pageOf.FindStringSubmatch(line.Text); len(m) == 3 {
			at, count := smallNumber(m[1]), smallNumber(m[2])
			if at > 0 && at <= count && (at != number || count != total) {
				f.continues = f.continues || at > 1
			}
		}
		for _, m := range pageCount.FindAllStringSubmatch(line.Text, -1) {
			if count := smallNumber(m[1] + m[2] + m[3]); count > 0 && count < total && f.count == 0 && isLineSure(line) {
				f.count = count
			}
		}
	}
}

// smallNumber returns a number of pages, or 0 if a text isn't one.
func smallNumber(text string) int {
	text, ok := digits(strings.ReplaceAll(text, "Z", "2"))
	number, err := strconv.Atoi(text)
	if !ok || err != nil {
		return 0
	}
	return number
}

// isLineSure reports whether OCR is sure of the words of a line.
func isLineSure(l Line) bool {
	return l.Confidence == nil || len(l.Confidence) > 0 && slices.Min(l.Confidence) >= minNumberConfidence
}

// proseLines counts the lines of running text: six words, four of them in lower case.
func proseLines(lines []Line) (count int) {
	const minWords, minLower, enough = 6, 4, 40
	for _, line := range lines {
		words, lower := 0, 0
		text := line.Text[:min(len(line.Text), maxEdgeLine)]
		for word := range strings.FieldsSeq(text) {
			words++
			if len(word) > 1 && unicode.IsLower(firstRune(word)) {
				lower++
			}
		}
		if words >= minWords && lower >= minLower {
			if count++; count >= enough {
				break
			}
		}
	}
	return count
}

// maxHeadings is how many lines at the top of a page may be above the heading of an exhibit.
const maxHeadings = 4

// isAttached reports whether a page has the heading of an exhibit, a rider, or a certificate.
func isAttached(lines []Line) bool {
	left := maxHeadings
	for _, line := range lines {
		text := strings.TrimSpace(line.Text)
		if text == "" {
			continue
		}
		if len(text) <= maxHeadingLength && attachedHeading.MatchString(text) {
			return true
		}
		if left--; left == 0 {
			break
		}
	}
	return false
}

// maxBodyBelow is how far below its title the body of an instrument starts, in bytes.
const maxBodyBelow = 700

// Limits of the search for a title in the middle of a page.
const (
	maxMiddleLines = 200 // of the page
	maxMiddleTries = 8   // headings
	maxStampAbove  = 30  // lines of the stamp above the title
)

// middleTitle returns the line from which on another instrument is on a page, below signatures or an attachment, and the type
// that its title names. The line is 0 if there is none.
func (r *reader) middleTitle() (line int, kind string) {
	s := r.source
	tries := 0
	for n := 1; n < min(len(s.lines), maxMiddleLines) && tries < maxMiddleTries; n++ {
		text := strings.TrimSpace(s.original[s.lines[n].start:s.lineEnd(n)])
		if strings.HasSuffix(text, ".") || !r.isHeading(text) {
			continue
		}
		tries++
		found, ok := model.TypeInTitle(text, standardTypes)
		if !ok || found == "" || slices.Contains(attachments, found) || attachedHeading.MatchString(text) {
			continue
		}
		from := r.endAbove(n)
		below := s.original[s.lineEnd(n):min(s.lineEnd(n)+maxBodyBelow, len(s.original))]
		if starts, _ := bodyOf(below, r.rules); from > 0 && starts {
			return s.lines[from].number, found
		}
	}
	return 0, ""
}

// endAbove returns the line after the last one of running text or signatures above a line, or 0 if nothing above it is signed
// or attached.
func (r *reader) endAbove(line int) int {
	s := r.source
	textOf := func(n int) string {
		return s.original[s.lines[n].start:min(s.lineEnd(n), s.lines[n].start+maxEdgeLine)]
	}
	for n := line - 1; n >= max(line-maxStampAbove, 0); n-- {
		if !isSigned(s, n) && !prose.MatchString(textOf(n)) {
			continue
		}
		for above := range n + 1 {
			if isSigned(s, above) || attachedHeading.MatchString(strings.TrimSpace(textOf(above))) {
				return n + 1
			}
		}
		return 0
	}
	return 0
}

// isSigned reports whether a line of a text is one of signatures or of a notary.
func isSigned(s *source, n int) bool {
	return signatureLine.MatchString(s.original[s.lines[n].start:min(s.lineEnd(n), s.lines[n].start+maxEdgeLine)])
}

// withoutProse returns the lines that aren't running text, which names other instruments.
func withoutProse(lines []Line, rules *Rules) (kept []Line) {
	running := false
	for _, line := range lines {
		isProse := prose.MatchString(line.Text) || rules.reference.MatchString(line.Text)
		if !isProse && !running {
			kept = append(kept, line)
		}
		running = isProse && strings.TrimSpace(line.Text) != ""
	}
	return kept
}

// stampNumber returns a number of a stamp.
func (r *reader) stampNumber(name string) stampNumber {
	field := r.fields[name]
	return stampNumber{field.Value(), field.Confidence == nil || field.lowest >= minSureConfidence}
}
