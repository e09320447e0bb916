package query

// mostCodeLetters is how many letters stand together in a code: ORD, TA, B.
const mostCodeLetters = 3

// code is a number that has letters in it, as far as it came: 47-0312-B-119.04. Its
// parts stand next to each other, or with one character of punctuation between them.
type code struct {
	text       []byte
	start, end int
	position   uint32
	parts      int
	digits     bool
	letters    bool
}

// settleCode ends the code that does not go on with a word: before that word, so that
// positions ascend.
func (a *analyser) settleCode(s string, t token, c class) {
	if a.code.parts > 0 && (!codeLink(s[a.code.end:t.start]) || !inCode(t, c)) {
		a.endCode()
	}
}

// addCode counts a word to the code before it, or begins one.
func (a *analyser) addCode(t token, c class) {
	if !inCode(t, c) {
		return
	}
	r := &a.code
	if r.parts == 0 {
		*r = code{text: r.text[:0], start: t.start, position: t.position}
	}
	r.parts++
	r.end = t.end
	r.digits = r.digits || c == digit
	r.letters = r.letters || c == letter
	if len(r.text) <= mostRunBytes {
		r.text = append(r.text, t.text...)
	}
}

// endCode gives what is in several parts as one.
func (a *analyser) endCode() {
	if r := &a.code; r.parts > 1 && r.digits && r.letters && len(r.text) <= mostRunBytes {
		a.emit(token{text: r.text, start: r.start, end: r.end, position: r.position, also: true})
	}
	a.code.parts = 0
}

func inCode(t token, c class) bool { return c == digit || len(t.text) <= mostCodeLetters }

func codeLink(s string) bool {
	return s == "" || s == "-" || s == "." || s == "/" || s == "–" || s == "‐" || s == "‑"
}
