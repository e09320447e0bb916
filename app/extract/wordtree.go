package extract

import (
	"strings"
	"unicode"
)

// wordTree is what is looked for in quotes by its characters: however many words there
// are, each place of a text is held against those that begin as it does, all at once.
type wordTree struct {
	plain, numbers wordNode // those with a digit may be parted where others may not
}

// wordNode is behind the characters that several words begin with.
type wordNode struct {
	r      rune // the last of them
	parted bool // something else stood before it
	whole  bool // a word ends here
	begins bool // a word ends here that the text's may go on after
	next   []*wordNode
}

func newWordTree(list []word) *wordTree {
	t := &wordTree{}
	for _, w := range list {
		n := &t.plain
		if w.number {
			n = &t.numbers
		}
		for k, r := range w.runes {
			n = n.to(r, k > 0 && w.parted[k])
		}
		n.whole, n.begins = true, n.begins || w.begins
	}
	return t
}

func (n *wordNode) to(r rune, parted bool) *wordNode {
	for _, c := range n.next {
		if c.r == r && c.parted == parted {
			return c
		}
	}
	c := &wordNode{r: r, parted: parted}
	n.next = append(n.next, c)
	return c
}

// longest returns where the longest word ends that begins at i, -1 where none does.
func (t *wordTree) longest(text []rune, i int, run *stretch) int {
	end := -1
	if !bears(text[i]) || !edge(text, i) {
		return end
	}
	for _, c := range t.plain.next {
		if c.r == text[i] {
			end = max(end, c.match(text, i+1, false, run))
		}
	}
	for _, c := range t.numbers.next {
		if c.r == text[i] {
			end = max(end, c.match(text, i+1, true, run))
		}
	}
	return end
}

// match returns where the longest word ends that goes on from here with text[i].
func (n *wordNode) match(text []rune, i int, number bool, run *stretch) int {
	end := -1
	switch {
	case n.begins:
		end = run.end(text, i)
	case n.whole && edge(text, i):
		end = i
	}
	if i >= len(text) || len(n.next) == 0 {
		return end
	}
	goesOn := bears(text[i])
	var across [4]int // where it goes on behind as much as may part it, plus one
	for _, c := range n.next {
		at := i
		if !goesOn {
			most := n.apart(c, number)
			if across[most] == 0 {
				across[most] = over(text, i, most) + 1
			}
			at = across[most] - 1
		}
		if at < len(text) && text[at] == c.r {
			end = max(end, c.match(text, at+1, number, run))
		}
	}
	return end
}

// apart is how many characters may stand in the text between two of a word.
func (n *wordNode) apart(c *wordNode, number bool) int {
	switch {
	case c.parted:
		return 3
	case unicode.IsDigit(n.r) != unicode.IsDigit(c.r):
		return 2
	case number:
		return 1
	}
	return 0
}

// over goes over what may stand in the text between two characters of a word, of which
// one alone must be a sign of numbers.
func over(text []rune, i, most int) int {
	from := i
	for n := 0; i < len(text) && !bears(text[i]); i++ {
		if slightly(text[i]) {
			continue
		}
		if n++; n > most || most == 1 && !strings.ContainsRune("-./", text[i]) {
			return from
		}
	}
	return i
}

// stretch is the word of the text, or the end of it, that was gone over last.
type stretch struct{ from, to int }

// end is where the word ends that text[i] may be in. One that many beginnings lead into
// is gone over once, however long it is.
func (s *stretch) end(text []rune, i int) int {
	if i < s.from || i > s.to {
		s.from, s.to = i, i
		for s.to < len(text) && bears(text[s.to]) {
			s.to++
		}
	}
	return s.to
}

// find gives the places of words, of which those that follow each other are one.
func (t *wordTree) find(text []rune, most int) []Span {
	folded, at := fold(text)
	var spans []Span
	last := 0 // where the one before ended
	run := stretch{-1, -1}
	for i := 0; i < len(folded); {
		end := t.longest(folded, i, &run)
		n := len(spans)
		if end < 0 || n > 0 && at[i] < spans[n-1].End {
			i++
			continue
		}
		if n > 0 && beside(folded[last:i]) {
			spans[n-1].End = at[end-1] + 1
		} else if n == most {
			break
		} else {
			spans = append(spans, Span{at[i], at[end-1] + 1})
		}
		i, last = end, end
	}
	return spans
}
