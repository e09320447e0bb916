package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
)

// Limits on a document with several instruments. Later pages and instruments are not read.
const (
	MaxDocumentPages = 300
	maxInstruments   = 100
)

// Instrument is an instrument of a document: its pages, and the fields that they state.
type Instrument struct {
	First, Last int // pages, from 1
	Fields      Fields
}

// ReadAll returns the instruments of a document. A new one starts on a page with a title or a recording stamp of its
// own. The certificates, exhibits, and riders of an instrument belong to it. types are the document types of the firm.
func ReadAll(pages []Page, rules *Rules, types model.DocumentTypes, now time.Time) []Instrument {
	pages = pages[:min(len(pages), MaxDocumentPages)]
	return ReadParts(pages, Starts(pages, rules, now), rules, types, now)
}

// ReadParts is like ReadAll for a document whose instruments start on the given pages, in ascending order from 1.
func ReadParts(pages []Page, starts []int, rules *Rules, types model.DocumentTypes, now time.Time) (list []Instrument) {
	for n, start := range starts {
		end := len(pages)
		if n+1 < len(starts) {
			end = starts[n+1] - 1
		}
		fields := Read(pages[start-1:end], rules, types, now)
		for name, field := range fields {
			field.Page += start - 1
			fields[name] = field
		}
		list = append(list, Instrument{start, end, fields})
	}
	return list
}

// Starts returns the pages on which the instruments of a document start.
func Starts(pages []Page, rules *Rules, at time.Time) (starts []int) {
	starts = []int{1}
	var now pageFacts // of the instrument
	for n, page := range pages {
		facts := readPage(page, n+1, len(pages), rules, at)
		if n > 0 && len(starts) < maxInstruments && now.endsBefore(facts) {
			starts = append(starts, facts.page)
			now = facts
			continue
		}
		now.add(facts)
	}
	return starts
}

// pageFacts say whether an instrument starts on a page. Those of an instrument are those of its pages together.
type pageFacts struct {
	page          int
	lastText      int    // last page with text; 0: none
	kind          string // standard type that a title names; "" if there is none
	hasBody       bool   // has the first words of the body of an instrument
	hasTail       bool   // has the first words of the signatures
	isFresh       bool   // has words that only start an instrument
	continues     bool   // "Page 2 of 4"
	number        stampNumber
	book, bookTop stampNumber // the book, and its page
	recorded      string
}

// stampNumber is a number of a recording stamp.
type stampNumber struct {
	text string
	sure bool // OCR can't have confused a digit
}

// differs reports whether both numbers are known and can't be the same one.
func (n stampNumber) differs(o stampNumber) bool {
	return n.text != "" && o.text != "" && n.sure && o.sure &&
		model.NormalizeRecordingNumber(n.text) != model.NormalizeRecordingNumber(o.text)
}

// minSureConfidence is the lowest confidence of a word of a number that OCR can't have confused.
const minSureConfidence = 85

// add adds the facts of a further page of an instrument.
func (f *pageFacts) add(next pageFacts) {
	if f.page == 0 {
		*f = next
		return
	}
	if f.kind == "" {
		f.kind = next.kind
	}
	f.hasBody, f.hasTail = f.hasBody || next.hasBody, f.hasTail || next.hasTail
	f.lastText = max(f.lastText, next.lastText)
	if f.number.text == "" {
		f.number = next.number
	}
	if f.book.text == "" {
		f.book, f.bookTop = next.book, next.bookTop
	}
	if f.recorded == "" {
		f.recorded = next.recorded
	}
}

// attachments are the types of papers that are often recorded as a part of another instrument.
var attachments = []string{"Affidavit", "Power of Attorney", "Death Certificate", "Assignment of Rents", "Plat", "Survey", "Agreement",
	"Lease", "Other", "Correspondence", "Restrictions", "Name Change", "Tax Certificate", "Tax Bill", "Probate"}

// endsBefore reports whether the instrument ends before a page.
func (f pageFacts) endsBefore(next pageFacts) bool {
	stamped := f.otherStamp(next)
	switch {
	case next.lastText == 0 || next.continues:
		return false
	case next.kind == "":
		return next.isStamp() && (stamped || next.isFresh && f.hasBody && !f.sameStamp(next))
	case f.lastText == 0: // the pages before have no text
		return false
	case stamped:
		return true
	case f.sameStamp(next):
		return false
	case !f.hasBody && next.page == f.page+1: // a cover page of the recorder's office
		return false
	case slices.Contains(attachments, next.kind):
		return false
	case !next.hasBody:
		return false
	}
	isTitled := f.kind != "" || !slices.Contains(courtPapers, next.kind) // or else the pages before have the caption
	return next.kind != f.kind && isTitled || f.hasTail
}

