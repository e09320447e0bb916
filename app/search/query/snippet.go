package query

import (
	"context"
	"unicode"
	"unicode/utf8"
)

// How long a window is: in characters, a row of blanks counting once, and in bytes.
const (
	windowWidth    = 200
	maxWindowBytes = 2_000
)

// Highlight marks all of a short text: a heading, a line of a field.
func (m *Highlighter) Highlight(s string) []Piece {
	return pieces(s, 0, len(s), m.bestMarks(context.Background(), s))
}

// Snippet gives a window of about 200 characters of a page, around the place where most
// of what the query looks for stands together, and what it is worth: 0 where nothing
// stands on the page, and the window is its beginning. It begins and ends between
// words. The pieces one behind the other are the window as it stands in the page. Where
// ctx ends before all of the page was looked at, it is as if nothing stood there.
func (m *Highlighter) Snippet(ctx context.Context, s string) (window []Piece, worth int) {
	marks := m.bestMarks(ctx, s)
	first, last, worth := m.best(marks)
	from, to := 0, 0
	if worth > 0 {
		from = marks[first].start
		for _, k := range marks[first : last+1] {
			to = max(to, k.end)
		}
	}
	from, to = widen(truncate(s, MaxHighlightBytes), from, to)
	return pieces(s, from, to, marks), worth
}

// best is the marks that stand together and are worth most, the first of those.
func (m *Highlighter) best(marks []mark) (first, last, worth int) {
	count := make([]int, len(m.targets))
	sum, from := 0, 0
	for i, k := range marks {
		if count[k.target]++; count[k.target] == 1 {
			sum += m.targets[k.target].weight
		}
		for ; k.end-marks[from].start > windowWidth && from < i; from++ {
			t := marks[from].target
			if count[t]--; count[t] == 0 {
				sum -= m.targets[t].weight
			}
		}
		if sum > worth {
			first, last, worth = from, i, sum
		}
	}
	return first, last, worth
}

// widen makes a window of what must be in it.
func widen(s string, from, to int) (int, int) {
	to = min(to, from+len(truncate(s[from:], maxWindowBytes)))
	room := max(windowWidth-width(s[from:to]), 0)
	left := room / 2
	start, used := extendBack(s, from, left)
	end, _ := extendForward(s, to, room-used)
	if end == len(s) {
		_, behind := extendForward(s, to, room)
		start, _ = extendBack(s, from, room-behind)
	}
	for start < end && isSpaceAt(s, start) {
		start++
	}
	for end > start && isSpaceAt(s, end-1) {
		end--
	}
	return start, end
}

// width is how many characters a text has, a row of blanks counting once.
func width(s string) int {
	n, blank := 0, false
	for _, r := range s {
		if space := unicode.IsSpace(r); !space || !blank {
			n++
			blank = space
		}
	}
	return n
}

// extendForward goes n characters on, and back to where a word ends; it says how many were used.
func extendForward(s string, at, n int) (end, used int) {
	end = at
	word, blank := -1, false
	for used < n && end < len(s) && end-at < maxWindowBytes {
		r, size := utf8.DecodeRuneInString(s[end:])
		space := unicode.IsSpace(r)
		if space && !blank {
			word = end
		}
		if !space || !blank {
			used++
		}
		blank = space
		end += size
	}
	if end < len(s) && word >= 0 && !isSpaceAt(s, end) {
		return word, used
	}
	return end, used
}

// extendBack is forth in the other direction.
func extendBack(s string, at, n int) (start, used int) {
	start = at
	word, blank := -1, false
	for used < n && start > 0 && at-start < maxWindowBytes {
		r, size := utf8.DecodeLastRuneInString(s[:start])
		space := unicode.IsSpace(r)
		if space && !blank {
			word = start
		}
		if !space || !blank {
			used++
		}
		blank = space
		start -= size
	}
	if start > 0 && word >= 0 && !isSpaceAt(s, start-1) {
		return word, used
	}
	return start, used
}

func isSpaceAt(s string, i int) bool { return isBlank(s[i]) || s[i] == '\f' || s[i] == '\v' }

// pieces cuts a window out of a text, at the marks in it.
func pieces(s string, from, to int, marks []mark) []Piece {
	var found []Piece
	add := func(from, to int, marked bool) {
		if from < to {
			found = append(found, Piece{Text: s[from:to], Marked: marked})
		}
	}
	at := from
	for i := 0; i < len(marks); {
		start, end := max(marks[i].start, from), marks[i].end
		for i++; i < len(marks) && marks[i].start < end; i++ {
			end = max(end, marks[i].end) // it goes on with the next
		}
		if end = min(end, to); start < end {
			add(at, start, false)
			add(start, end, true)
			at = end
		}
	}
	add(at, to, false)
	return found
}
