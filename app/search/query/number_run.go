package query

// Limits of a number that is written in parts.
const (
	maxRunParts = 6  // maximum number of parts separated by blanks; more are probably a table row
	maxRunBytes = 40 // maximum total length
)

// numberRun collects the parts of a number or of initials.
type numberRun struct {
	text          []byte
	start, end    int
	position      uint32
	parts         int
	lastPartStart int // start of the last part in the scanned text,
	lastPartText  int // and in text
	blanks        bool
	initials      bool
	afterAreaCode bool // the last separator followed the area code of a phone number
}

// endRunBefore ends the run if the word of digits at start does not continue it. It must be called
// before that word is emitted because variants must be emitted in ascending order of position.
func (a *analyzer) endRunBefore(s string, start int) {
	r := &a.run
	if r.parts == 0 {
		return
	}
	blanks, linked := runLink(s[r.end:start])
	switch {
	case r.isAreaCode(s, start):
		r.afterAreaCode = true
	case !linked || r.initials:
		a.endRun()
	case r.parts == 1 || r.afterAreaCode:
		r.blanks, r.afterAreaCode = blanks, false
	case r.blanks != blanks:
		a.restartRun(blanks)
	}
}

// isAreaCode reports whether the run is the area code of a phone number in parentheses: (985)
// 555-0142 is 985-555-0142. next is the start of the next word.
func (r *numberRun) isAreaCode(s string, next int) bool {
	if r.parts != 1 || r.initials || r.end-r.start != 3 || r.start == 0 || s[r.start-1] != '(' {
		return false
	}
	between := s[r.end:next]
	return between == ")" || between == ") " || between == ")-"
}

// endInitialsBefore ends the run if the word of letters from start to end does not continue it.
func (a *analyzer) endInitialsBefore(s string, start, end int) {
	if r := &a.run; r.parts > 0 && (!r.initials || end-start > 1 || !isInitialLink(s[r.end:start])) {
		a.endRun()
	}
}

// isInitialLink reports whether two letters separated by this text form one word, as in J.P., J.
// P., and A/K/A.
func isInitialLink(between string) bool { return between == "." || between == ". " || between == "/" }

// addToRun appends a word to the run or starts a new run with it.
func (a *analyzer) addToRun(t token, initials bool) {
	r := &a.run
	if r.parts == 0 {
		*r = numberRun{text: r.text[:0], start: t.start, position: t.position, initials: initials}
	}
	r.lastPartStart, r.lastPartText = t.start, len(r.text)
	r.parts++
	r.end = t.end
	if len(r.text) <= maxRunBytes {
		r.text = append(r.text, t.text...)
	}
}

// restartRun ends a run because the next separator is of a different type. After blanks, only the
// last part is kept and starts the next run, because the other parts are not a number. After
// punctuation, the run is complete and is emitted.
func (a *analyzer) restartRun(blanks bool) {
	r := &a.run
	if !r.blanks {
		a.endRun()
		return
	}
	if len(r.text) > maxRunBytes {
		r.parts = 0 // the text was truncated
		return
	}
	last := copy(r.text, r.text[r.lastPartText:])
	*r = numberRun{
		text: r.text[:last], start: r.lastPartStart, end: r.end, position: r.position + uint32(r.parts) - 1,
		parts: 1, lastPartStart: r.lastPartStart, blanks: blanks,
	}
}

// endRun ends the run. If it has several parts, they are emitted as one word.
func (a *analyzer) endRun() {
	r := &a.run
	if r.parts > 1 && len(r.text) <= maxRunBytes && (!r.blanks || r.parts <= maxRunParts) {
		a.emit(token{text: r.text, start: r.start, end: r.end, position: r.position, variant: true})
	}
	r.parts = 0
}

// runLink reports whether the text between two words of digits links them to one number (linked),
// and whether it is a blank.
func runLink(s string) (blank, linked bool) {
	if s == " " {
		return true, true
	}
	if s == "" || len(s) > 4 {
		return false, false
	}
	for _, r := range s {
		switch r {
		case '-', '.', '/', '_', ',', ':', '–', '—', '‐', '‑':
		default:
			return false, false
		}
	}
	return false, true
}
