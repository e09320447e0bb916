package query

// Bounds of a number written in parts.
const (
	mostRunParts = 6  // with blanks between them: more are a row of a table
	mostRunBytes = 40 // of digits
)

// run is a number in several parts, or initials, as far as it came.
type run struct {
	text       []byte
	start, end int
	position   uint32
	parts      int
	lastStart  int // of its last part: in the text,
	lastText   int // and in run.text
	blanks     bool
	initials   bool
	area       bool // the last link was that behind the area code of a telephone
}

// settleRun ends the run that does not go on with the word of digits at start: before
// that word, so that positions ascend.
func (a *analyser) settleRun(s string, start int) {
	r := &a.run
	if r.parts == 0 {
		return
	}
	blanks, linked := link(s[r.end:start])
	switch {
	case r.isArea(s, start):
		r.area = true
	case !linked || r.initials:
		a.endRun()
	case r.parts == 1 || r.area:
		r.blanks, r.area = blanks, false
	case r.blanks != blanks:
		a.turnRun(blanks)
	}
}

// isArea says whether the run is the area code of a telephone, which has parentheses of
// its own: (985) 555-0142 is 985-555-0142.
func (r *run) isArea(s string, next int) bool {
	if r.parts != 1 || r.initials || r.end-r.start != 3 || r.start == 0 || s[r.start-1] != '(' {
		return false
	}
	behind := s[r.end:next]
	return behind == ")" || behind == ") " || behind == ")-"
}

// settleInitials ends the run that does not go on with the word of letters from start
// to end.
func (a *analyser) settleInitials(s string, start, end int) {
	if r := &a.run; r.parts > 0 && (!r.initials || end-start > 1 || !isInitialLink(s[r.end:start])) {
		a.endRun()
	}
}

// isInitialLink says whether what stands between two letters leaves them one word: J.P.,
// J. P. and A/K/A.
func isInitialLink(behind string) bool { return behind == "." || behind == ". " || behind == "/" }

// part counts a word to the run before it, or begins one.
func (a *analyser) part(t token, initials bool) {
	r := &a.run
	if r.parts == 0 {
		*r = run{text: r.text[:0], start: t.start, position: t.position, initials: initials}
	}
	r.lastStart, r.lastText = t.start, len(r.text)
	r.parts++
	r.end = t.end
	if len(r.text) <= mostRunBytes {
		r.text = append(r.text, t.text...)
	}
}

// turnRun ends a run because the next part is linked in another way: one of blanks
// gives its last part to the next and is nothing without it, one of punctuation is
// whole.
func (a *analyser) turnRun(blanks bool) {
	r := &a.run
	if !r.blanks {
		a.endRun()
		return
	}
	if len(r.text) > mostRunBytes {
		r.parts = 0 // not all of it was kept
		return
	}
	last := copy(r.text, r.text[r.lastText:])
	*r = run{
		text: r.text[:last], start: r.lastStart, end: r.end, position: r.position + uint32(r.parts) - 1,
		parts: 1, lastStart: r.lastStart, blanks: blanks,
	}
}

// endRun gives what is in several parts as one.
func (a *analyser) endRun() {
	r := &a.run
	if r.parts > 1 && len(r.text) <= mostRunBytes && (!r.blanks || r.parts <= mostRunParts) {
		a.emit(token{text: r.text, start: r.start, end: r.end, position: r.position, also: true})
	}
	r.parts = 0
}

// link says whether what stands between two words of digits makes them one number,
// and whether it is a blank.
func link(s string) (blank, linked bool) {
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
