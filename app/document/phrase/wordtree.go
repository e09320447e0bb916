package phrase

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
	r      rune           // the last of them
	whole  bool           // a word ends here
	begins bool           // a word ends here that the text's may go on after
	next   [4][]*wordNode // by how many characters may stand before them in the text
}

func newWordTree(list []word) *wordTree {
	t := &wordTree{}
	for _, w := range list {
		n := &t.plain
		if w.number {
			n = &t.numbers
		}
		for k, r := range w.runes {
			n = n.to(r, w.apart(k))
		}
		n.whole, n.begins = true, n.begins || w.begins
	}
	return t
}

// apart is how many characters may stand in the text before the word's character k.
func (w *word) apart(k int) int {
	switch {
	case k == 0:
		return 0
	case w.parted[k]:
		return 3
	case unicode.IsDigit(w.runes[k-1]) != unicode.IsDigit(w.runes[k]):
		return 2
	case w.number:
		return 1
	}
	return 0
}

func (n *wordNode) to(r rune, apart int) *wordNode {
	for _, c := range n.next[apart] {
		if c.r == r {
			return c
		}
	}
	c := &wordNode{r: r}
	n.next[apart] = append(n.next[apart], c)
	return c
}

// longest returns where the longest word ends that begins at i, -1 where none does.
func (t *wordTree) longest(text []rune, i int, run *stretch) int {
	end := -1
	if !bears(text[i]) || !edge(text, i) {
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

// match returns where the longest word ends that goes on from here with text[i].
func (n *wordNode) match(text []rune, i int, run *stretch) int {
	end := -1
	switch {
	case n.begins:
		end = run.end(text, i)
	case n.whole && edge(text, i):
		end = i
	}
	for apart, next := range n.next {
		if len(next) == 0 {
			continue
		}
		at := over(text, i, apart)
		if at >= len(text) || !bears(text[at]) {
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
