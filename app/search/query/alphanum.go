package query

// maxAlphanumLetters is the maximum number of adjacent letters in an alphanumeric number, such as
// ORD, TA, or B.
const maxAlphanumLetters = 3

// alphanum collects the parts of a number that contains letters, such as 47-0312-B-119.04. The
// parts are adjacent or have one punctuation character between them.
type alphanum struct {
	text       []byte
	start, end int
	position   uint32
	parts      int
	digits     bool
	letters    bool
}

// endAlphanumBefore ends the number if the word t does not continue it. It must be called before t
// is emitted because variants must be emitted in ascending order of position.
func (a *analyzer) endAlphanumBefore(s string, t token, c class) {
	if a.alphanum.parts > 0 && (!isAlphanumLink(s[a.alphanum.end:t.start]) || !inAlphanum(t, c)) {
		a.endAlphanum()
	}
}

// addToAlphanum appends a word to the number or starts a new number with it.
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

// endAlphanum ends the number. If it has more than one part, it is emitted as one word.
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
