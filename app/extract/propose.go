package extract

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/model"
)

// RecordedInstrument is an instrument that a person recorded, and the pages that it was recorded from.
type RecordedInstrument struct {
	Pages  []Page
	Fields map[string]string // the numbers of its recording stamp, by the names of fields: an instrument number, a book, a page
}

// Proposal is a pattern that reads a number of a county's recording stamps, which the rules miss.
type Proposal struct {
	Field string
	Line  string // of a document, for example
	Text  string // a list with the pattern, for Rules.WithPatterns
	Right int    // recorded instruments whose number is read as a person recorded it
	Wrong int    // those whose number is read differently
	Had   int    // those whose number was right without the pattern
}

// Limits on proposals.
const (
	minSameLabel   = 2 // documents with a label, so that it isn't a coincidence
	maxTried       = 8 // labels that are tried
	maxLabelWords  = 4
	maxLabelLength = 40 // characters
)

// Propose returns patterns for a county. It looks for numbers that people recorded and that the rules don't read, takes the
// label before them and their form as a pattern, and tries the pattern on all recorded instruments. It returns those
// with which more numbers are right, and no more are wrong.
func (r *Rules) Propose(ctx context.Context, county, state string, recorded []RecordedInstrument, now time.Time) (
	list []Proposal, err error) {
	p := proposer{r, county, state, recorded, now}
	before, err := p.read(ctx, r)
	if err != nil {
		return nil, err
	}
	type label struct{ field, find string }
	found := map[label][]string{} // the lines with a label, one of each document
	for n, doc := range recorded {
		for field, want := range doc.Fields {
			if model.NormalizeRecordingNumber(want) == "" || isSameNumber(before[n][field].Value(), want) {
				continue
			}
			if line, find := findLabel(doc.Pages, field, want); find != "" {
				found[label{field, find}] = append(found[label{field, find}], line)
			}
		}
	}
	for l, lines := range found {
		if len(lines) >= minSameLabel {
			list = append(list, Proposal{Field: l.field, Text: p.pattern(l.find), Line: slices.Min(lines), Right: len(lines)})
		}
	}
	slices.SortFunc(list, func(a, b Proposal) int { return cmp.Or(b.Right-a.Right, cmp.Compare(a.Text, b.Text)) })
	var kept []Proposal
	for _, l := range list[:min(len(list), maxTried)] {
		rules, problems := r.WithPatterns([]byte(l.Text))
		if len(problems) > 0 {
			continue
		}
		after, err := p.read(ctx, rules)
		if err != nil {
			return nil, err
		}
		had, wrong := p.count(before, l.Field)
		if l.Right, l.Wrong = p.count(after, l.Field); l.Right > had && l.Wrong <= wrong {
			l.Had = had
			kept = append(kept, l)
		}
	}
	return kept, nil
}

// proposer has what Propose is asked.
type proposer struct {
	rules         *Rules
	county, state string
	recorded      []RecordedInstrument
	now           time.Time
}

// read returns the fields that are read in each document.
func (p proposer) read(ctx context.Context, rules *Rules) (list []Fields, err error) {
	for _, doc := range p.recorded {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, Read(doc.Pages, rules.For(p.county, p.state), model.NewDocumentTypes(), p.now))
	}
	return list, nil
}

// count returns how many documents have a field as it was recorded, and how many have it differently.
func (p proposer) count(read []Fields, field string) (right, wrong int) {
	for n, doc := range p.recorded {
		want, recorded := doc.Fields[field]
		got := read[n][field].Value()
		switch {
		case got == "" || !recorded:
		case isSameNumber(got, want):
			right++
		default:
			wrong++
		}
	}
	return right, wrong
}

// pattern returns a list with the pattern that an expression is for the county.
func (p proposer) pattern(find string) string {
	item := struct {
		County string `yaml:"county,omitempty"`
		State  string `yaml:"state,omitempty"`
		Find   string `yaml:"find"`
		In     string `yaml:"in"`
	}{p.county, p.state, find, "stamp"}
	text, err := yaml.Marshal([]any{item})
	if err != nil { // a string can always be encoded
		return ""
	}
	return string(text)
}

func isSameNumber(a, b string) bool {
	return model.NormalizeRecordingNumber(a) == model.NormalizeRecordingNumber(b)
}

// labelWord matches a word of a label.
var labelWord = regexp.MustCompile(`\p{L}+`)

// findLabel returns the first line of a stamp with a number after a label, and the expression that matches them. The label
// is before the number, or alone on the line above.
func findLabel(pages []Page, field, number string) (line, find string) {
	value := regexp.MustCompile(`(?i)(?:^|[^\pL\pN])` + regexp.QuoteMeta(number) + `(?:[^\pL\pN]|$)`)
	for _, page := range pages {
		above := ""
		for n, l := range page.Lines {
			isEdge := n < topLines || n >= len(page.Lines)-bottomLines
			if at := value.FindStringIndex(l.Text); at != nil && isEdge && !prose.MatchString(l.Text) {
				label := strings.TrimSpace(l.Text[:at[0]])
				if label == "" && at[1] == len(l.Text) {
					label = above
				}
				if label = labelExpression(label); label != "" {
					return l.Text, label + `\W*(?P<` + field + `>` + numberExpression(number) + `)\b`
				}
			}
			above = strings.TrimSpace(l.Text)
		}
	}
	return "", ""
}

// labelExpression returns an expression for the last words of a label, or "" if they can't be one.
func labelExpression(label string) string {
	if end := strings.LastIndexFunc(label, unicode.IsDigit); end >= 0 {
		label = label[end+1:] // of another number
	}
	words := labelWord.FindAllString(label, -1)
	words = words[max(0, len(words)-maxLabelWords):]
	if len(label) > maxLabelLength || !slices.ContainsFunc(words, func(word string) bool { return len(word) > 2 }) {
		return ""
	}
	return `\b` + strings.Join(words, `\W+`)
}

// numberExpression returns an expression for numbers of the form of a number: "2019-001" becomes [0-9]+-[0-9]+.
func numberExpression(number string) string {
	var b strings.Builder
	kind := func(c rune) string {
		switch {
		case unicode.IsDigit(c):
			return "[0-9]+"
		case unicode.IsLetter(c):
			return `\pL+`
		}
		return regexp.QuoteMeta(string(c))
	}
	last := ""
	for _, c := range number {
		if k := kind(c); k != last || !strings.HasSuffix(k, "+") || len(k) == 2 {
			b.WriteString(k)
			last = k
		}
	}
	return b.String()
}
