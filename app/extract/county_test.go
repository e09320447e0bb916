package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

func TestWithPatterns(t *testing.T) {
	const pattern = "- county: Kanawha\n  state: WV\n  find: 'Kanawha Recording {no}(?P<instrument_number>{n})'\n  in: header\n"
	for _, c := range []struct{ name, text, want string }{
		{"valid", pattern, ""},
		{"empty", "# none yet\n", ""},
		{"not a list", "patterns: 1\n", "line 1: must be a list of patterns"},
		{"not a pattern", "- 1\n", "line 1: must be a pattern with the key find"},
		{"no find", "- county: Kanawha\n", "line 1: find is missing"},
		{"unknown key", pattern + "  where: header\n", `line 5: unknown key "where"; the keys are county, state, find, in, near, and line_start`},
		{"repeated key", pattern + "  in: tail\n", "line 5: the key in is repeated"},
		{"unknown part", "- find: '(?P<book>1)'\n  in: middle\n", `line 1: unknown part "middle"; the parts are header, stamp, body, and tail`},
		{"unknown field", "- county: Kanawha\n  find: '(?P<color>1)'\n", `line 2: unknown field "color"`},
		{"no field", "- find: '[0-9]+'\n", "line 1: no group is named after a field, as in (?P<book>[0-9]+)"},
		{"not a regular expression", pattern + "- find: '(?P<book>['\n", "line 5: error parsing regexp: missing closing ]: `[`"},
		{"too long", "- find: " + strings.Repeat("a", 2000) + "\n", "line 1: find must not be longer than 1000 characters"},
		{"too many", strings.Repeat("- find: '(?P<book>1)'\n", 201), "line 1: must not have more than 200 patterns"},
		{"too many repetitions", pattern + "- find: '(?P<book>(abcdefghij[a-z]){999})'\n",
			"line 5: the pattern repeats too much; use * or + instead of a large number in braces"},
		{"too many repetitions nearby", "- find: '(?P<book>1)'\n  near: '(abcdefgh[0-9]){999}'\n",
			"line 1: the pattern repeats too much; use * or + instead of a large number in braces"},
		{"too many repetitions together", strings.Repeat("- find: '(?P<book>[a-z]{1,900})'\n", 100),
			"line 1: the patterns together repeat too much; use * or + instead of large numbers in braces"},
		{"some repetitions", "- find: '(?P<book>[0-9]{1,12}) of ([A-Z][a-z]{1,40} ){1,6}{date}{time}{amount}{no}'\n", ""},
		{"syntax", "- find: [\n", "line 1: did not find expected node content"},
		{"two documents", pattern + "---\n- 1\n", "line 5: must contain only one YAML document"},
		{"not a truth value", "- find: '(?P<book>1)'\n  line_start: maybe\n", "line 2: line_start must be true or false"},
		{"value that is a list", "- find: [1]\n", "line 1: find must be text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, problems := extract.DefaultRules().WithPatterns([]byte(c.text))
			got := ""
			if len(problems) > 0 {
				got = problems[0].String()
			}
			if got != c.want {
				t.Errorf("problem is %q, want %q", got, c.want)
			}
			if len(problems) > 0 && rules != extract.DefaultRules() {
				t.Error("rules changed in spite of the problems")
			}
		})
	}
}

func TestCountyPatterns(t *testing.T) {
	rules, problems := extract.DefaultRules().WithPatterns([]byte(`
- county: Kanawha County
  state: WV
  find: 'Kanawha Recording {no}(?P<instrument_number>[0-9]{4})'
- find: 'Deed Book (?P<book>[0-9]+) Leaf (?P<page>[0-9]+)'
  near: Clerk
`))
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	text := "Kanawha Recording No. 4711\nDocument No. 99887766\nDeed Book 12 Leaf 34\nCounty Clerk\n"
	for _, c := range []struct{ county, state, want string }{
		{"kanawha", "West Virginia", "4711 12 34"}, {"Kanawha", "WV", "4711 12 34"},
		{"Kanawha", "KY", "99887766 12 34"}, {"", "", "99887766 12 34"},
	} {
		fields := extract.Read([]extract.Page{extract.PlainText(text)}, rules.For(c.county, c.state), model.NewDocumentTypes(), time.Now())
		got := fmt.Sprint(fields[extract.InstrumentNumber].Value(), " ", fields[extract.Book].Value(), " ", fields[extract.PageNumber].Value())
		if got != c.want {
			t.Errorf("fields in %q, %q are %q, want %q", c.county, c.state, got, c.want)
		}
	}
}
