package query

import (
	"context"
	"unicode"
	"unicode/utf8"
)

// Maximum size of a snippet, in characters (consecutive blanks count as one) and in bytes.
const (
	windowWidth    = 200
	maxWindowBytes = 2_000
)

// Highlight splits a short text, such as a heading or a field, into highlighted and other pieces.
func (h *Highlighter) Highlight(s string) []Piece {
	return pieces(s, 0, len(s), h.scan(context.Background(), s).prune())
}

// Snippet returns a window of about 200 characters of a page that has the most important matches
// close together, and the weight of those matches. If there are no matches, the weight is 0 and the
// window is the start of the page. The window starts and ends between words. Its pieces,
// concatenated, are an unmodified part of the page. words is the set of required words that the
// complete page matches. If ctx ends before the complete page is examined, Snippet returns no
// matches.
func (h *Highlighter) Snippet(ctx context.Context, s string) (window []Piece, weight int, words WordSet) {
	scan := h.scan(ctx, s)
	marks := scan.prune()
	first, last, weight := h.best(marks)
	from, to := 0, 0
	if weight > 0 {
		from = marks[first].start
		for _, k := range marks[first : last+1] {
			to = max(to, k.end)
		}
	}
	from, to = widen(truncate(s, MaxHighlightBytes), from, to)
	return pieces(s, from, to, marks), weight, scan.matchedWords()
}

// best returns the first range of marks with the highest weight that fits into a window.
func (h *Highlighter) best(marks []mark) (first, last, weight int) {
	count := make([]int, len(h.targets))
	sum, from := 0, 0
	for i, k := range marks {
		if count[k.target]++; count[k.target] == 1 {
			sum += h.targets[k.target].weight
		}
		for ; k.end-marks[from].start > windowWidth && from < i; from++ {
			t := marks[from].target
			if count[t]--; count[t] == 0 {
				sum -= h.targets[t].weight
			}
		}
		if sum > weight {
			first, last, weight = from, i, sum
		}
	}
	return first, last, weight
}

// widen extends the range from..to of s to the size of a window.
func widen(s string, from, to int) (int, int) {
	to = min(to, from+len(truncate(s[from:], maxWindowBytes)))
	budget := max(windowWidth-width(s[from:to]), 0)
	before := budget / 2
	start, used := extendBack(s, from, before)
	end, _ := extendForward(s, to, budget-used)
	if end == len(s) {
		_, after := extendForward(s, to, budget)
		start, _ = extendBack(s, from, budget-after)
	}
	for start < end && isSpaceAt(s, start) {
		start++
	}
	for end > start && isSpaceAt(s, end-1) {
		end--
	}
	return start, end
}

// width returns the number of characters in s, with consecutive blanks counted as one.
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

// extendForward moves up to n characters forward from at, and then back to the end of a word. used
// is the number of characters moved.
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

// extendBack is the same as extendForward in the opposite direction.
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

// pieces splits the window from..to of s at its marks.
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
			end = max(end, marks[i].end) // merge overlapping marks
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
