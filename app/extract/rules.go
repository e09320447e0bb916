package extract

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed rules.yaml
var rulesFile []byte

// Rules say how to recognize fields in a text.
type Rules struct {
	cleaners    map[string]cleaner // of the fields of patterns
	words       vocabulary
	bodyStart   *regexp.Regexp // the first words of the body of an instrument
	tailStart   *regexp.Regexp // the first words of its signatures
	reference   *regexp.Regexp // words on a line about another instrument
	titleWords  map[string]bool
	titles      vocabulary // the same words, which OCR may have misread
	nameEnd     *regexp.Regexp
	description *regexp.Regexp // of a party: "a single man"
	suffixes    *regexp.Regexp // what follows a name after a comma: "Jr.", "LLC", "Trustee"
	entities    map[string]bool
	entityWords vocabulary // the same words, which OCR may have misread
	givenNames  map[string]bool
	surnames    map[string]bool
	notNames    map[string]bool
	notParty    *regexp.Regexp // what a party is: "Ohio corporation"
	labels      labels
	partyStart  *regexp.Regexp // a word after which the names of a party start
	conveyance  *regexp.Regexp // a word between the parties
	patterns    patternSet
	stamps      patternSet // those of patterns for recording stamps
	macros      macros
	added       []countyPattern // the administrator's patterns
	county      patternSet      // those that apply to the county, set by For
}

// ruleFile is the content of rules.yaml.
type ruleFile struct {
	Vocabulary   string              `yaml:"vocabulary"`
	Macros       []map[string]string `yaml:"macros"`
	BodyStart    []string            `yaml:"body_start"`
	TailStart    []string            `yaml:"tail_start"`
	Reference    []string            `yaml:"reference"`
	TitleWords   string              `yaml:"title_words"`
	NameEnd      []string            `yaml:"name_end"`
	Descriptions []string            `yaml:"descriptions"`
	Suffixes     []string            `yaml:"suffixes"`
	Entities     string              `yaml:"entities"`
	GivenNames   string              `yaml:"given_names"`
	Surnames     string              `yaml:"surnames"`
	NotNames     string              `yaml:"not_names"`
	NotParty     []string            `yaml:"not_party"`
	LabelStart   string              `yaml:"label_start"`
	LabelEnd     string              `yaml:"label_end"`
	Labels       []labelRule         `yaml:"labels"`
	PartyStart   []string            `yaml:"party_start"`
	Conveyance   []string            `yaml:"conveyance"`
	Patterns     []patternRule       `yaml:"patterns"`
}

// patternRule is a pattern in rules.yaml or in the administrator's file.
type patternRule struct {
	Find      string   `yaml:"find"`       // regular expression; its groups are named after fields
	At        string   `yaml:"at"`         // words that Find starts with; "#" is a number
	In        string   `yaml:"in"`         // part of the document, see zones
	LineStart bool     `yaml:"line_start"` // only at the start of a line
	NotAfter  string   `yaml:"not_after"`  // words that Find doesn't follow
	Near      string   `yaml:"near"`       // a regular expression that must match within nearLines
	Types     []string `yaml:"types"`      // only in instruments of these types
	NotTypes  []string `yaml:"not_types"`  // not in instruments of these types
}

// DefaultRules returns the built-in rules.
var DefaultRules = sync.OnceValue(func() *Rules {
	rules, err := parseRules(rulesFile)
	if err != nil {
		panic(fmt.Sprintf("extract: rules.yaml: %v", err)) // the tests parse it
	}
	return rules
})

