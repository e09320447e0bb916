package extract

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/model"
	"deedkeep/app/strictyaml"
)

// PatternsFileName is the name of the file in the data directory that contains the administrator's
// patterns.
const PatternsFileName = "patterns.yaml"

// Limits on the administrator's patterns.
const (
	maxPatterns      = 200
	maxPatternLength = 1000
	maxPatternSize   = 10_000  // of a compiled pattern: its memory, and the time for a match, grow with it
	maxPatternsSize  = 100_000 // of all patterns together
)

// Problem is a reason why a pattern file isn't valid.
type Problem struct {
	Line   int // 0 if it concerns the entire file
	Reason string
}

// String returns the problem with its line.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Reason
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
}

// countyPattern is a pattern for a county, a state, or all documents.
type countyPattern struct {
	county, state string // folded; "" for any
	pattern       *pattern
	size          int // see compiledSize
}

// WithPatterns returns the rules with the patterns of a file, which take precedence over the others. The
// file is a YAML list:
//
//   - county: Kanawha
//     state: WV
//     find: 'Kanawha Recording {no}(?P<instrument_number>{n})'
//     in: header
//
// If there are problems, the rules are those without the file.
func (r *Rules) WithPatterns(text []byte) (*Rules, []Problem) {
	root, err := strictyaml.Parse(text)
	if err != nil {
		return r, []Problem{syntaxProblem(err)}
	}
	if root == nil {
		return r, nil
	}
	if root.Kind != yaml.SequenceNode {
		return r, []Problem{{root.Line, "must be a list of patterns"}}
	}
	if len(root.Content) > maxPatterns {
		return r, []Problem{{root.Line, fmt.Sprintf("must not have more than %d patterns", maxPatterns)}}
	}
	var problems []Problem
	added := *r
	added.added = slices.Clone(r.added)
	size := 0
	for _, node := range root.Content {
		p, wrong := r.parsePattern(node)
		problems = append(problems, wrong...)
		added.added, size = append(added.added, p), size+p.size
	}
	if len(problems) == 0 && size > maxPatternsSize {
		problems = []Problem{{root.Line, "the patterns together repeat too much; use * or + instead of large numbers in braces"}}
	}
	if len(problems) > 0 {
		return r, problems
	}
	return &added, nil
}

func syntaxProblem(err error) Problem {
	var failed *strictyaml.Error
	switch {
	case !errors.As(err, &failed):
		return Problem{0, err.Error()}
	case failed.Reason == "":
		return Problem{failed.Line, "must contain only one YAML document"}
	}
	return Problem{failed.Line, failed.Reason}
}

// parsePattern parses one pattern of a file.
func (r *Rules) parsePattern(node *yaml.Node) (p countyPattern, problems []Problem) {
	add := func(at *yaml.Node, format string, args ...any) {
		problems = append(problems, Problem{at.Line, fmt.Sprintf(format, args...)})
	}
	if node.Kind != yaml.MappingNode {
		add(node, "must be a pattern with the key find")
		return p, problems
	}
	var rule patternRule
	find := node
	seen := map[string]bool{}
	for n := 0; n+1 < len(node.Content); n += 2 {
		key, value := node.Content[n], node.Content[n+1]
		target := map[string]*string{"county": &p.county, "state": &p.state, "find": &rule.Find, "in": &rule.In, "near": &rule.Near}[key.Value]
		switch {
		case seen[key.Value]:
			add(key, "the key %s is repeated", key.Value)
		case value.Kind != yaml.ScalarNode:
			add(value, "%s must be text", key.Value)
		case key.Value == "line_start":
			lineStart, err := strconv.ParseBool(value.Value)
			if err != nil {
				add(value, "line_start must be true or false")
			}
			rule.LineStart = lineStart
		case target == nil:
			add(key, "unknown key %q; the keys are county, state, find, in, near, and line_start", key.Value)
		case len(value.Value) > maxPatternLength:
			add(value, "%s must not be longer than %d characters", key.Value, maxPatternLength)
		default:
			*target = value.Value
		}
		if key.Value == "find" {
			find = value
		}
		seen[key.Value] = true
	}
	p.county, p.state = model.FoldCounty(p.county), model.FoldState(p.state)
	if strings.TrimSpace(rule.Find) == "" {
		add(node, "find is missing")
	}
	if len(problems) > 0 {
		return p, problems
	}
	if err := p.compile(r, rule); err != nil {
		add(find, "%v", err)
	}
	return p, problems
}

// compile sets the compiled rule and its size.
func (p *countyPattern) compile(r *Rules, rule patternRule) (err error) {
	if p.size = rule.compiledSize(r); p.size > maxPatternSize {
		return errors.New("the pattern repeats too much; use * or + instead of a large number in braces")
	}
	p.pattern, err = rule.compile(r)
	return err
}

// compiledSize estimates the size of the compiled rule, without compiling it.
func (rule patternRule) compiledSize(r *Rules) (size int) {
	for _, expression := range []string{rule.Find, rule.Near} {
		if parsed, err := syntax.Parse(r.macros.expand(expression), syntax.Perl); err == nil {
			size += compiledSize(parsed)
		}
	}
	return size
}

// compiledSize estimates the number of instructions of a compiled expression, without compiling it.
func compiledSize(e *syntax.Regexp) int {
	size := 1 + len(e.Rune)
	for _, part := range e.Sub {
		size += compiledSize(part)
	}
	if e.Op == syntax.OpRepeat {
		size *= max(e.Min, e.Max, 1)
	}
	return size
}

// For returns the rules for the documents of a county. The county and the state may be "".
func (r *Rules) For(county, state string) *Rules {
	if len(r.added) == 0 {
		return r
	}
	chosen := *r
	chosen.county = patternSet{}
	for _, p := range r.added {
		if (p.county == "" || p.county == model.FoldCounty(county)) && (p.state == "" || p.state == model.FoldState(state)) {
			same := *p.pattern
			chosen.county.add(&same)
		}
	}
	return &chosen
}
