package query

// maxAlphanumLetters is how many letters stand together in a code: ORD, TA, B.
const maxAlphanumLetters = 3

// alphanum is a number that has letters in it, as far as it came: 47-0312-B-119.04. Its
// parts stand next to each other, or with one character of punctuation between them.
type alphanum struct {
	text       []byte
	start, end int
	position   uint32
	parts      int
	digits     bool
	letters    bool
}

// endAlphanumBefore ends the code that does not go on with a word: before that word, so that
// positions ascend.
func (a *analyzer) endAlphanumBefore(s string, t token, c class) {
	if a.alphanum.parts > 0 && (!isAlphanumLink(s[a.alphanum.end:t.start]) || !inAlphanum(t, c)) {
		a.endAlphanum()
	}
}

// addToAlphanum counts a word to the code before it, or begins one.
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

// endAlphanum gives what is in several parts as one.
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