func parseRules(text []byte) (*Rules, error) {
	var file ruleFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	r := &Rules{cleaners: cleaners(), words: newVocabulary(strings.Fields(file.Vocabulary)), titleWords: wordSet(file.TitleWords),
		titles: newVocabulary(strings.Fields(file.TitleWords)), entities: wordSet(file.Entities),
		entityWords: newVocabulary(strings.Fields(file.Entities)),
		givenNames:  wordSet(file.GivenNames), surnames: wordSet(file.Surnames), notNames: wordSet(file.NotNames)}
	r.macros = newMacros(file.Macros)
	for _, list := range []struct {
		to         **regexp.Regexp
		from       []string
		start, end string
	}{
		{&r.bodyStart, file.BodyStart, ``, ``}, {&r.tailStart, file.TailStart, `\b`, ``}, {&r.reference, file.Reference, `\b`, `\b`},
		{&r.nameEnd, file.NameEnd, ``, ``}, {&r.notParty, file.NotParty, ``, ``},
		{&r.description, file.Descriptions, ``, ``}, {&r.suffixes, file.Suffixes, `\A\s*`, ``},
		{&r.partyStart, file.PartyStart, ``, ``}, {&r.conveyance, file.Conveyance, `\b`, `\b`},
	} {
		text := `(?ims)` + list.start + `(?:` + r.macros.expand(strings.Join(list.from, "|")) + `)` + list.end
		var err error
		if *list.to, err = regexp.Compile(text); err != nil {
			return nil, err
		}
	}
	var err error
	if r.labels, err = newLabels(file.Labels, r.macros.expand(file.LabelStart), r.macros.expand(file.LabelEnd)); err != nil {
		return nil, err
	}
	for n, rule := range file.Patterns {
		p, err := rule.compile(r)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", n+1, err)
		}
		r.patterns.add(p)
		if p.zone == inStamp || p.zone == inHeader {
			same := *p
			r.stamps.add(&same)
		}
	}
	return r, nil
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// macros replaces names in braces in patterns. A macro may use earlier macros.
type macros struct{ replacer *strings.Replacer }

func newMacros(list []map[string]string) macros {
	var pairs []string
	for _, item := range list {
		for name, text := range item {
			text = macros{strings.NewReplacer(pairs...)}.expand(text)
			pairs = append(pairs, "{"+name+"}", "(?:"+text+")")
		}
	}
	return macros{strings.NewReplacer(pairs...)}
}

// spaces matches spaces. A space that has a quantifier of its own isn't repeated otherwise.
var spaces = regexp.MustCompile(` +([*?]?)`)

// expand returns a pattern as a regular expression. A space matches any white space.
func (m macros) expand(pattern string) string {
	pattern = spaces.ReplaceAllStringFunc(strings.TrimSpace(pattern), func(found string) string {
		if quantifier := strings.TrimLeft(found, " "); quantifier != "" {
			return `\s` + quantifier
		}
		return `\s+`
	})
	return m.replacer.Replace(pattern)
}

// zone is a part of a document.
type zone string

// The zones. A stamp is above the body, after the signatures, or at the edge of a page.
const (
	anywhere zone = ""
	inHeader zone = "header"
	inStamp  zone = "stamp"
	inBody   zone = "body"
	inTail   zone = "tail"
)

var zones = []zone{anywhere, inHeader, inStamp, inBody, inTail}

// pattern is a compiled patternRule.
type pattern struct {
	rank            int // patterns with a lower rank win
	find            *regexp.Regexp
	at              []string
	zone            zone
	lineStart       bool
	notAfter        []string
	near            *regexp.Regexp
	types, notTypes []string
}

// patternSet is a list of patterns by the words they start with.
type patternSet struct {
	list   []*pattern
	byWord map[string][]*pattern
}

func (s *patternSet) add(p *pattern) {
	if s.byWord == nil {
		s.byWord = map[string][]*pattern{}
	}
	p.rank = len(s.list)
	s.list = append(s.list, p)
	for _, word := range p.at {
		s.byWord[word] = append(s.byWord[word], p)
	}
}

func (rule patternRule) compile(r *Rules) (*pattern, error) {
	m := r.macros
	p := &pattern{at: strings.Fields(rule.At), zone: zone(rule.In), lineStart: rule.LineStart,
		notAfter: strings.Fields(rule.NotAfter), types: rule.Types, notTypes: rule.NotTypes}
	start := ""
	if len(p.at) > 0 {
		start = `\A`
	}
	if _, err := regexp.Compile(m.expand(rule.Find)); err != nil {
		return nil, err
	}
	var err error
	if p.find, err = regexp.Compile(`(?is)` + start + `(?:` + m.expand(rule.Find) + `)`); err != nil {
		return nil, err
	}
	if rule.Near != "" {
		if p.near, err = regexp.Compile(`(?is)` + m.expand(rule.Near)); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(zones, p.zone) {
		return nil, fmt.Errorf("unknown part %q; the parts are header, stamp, body, and tail", rule.In)
	}
	fields := 0
	for _, name := range p.find.SubexpNames() {
		if name == "" {
			continue
		}
		if r.cleaners[name] == nil {
			return nil, fmt.Errorf("unknown field %q", name)
		}
		fields++
	}
	if fields == 0 {
		return nil, errors.New("no group is named after a field, as in (?P<book>[0-9]+)")
	}
	return p, nil
}
