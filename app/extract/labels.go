package extract

import (
	"regexp"
	"slices"
	"strings"
)

// labelRule says which party a label such as ("Grantee") after names is.
type labelRule struct {
	Field    string   `yaml:"field"`
	Words    string   `yaml:"words"`     // regular expression for the label
	Types    []string `yaml:"types"`     // only in instruments of these types
	NotTypes []string `yaml:"not_types"` // not in instruments of these types
}

// labels are the labels of parties. Each has its own group in find.
type labels struct {
	find  *regexp.Regexp
	rules []labelRule
}

func newLabels(rules []labelRule, start, end string) (l labels, err error) {
	words := make([]string, len(rules))
	for n, rule := range rules {
		words[n] = "(" + rule.Words + ")"
	}
	l.rules = rules
	l.find, err = regexp.Compile(`(?i)` + start + `(?:` + strings.Join(words, "|") + `)` + end)
	return l, err
}

// byLabel is the rank of what a label says. It is lower than that of all patterns.
const byLabel = -1

// maxLabeled is how far before a label its names may start.
const maxLabeled = 420

// maxPartyLines is how many lines the names before a label may have if no word says where they start.
const maxPartyLines = 3

// midSentence matches what is before a line that starts in the middle of a sentence: "and Acme Homes, LLC, an".
var midSentence = regexp.MustCompile(`(?:\b[a-z]+|,)\s*$`)

// otherLabel matches what may be a label that OCR misread.
var otherLabel = regexp.MustCompile(`(?i)[(\["]|\bherein`)

// maxPartyStarts is how many words before a label are tried as the start of its names.
const maxPartyStarts = 6

// readLabels returns the parties that have a label in quotes, parentheses, or brackets. They win over what patterns find.
func (r *reader) readLabels() (found []candidate) {
	text, before := r.source.text, 0
	matches := r.rules.labels.find.FindAllStringSubmatchIndex(text, maxTries)
	for _, m := range matches {
		for n, rule := range r.rules.labels.rules {
			isOther := len(rule.Types) > 0 && !slices.Contains(rule.Types, r.kind) || slices.Contains(rule.NotTypes, r.kind)
			if m[2*n+2] < 0 || isOther {
				continue
			}
			if c, ok := r.labeled(rule.Field, max(before, m[0]-maxLabeled), m[0]); ok {
				found = append(found, c)
			}
		}
		before = m[1]
	}
	return found
}

// labeled returns the names before a label at the offset to. They start after the nearest word such as "to" or "between"
// after which there are only names, or at a line or after the label before.
func (r *reader) labeled(field string, from, to int) (c candidate, ok bool) {
	if at := strings.LastIndex(r.source.text[from:to], "\n\n"); at >= 0 && strings.TrimSpace(r.source.text[from+at:to]) != "" {
		from += at
	}
	line := from // three lines above, unless another label is nearer
	if lines := strings.SplitAfter(r.source.text[from:to], "\n"); len(lines) > maxPartyLines {
		line = to - len(strings.Join(lines[len(lines)-maxPartyLines:], ""))
	}
	var starts []int
	if !midSentence.MatchString(r.source.text[:line]) {
		starts = append(starts, line)
	}
	for _, m := range r.rules.partyStart.FindAllStringIndex(r.source.text[from:to], -1) {
		starts = append(starts, from+m[1])
	}
	slices.Sort(starts)
	if len(starts) > maxPartyStarts {
		starts = starts[len(starts)-maxPartyStarts:]
	}
	for n, start := range slices.Backward(starts) {
		if n+1 < len(starts) && r.rules.conveyance.MatchString(r.source.text[start:to]) {
			return c, false
		}
		names, sure := r.names(start, to)
		end := start + len(strings.TrimRight(r.mask(start, to), " ;,"))
		between := r.source.text[end:to]
		if len(names) > 0 && sure && !otherLabel.MatchString(between) && !r.rules.bodyStart.MatchString(between) {
			return candidate{rank: byLabel, at: start, name: field, field: r.fieldOf(names, start, end)}, r.isSure(field, start, end)
		}
	}
	return c, false
}
