package query

// maxAlphanumLetters is the maximum number of adjacent letters in an alphanumeric number: ORD, TA,
// B.
const maxAlphanumLetters = 3

// alphanum collects a number that contains letters: 47-0312-B-119.04. Its parts are adjacent or
// have one punctuation character between them.
type alphanum struct {
	text       []byte
	start, end int
	position   uint32
	parts      int
	digits     bool
	letters    bool
}

// endAlphanumBefore ends the number if the word t does not continue it. It is called before t is
// emitted, so that positions ascend.
func (a *analyzer) endAlphanumBefore(s string, t token, c class) {
	if a.alphanum.parts > 0 && (!isAlphanumLink(s[a.alphanum.end:t.start]) || !inAlphanum(t, c)) {
		a.endAlphanum()
	}
}

// addToAlphanum appends a word to the number, or starts one.
func (a *analyzer) addToAlphanum(t token, c class) {
	if !inAlphanum(t, c) {
		return
	}
	r := &a.alphanum
	if r.parts == 0 {
		*r = alphanum{text: r.text[:0], start: t.start, position: t.position}
	}
	r.parts++
	r.end = t.end
	r.digits = r.digits || c == digit
	r.letters = r.letters || c == letter
	if len(r.text) <= maxRunBytes {
		r.text = append(r.text, t.text...)
	}
}

// endAlphanum emits the number as one word if it has several parts.
func (a *analyzer) endAlphanum() {
	if r := &a.alphanum; r.parts > 1 && r.digits && r.letters && len(r.text) <= maxRunBytes {
		a.emit(token{text: r.text, start: r.start, end: r.end, position: r.position, variant: true})
	}
	a.alphanum.parts = 0
}

func inAlphanum(t token, c class) bool { return c == digit || len(t.text) <= maxAlphanumLetters }

func isAlphanumLink(s string) bool {
	return s == "" || s == "-" || s == "." || s == "/" || s == "–" || s == "‐" || s == "‑"
}