// courtPapers are the types of papers that begin with the caption of a court, not with a title.
var courtPapers = []string{"Judgment", "Lis Pendens", "Probate", "Divorce", "Bankruptcy"}

// isStamp reports whether a page has a complete recording stamp.
func (f pageFacts) isStamp() bool {
	return f.recorded != "" && (f.number.text != "" || f.book.text != "")
}

// otherStamp reports whether a page has the recording stamp of another instrument.
func (f pageFacts) otherStamp(next pageFacts) bool {
	if f.sameStamp(next) {
		return false
	}
	otherDay := f.recorded != "" && f.recorded != next.recorded && next.isStamp()
	otherBook := f.book.differs(next.book) || f.bookTop.differs(next.bookTop)
	return otherDay || f.number.differs(next.number) || otherBook && (next.hasBody || next.isStamp()) // or a reference at the top
}

// sameStamp reports whether a page has the recording stamp of the instrument. The number of the page in the book may
// increase with the pages.
func (f pageFacts) sameStamp(next pageFacts) bool {
	if f.number.text != "" && next.number.text != "" {
		return model.NormalizeRecordingNumber(f.number.text) == model.NormalizeRecordingNumber(next.number.text)
	}
	from, err := strconv.Atoi(f.bookTop.text)
	to, err2 := strconv.Atoi(next.bookTop.text)
	return err == nil && err2 == nil && model.NormalizeRecordingNumber(f.book.text) == model.NormalizeRecordingNumber(next.book.text) &&
		(to == from || to-from == next.page-f.page && next.kind == "")
}

// Parts of a page where a stamp is.
const (
	topLines    = 16
	bottomLines = 4
	// maxProseAbove is how many lines of running text may be above the title of an instrument.
	maxProseAbove = 2
)

var (
	pageOf = regexp.MustCompile(`(?i)\b(?:page|pg)\s*:?\s*(\d{1,3})\s*of\s*(\d{1,3})\b`)
	// freshStart matches words that start an instrument, but not a certificate or an exhibit.
	freshStart = regexp.MustCompile(`(?i)\bknow all (?:men|persons|people)\b|` +
		`\bthis (?:[a-z-]+ ){0,4}?(?:deed|indenture|mortgage|agreement|assignment|release|easement)\b[ ,:(]+made\b`)
	// prose matches a line of running text: words in lower case, four in a row or five.
	prose = regexp.MustCompile(`(?:\b[a-z]{2,}[,;]?\s+){3}[a-z]{2,}|(?:\b[a-z]{2,}\b.*){5}`)
)

// readPage returns the facts about a page of a document with total pages.
func readPage(page Page, number, total int, rules *Rules, now time.Time) pageFacts {
	f := pageFacts{page: number}
	r := reader{rules: rules, now: now, source: newSource([]Page{page}, rules), fields: Fields{}}
	if strings.TrimSpace(r.source.text) == "" {
		return f
	}
	f.lastText = number
	f.hasBody = slices.ContainsFunc(rules.bodyStart.FindAllString(r.source.text, -1), func(words string) bool {
		return !strings.EqualFold(words, "before me,") // which starts a certificate, too
	})
	f.isFresh = freshStart.MatchString(r.source.text)
	f.hasTail = f.hasBody && r.source.tail < len(r.source.text)
	if title, kind, _ := r.title(maxProseAbove); !strings.HasSuffix(title, ".") { // not the end of a sentence
		f.kind = kind
	}
	edges := page.Lines
	if len(edges) > topLines+bottomLines {
		edges = slices.Concat(edges[:topLines], edges[len(edges)-bottomLines:])
	}
	for _, line := range edges {
		if m := pageOf.FindStringSubmatch(line.Text); len(m) == 3 && (m[1] != strconv.Itoa(number) || m[2] != strconv.Itoa(total)) {
			f.continues = f.continues || m[1] != "1"
		}
	}
	stamp := reader{rules: rules, now: now, source: newSource([]Page{{Lines: withoutProse(edges, rules)}}, rules), fields: Fields{}}
	stamp.readPatterns(rules.stamps)
	f.number, f.book, f.bookTop = stamp.stampNumber(InstrumentNumber), stamp.stampNumber(Book), stamp.stampNumber(PageNumber)
	f.recorded = stamp.fields[Recorded].Value()
	return f
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
