package guides

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is a section of a guide that contains all words of a query.
type Hit struct {
	Guide   Guide
	Heading string // empty for the text before the first heading
	Path    string // address of the section
	Snippet []Part
}

// Part is a part of a snippet. Marked parts match a word of the query.
type Part struct {
	Text   string
	Marked bool
}

const (
	maxHits       = 20
	maxQueryWords = 10
	snippetLength = 180 // maximum length of a snippet, in characters
)

// Search returns the sections in which every word of the query occurs, the best first. Matches in
// headings and guides for everyone come first. Case doesn't count.
func Search(query string) []Hit {
	words := strings.Fields(strings.ToLower(query))
	words = words[:min(len(words), maxQueryWords)]
	if len(words) == 0 {
		return nil
	}
	type scored struct {
		section
		score int
	}
	var found []scored
	for _, s := range render().sections {
		title := strings.ToLower(s.guide.Title + " " + s.heading.Text)
		body := strings.ToLower(s.text)
		score := 0
		for _, word := range words {
			inTitle, inBody := strings.Contains(title, word), strings.Count(body, word)
			if !inTitle && inBody == 0 {
				score = -1
				break
			}
			if score += min(inBody, 5); inTitle {
				score += 20
			}
		}
		if score >= 0 {
			found = append(found, scored{s, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var hits []Hit
	for _, s := range found[:min(len(found), maxHits)] {
		hit := Hit{Guide: s.guide, Heading: s.heading.Text, Path: s.guide.Path(), Snippet: snippet(s.text, words)}
		if s.heading.ID != "" {
			hit.Path += "#" + s.heading.ID
		}
		hits = append(hits, hit)
	}
	return hits
}

// snippet returns the part of text around the first match, with all matches in it marked.
func snippet(text string, words []string) []Part {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // offsets of the two would differ
		lower = text
	}
	first, _ := nextMatch(lower, words)
	begin := max(0, first-snippetLength/3)
	if begin > 0 {
		begin += strings.IndexByte(text[begin:], ' ') + 1
	}
	end := min(len(text), begin+snippetLength)
	if space := strings.LastIndexByte(text[begin:end], ' '); end < len(text) && space > 0 {
		end = begin + space
	}
	var parts []Part
	add := func(text string, marked bool) {
		if text != "" {
			parts = append(parts, Part{strings.ToValidUTF8(text, ""), marked})
		}
	}
	if begin > 0 {
		add("… ", false)
	}
	for begin < end {
		at, length := nextMatch(lower[begin:end], words)
		if at < 0 {
			break
		}
		add(text[begin:begin+at], false)
		add(text[begin+at:begin+at+length], true)
		begin += at + length
	}
	add(text[begin:end], false)
	if end < len(text) {
		add(" …", false)
	}
	return parts
}

// nextMatch returns the position and length of the first match of any of the words, or -1.
func nextMatch(text string, words []string) (at, length int) {
	at = -1
	for _, word := range words {
		if i := strings.Index(text, word); i >= 0 && (at < 0 || i < at || i == at && len(word) > length) {
			at, length = i, len(word)
		}
	}
	return at, length
}
