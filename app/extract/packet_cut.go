package extract

import (
	"slices"
	"strconv"

	"github.com/agnivade/levenshtein"

	"deedkeep/app/model"
)

// attachments are the types of papers that are often recorded as a part of another instrument.
var attachments = []string{"Affidavit", "Power of Attorney", "Death Certificate", "Assignment of Rents", "Plat", "Survey", "Agreement",
	"Lease", "Other", "Correspondence", "Restrictions", "Name Change", "Tax Certificate", "Tax Bill", "Probate"}

// courtPapers are the types of papers that begin with the caption of a court, not with a title.
var courtPapers = []string{"Judgment", "Lis Pendens", "Probate", "Divorce", "Bankruptcy"}

// add adds the facts of a further page of an instrument.
func (f *pageFacts) add(next pageFacts) {
	if f.page == 0 {
		*f = next
		return
	}
	if f.kind == "" {
		f.kind = next.kind
	}
	if f.count == 0 && f.isCover {
		f.count = next.count
	}
	f.isCover = f.isCover && next.isCover
	f.hasBody, f.hasStart, f.hasTail = f.hasBody || next.hasBody, f.hasStart || next.hasStart, f.hasTail || next.hasTail
	f.prose, f.isSigned = f.prose+next.prose, f.isSigned || next.isSigned
	f.lastText = max(f.lastText, next.lastText)
	if f.number.text == "" {
		f.number = next.number
	}
	if f.book.text == "" {
		f.book, f.bookTop = next.book, next.bookTop
	}
	if f.recorded.text == "" {
		f.recorded = next.recorded
	}
}

// minProse is how many lines of running text an instrument has, and a sheet of the recorder's office doesn't.
const minProse = 4

// endsBefore returns why the instrument ends before a page, or "" if it doesn't.
func (f pageFacts) endsBefore(next pageFacts) reason {
	switch stamped := f.otherStamp(next); {
	case next.lastText == 0, f.lastText == 0: // there is no text
		return ""
	case next.middle > 0 && !f.isCover:
		return inMiddle
	case next.isAttached && !next.isStamp(), next.continues && !(stamped && next.kind != "" && next.hasBody):
		return ""
	case f.isCover && !(next.isCover && stamped): // the first page after a cover sheet
		return ""
	case stamped && (next.kind != "" || next.hasBody):
		return byStampAndTitle
	case stamped && (next.isStamp() || next.kind != "" && !next.isAttached):
		return byStamp
	case f.sameStamp(next):
		return ""
	case next.isCover:
		return byCover
	case f.count > 0 && next.page < f.page+f.count, next.isAttached:
		return ""
	}
	return f.endsByTitle(next)
}

// endsByTitle returns why the instrument ends before a page without a stamp that tells.
func (f pageFacts) endsByTitle(next pageFacts) reason {
	isComplete := f.isSigned || f.count > 0 && next.page == f.page+f.count
	isTitled := f.kind != "" || !slices.Contains(courtPapers, next.kind) // or else the pages before have the caption
	switch {
	case next.kind == "" && next.isFresh && f.hasBody && isComplete:
		return byWords
	case f.prose < minProse && !f.hasBody && next.page == f.page+1 && !isComplete: // a cover page of the recorder's office
		return ""
	case next.kind == "" && next.hasBody && next.prose >= minProse && f.count > 0 && next.page == f.page+f.count:
		return byCount
	case next.kind == "" || slices.Contains(attachments, next.kind):
		return ""
	case next.hasBody && isComplete && next.kind != f.kind,
		next.hasStart && f.hasTail, (next.isFresh || next.opens) && isComplete: // or a title on each page
		return byTitle
	case next.hasBody && next.kind != f.kind && isTitled:
		return bySecondTitle
	case isComplete && next.prose >= minProse && next.kind != f.kind:
		return byBareTitle
	}
	return ""
}

// isStamp reports whether a page has a complete recording stamp.
func (f pageFacts) isStamp() bool {
	return f.recorded.text != "" && (f.number.text != "" || f.book.text != "")
}

// otherStamp reports whether a page has the recording stamp of another instrument.
func (f pageFacts) otherStamp(next pageFacts) bool {
	if f.sameStamp(next) {
		return false
	}
	otherDay := next.isStamp() && f.recorded.differs(next.recorded)
	otherBook := f.book.differs(next.book) || f.bookTop.differs(next.bookTop)
	return otherDay || f.number.differs(next.number) || otherBook && (next.hasBody || next.isStamp()) // or a reference at the top
}

// sameStamp reports whether a page has the recording stamp of the instrument. The number of the page in the book may
// increase with the pages.
func (f pageFacts) sameStamp(next pageFacts) bool {
	if f.number.text != "" && next.number.text != "" {
		return !f.number.differs(next.number)
	}
	from, err := strconv.Atoi(f.bookTop.text)
	to, err2 := strconv.Atoi(next.bookTop.text)
	return err == nil && err2 == nil && model.NormalizeRecordingNumber(f.book.text) == model.NormalizeRecordingNumber(next.book.text) &&
		(to == from || to-from == next.page-f.page && (next.kind == "" || next.isAttached || slices.Contains(attachments, next.kind)))
}

// stampNumber is a number of a recording stamp.
type stampNumber struct {
	text string
	sure bool // OCR can't have confused a digit
}

// minSureConfidence is the lowest confidence of a word of a number that OCR can't have confused.
const minSureConfidence = 85

// minOtherDigits is in how many characters two numbers differ that OCR can't have read from the same one.
const minOtherDigits = 3

// differs reports whether both numbers are known and can't be the same one.
func (n stampNumber) differs(o stampNumber) bool {
	a, b := model.NormalizeRecordingNumber(n.text), model.NormalizeRecordingNumber(o.text)
	if a == "" || b == "" || a == b {
		return false
	}
	if n.sure && o.sure {
		return true
	}
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	return !AreReadings(n.text, o.text) && levenshtein.ComputeDistance(a, b) >= minOtherDigits
}

// maxCompared is how many characters of numbers are compared.
const maxCompared = 24
