package phrase

import (
	"strings"
	"unicode"
)

// wordTree is a prefix tree of the quoted words. It compares a position of a text with all words at
// the same time.
type wordTree struct {
	plain, numbers wordNode // a word is in numbers if it has a digit, because the text may group it differently
}

// wordNode is a node of the tree. The path to it consists of the characters with which one or more
// words start.
type wordNode struct {
	r      rune           // last character of the path
	end    bool           // a word ends here
	prefix bool           // a prefix ends here, so the word in the text may be longer
	next   [4][]*wordNode // by the number of separators that may precede the next character in the text
}

func newWordTree(list []word) *wordTree {
	t := &wordTree{}
	for _, w := range list {
		n := &t.plain
		if w.number {
			n = &t.numbers
		}
		for k, r := range w.runes {
			n = n.child(r, w.maxSeparators(k))
		}
		n.end, n.prefix = true, n.prefix || w.prefix
	}
	return t
}

// maxSeparators returns the maximum number of separators that may precede character k of the word
// in the text.
func (w *word) maxSeparators(k int) int {
	switch {
	case k == 0:
		return 0
	case w.gap[k]:
		return 3
	case unicode.IsDigit(w.runes[k-1]) != unicode.IsDigit(w.runes[k]):
		return 2
	case w.number:
		return 1
	}
	return 0
}

// child returns the child for r. If there is none, it adds one.
func (n *wordNode) child(r rune, separators int) *wordNode {
	for _, c := range n.next[separators] {
		if c.r == r {
			return c
		}
	}
	c := &wordNode{r: r}
	n.next[separators] = append(n.next[separators], c)
	return c
}

// longest returns the end of the longest match that starts at i, or -1 if there is none.
func (t *wordTree) longest(text []rune, i int, run *wordRun) int {
	end := -1
	if !isWordCharacter(text[i]) || !isBoundary(text, i) {
		return end
	}
	for _, tree := range []*wordNode{&t.plain, &t.numbers} {
		for _, c := range tree.next[0] {
			if c.r == text[i] {
				end = max(end, c.match(text, i+1, run))
			}
		}
	}
	return end
}

// match returns the end of the longest match that continues from this node at text[i], or -1 if
// there is none.
func (n *wordNode) match(text []rune, i int, run *wordRun) int {
	end := -1
	switch {
	case n.prefix:
		end = run.endAt(text, i)
	case n.end && isBoundary(text, i):
		end = i
	}
	for separators, next := range n.next {
		if len(next) == 0 {
			continue
		}
		at := skipSeparators(text, i, separators)
		if at >= len(text) || !isWordCharacter(text[at]) {
			continue
		}
		for _, c := range next {
			if c.r == text[at] {
				end = max(end, c.match(text, at+1, run))
			}
		}
	}
	return end
}

// skipSeparators returns the position after the separators at i. If there are more than n
// separators, it returns i. If n is 1, the separator must be one that occurs in numbers.
func skipSeparators(text []rune, i, n int) int {
	from := i
	for found := 0; i < len(text) && !isWordCharacter(text[i]); i++ {
		if isIgnored(text[i]) {
			continue
		}
		if found++; found > n || n == 1 && !strings.ContainsRune("-./", text[i]) {
			return from
		}
	}
	return i
}

// wordRun is the part of a word in the text that endAt scanned last.
type wordRun struct{ from, to int }

// endAt returns the end of the word that contains text[i]. It scans a long word only once, even if
// many prefixes match it.
func (s *wordRun) endAt(text []rune, i int) int {
	if i < s.from || i > s.to {
		s.from, s.to = i, i
		for s.to < len(text) && isWordCharacter(text[s.to]) {
			s.to++
		}
	}
	return s.to
}

// find returns up to n matches of the words. Adjacent matches are merged into one.
func (t *wordTree) find(text []rune, n int) []Span {
	folded, origin := fold(text)
	var spans []Span
	lastEnd := 0 // end of the previous match in folded
	run := wordRun{-1, -1}
	for i := 0; i < len(folded); {
		end := t.longest(folded, i, &run)
		last := len(spans) - 1
		if end < 0 || last >= 0 && origin[i] < spans[last].End {
			i++
			continue
		}
		if last >= 0 && adjacent(folded[lastEnd:i]) {
			spans[last].End = origin[end-1] + 1
		} else if len(spans) == n {
			break
		} else {
			spans = append(spans, Span{origin[i], origin[end-1] + 1})
		}
		i, lastEnd = end, end
	}
	return spans
}
