package app

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// A wordRule rejects a word or phrase.
type wordRule struct {
	pattern string // a regular expression; a space matches any white space, letter case doesn't matter
	better  string // what to write instead
	fine    string // matches of this expression are removed first; optional
}

// rejectedWords apply to comments, Markdown, and the words of identifiers.
var rejectedWords = []wordRule{
	{`anew`, "again; rebuild, recreate, regenerate", ""},
	{`who(?:so)?ever`, "anyone who, the caller, the user", ""},
	{`somebody`, "someone; name the actor (the user, a client)", ""},
	{`nobody(?:'s)?`, "no one; no caller, no client", ""},
	{`anybody(?:'s)?`, "anyone; any caller, any client", ""},
	{`everybody(?:'s)?`, "everyone; all users, all clients", ""},
	{`for ever`, "permanently, forever", ""},
	{`meanwhile`, "in the meantime, while …", ``},
	{`go(?:es|ing)? on|went on|gone on`, "continue, resume, keep running",
		`go(?:es|ing)? on (?:the|a|an|each|every|its|disk|top)\b|(?:what|is) (?:is )?going on`},
	{`by (?:it|them|him|her)sel(?:f|ves)`, "automatically; alone, on its own", ""},
	{`(?:is|are|was|were|be|been|being) told|told of|tells? of|told so`, "is reported, is shown, receives; reports", ""},
	{`h(?:e|o)ld(?:s|ing)?(?: [\w']+){0,5} against`, "compare … with, check … against, verify", ""},
	{`thr(?:ow|ows|own|ew|owing)(?: \w+)? away`, "discard, delete", ""},
	{`second factors?`, "two-factor authentication, verification code", ""},
	{`made again|makes? again`, "rebuild, recreate, regenerate", ""},
	{`troubles?`, "error, failure, problem", ""},
	{`refus(?:e|es|ed|ing|als?)`, "reject, deny; rejected, denied, rejection", `connections? (?:is |are |was |were )?refused|refuse(?:s|d)? (?:a |the |all )?connections?`},
	{`what (?:be)?c[oa]mes? of|what has (?:be)?come of`, "outcome, result", ""},
	{`thin(?:s|ned|ning)? out`, "prune", ""},
	{`the (?:one|ones) before`, "the previous one", `the one before it is\b`},
	{`whilst|amongst|hitherto|thereof|therein|thereby|hence|thus`, "while, among, so", ""},
	{`neighbou?rs?(?:ing)?`, "adjacent, next to, sibling, another member (US spelling: neighbor)",
		`neighbors?|neighboring`},
	{`(?:dis)?colou?r(?:s|ed|ing|less|ful)?`, "color", `(?:dis)?color(?:s|ed|ing|less|ful)?`},
	{`grey(?:s|ed|ish)?`, "gray", ""},
	{`behaviours?|behavioural`, "behavior", ""},
	{`hono(?:u)rs?(?:ed|ing)?`, "honor; obey, apply, follow", `honor(?:s|ed|ing)?`},
	{`favou?r(?:s|ed|ing|ites?|able)?`, "favor, favorite", `favor(?:s|ed|ing|ites?|able)?`},
	{`humour|rumour|labour(?:s|ed)?|endeavour|flavours?|harbour|odour|vigour|armour(?:ed)?|parlour`, "the US spelling: -or", ""},
	{`(?:label|travel|model|signal|level|tunnel|total|channel|marshal|initial|dial|equal|fuel|counsel|quarrel|unravel|cancel)l(?:ed|ing|er)`,
		"the US spelling with one l: labeled, canceled, modeling", ""},
	{`catalogues?`, "catalog", ""},
	{`centre[sd]?`, "center", ""},
	{`licences?`, "license", ""},
	{`artefacts?`, "artifact", ""},
	{`programmes?`, "program", ""},
	{`defence|offence|pretence`, "defense, offense, pretense", ""},
	{`(?:organ|recogn|real|normal|initial|serial|summar|optim|minim|maxim|author|custom|final|special|categor|priorit|synchron|capital|character|general|util|emphas|sanit|token|visual|memor|local|standard|apolog|critic)is(?:e[sd]?|ing|ation|ations|er|ers)`,
		"the US spelling: -ize, -ization", ``},
	{`analys(?:ed|ing)|paralysed?|catalysed?`, "the US spelling: analyze", ""},
	{`towards|afterwards`, "toward, afterward", ""},
	{`column titles?`, "column headings: the title is the property's", ""},
	{`learnt|spelt|burnt|dreamt`, "learned, spelled, burned", ""},
}

// rejectedPhrases apply to comments and Markdown: most of these words are fine elsewhere.
var rejectedPhrases = []wordRule{
	{`(?:is|are|was|were|be) none`, "say it directly: isn't one, is not valid, there is no …", `there (?:is|are|was|were|may be|can be|must be) none`},
	{`(?:is|are|was|were|be) no \w+`, "“is not a …”, “is not valid”",
		`there (?:is|are|was|were|will be|may be|can be|must be|should be|would be|might be|has to be) no \w+|` +
			`(?:is|are|was|were|be) no (?:longer|more|less|fewer|better|worse|larger|smaller|greater|older|newer|later|earlier|faster|slower|higher|lower|different|op|ops|way)\b`},
	{`so many`, "n, that many; name the parameter", `so many \w+ that\b`},
	{`stands?|stood`, "is, is stored, appears, is in; represents (or drop it)", `stands? (?:for|in for)\b|stands? in\b for`},
	{`at hand`, "available, current", ""},
	{`all the same`, "anyway, still", `(?:is|are|be) all the same`},
	{`for good`, "permanently", `for good (?:measure|reasons?)`},
	{`one behind (?:the other|another)|word behind word|behind each other|behind one another`, "one after another, consecutive; exact phrase", ""},
	{`(?:is|are) (?:the|all) (?:most|least)(?: (?:that|of|a|an|any|one|it|they|bytes|[a-z]+s))`, "is the maximum, is the minimum", ``},
	{`the door|doors?`, "control socket, entry point", `door to door`},
	{`houses?`, "name the thing: data directory, server, test fixture", ""},
	{`voices?`, "transport: API, pages, command line", ""},
	{`gives? back|gave back|given back`, "returns; releases", ""},
	{`takes? (?:back|off|away)|taken (?:back|off|away)|took (?:back|off|away)`, "restore; remove, delete", ""},
	{`(?:is|are|was|were) (?:whole|in doubt)`, "is complete, is intact; is uncertain", ""},
	{`sees? to`, "ensures, makes sure, handles", ""},
	{`in the place of`, "instead of, replaces", ""},
	{`^\w+ gives? \w+`, "start with what the function does: “returns …”", `gives? up\b`},
}

// rejectedNames apply to the words of identifiers alone.
var rejectedNames = []wordRule{
	{`^(?:most|least) |\b(?:most|least)$`, "max, min",
		`most (?:recent|likely|significant|common|used|specific)|least (?:recent|recently|significant|common|used|privileged?)|at (?:most|least)`},
	{`chances?`, "rand; probability", ""},
	{`furnish(?:es|ed)?|mak(?:es?|ing) room|outr[au]n|stirs?|stirred|leans`, "a verb of the trade: create, free, evict, changed", ""},
	{`nouns?|voices?|doors?|houses?|twins?|storm|mortal`, "the term of the field: record, transport, control socket, server, duplicate", ""},
	{`so many|what came|as it were|in doubt`, "name the thing", ""},
	{`stands|anyhow|whatever|elsewhere`, "name the thing", ""},
}

// A wordHit is a rejected word at a place.
type wordHit struct {
	file   string
	line   int
	word   string
	better string
}

func (h wordHit) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s", h.file, h.line, h.word, h.better)
}

type compiledRule struct {
	pattern, fine *regexp.Regexp
	better        string
}

func compileRules(tables ...[]wordRule) []compiledRule {
	// The texts are in lower case: that is quicker than (?i).
	compile := func(pattern string) *regexp.Regexp {
		if !strings.HasPrefix(pattern, "^") {
			pattern = `\b(?:` + pattern + `)\b`
		}
		return regexp.MustCompile(strings.ReplaceAll(pattern, " ", `\s+`))
	}
	var rules []compiledRule
	for _, rule := range slices.Concat(tables...) {
		compiled := compiledRule{pattern: compile(rule.pattern), better: rule.better}
		if rule.fine != "" {
			compiled.fine = compile(rule.fine)
		}
		rules = append(rules, compiled)
	}
	return rules
}

var (
	textRules = compileRules(rejectedWords, rejectedPhrases)
	nameRules = compileRules(rejectedWords, rejectedNames)
	// Quotations and code may hold any word: they name what is stored or sent.
	quotation = regexp.MustCompile("```(?s:.*?)```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|https?://\\S+")
	// headless matches a sentence, no question, whose subject is a clause.
	headless = regexp.MustCompile(`(?:\A|[.]\s+)((?:What|Who|Whose|Whom)\s[^.?:]*)(?:[.:]|\z)`)
)

// find reports the matches of rules in text.
func find(rules []compiledRule, text string, report func(offset int, word, better string)) {
	text = lower(text)
	for _, rule := range rules {
		if !rule.pattern.MatchString(text) {
			continue
		}
		cleaned := text
		if rule.fine != nil {
			cleaned = blank(rule.fine, text)
		}
		for _, at := range rule.pattern.FindAllStringIndex(cleaned, -1) {
			report(at[0], strings.Join(strings.Fields(cleaned[at[0]:at[1]]), " "), rule.better)
		}
	}
}

// lower is strings.ToLower for ASCII, so that offsets stay the same.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// blank replaces the matches in text by as many bytes that no rule matches. Line breaks stay.
func blank(pattern *regexp.Regexp, text string) string {
	b := []byte(text)
	for _, at := range pattern.FindAllStringIndex(text, -1) {
		for i := at[0]; i < at[1]; i++ {
			if b[i] != '\n' {
				b[i] = '_'
			}
		}
	}
	return string(b)
}

// wordsInText returns the hits in a Markdown text or a comment that begins at line.
func wordsInText(name string, line int, text string) []wordHit {
	text = blank(quotation, text)
	var hits []wordHit
	report := func(offset int, word, better string) {
		hits = append(hits, wordHit{name, line + strings.Count(text[:offset], "\n"), word, better})
	}
	find(textRules, text, report)
	for _, at := range headless.FindAllStringSubmatchIndex(text, -1) {
		words := strings.Fields(text[at[2]:at[3]])
		report(at[2], strings.Join(words[:min(len(words), 5)], " ")+" …", "a real subject: “Values that …”, “Clients that …”")
	}
	return hits
}

// namesChecked caches wordsInName: most names are declared in many places.
var namesChecked = make(map[string][]wordHit)

// wordsInName returns the hits in an identifier, without their place.
func wordsInName(name string) []wordHit {
	hits, done := namesChecked[name]
	if !done {
		find(nameRules, splitName(name), func(_ int, word, better string) {
			hits = append(hits, wordHit{word: name + ": " + word, better: better})
		})
		namesChecked[name] = hits
	}
	return hits
}

// wordsInGo returns the hits in the comments and the declared names of a Go file.
func wordsInGo(name string, source []byte) ([]wordHit, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var hits []wordHit
	for _, group := range file.Comments {
		hits = append(hits, wordsInText(name, files.Position(group.Pos()).Line, commentText(group))...)
	}
	for _, ident := range declared(file) {
		for _, hit := range wordsInName(ident.Name) {
			hit.file, hit.line = name, files.Position(ident.Pos()).Line
			hits = append(hits, hit)
		}
	}
	return hits, nil
}

// commentText returns the text of a comment with its line breaks. Directives are left empty.
func commentText(group *ast.CommentGroup) string {
	var lines []string
	for _, comment := range group.List {
		text := comment.Text
		switch {
		case strings.HasPrefix(text, "/*"):
			text = strings.TrimSuffix(text[2:], "*/")
		case strings.HasPrefix(text, "// "), strings.HasPrefix(text, "//\t"):
			text = text[3:]
		case strings.HasPrefix(text, "//nolint"):
			_, text, _ = strings.Cut(text, " // ")
		default:
			text = ""
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// declared returns the names that a file declares, at their declarations.
func declared(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	add := func(list ...*ast.Ident) {
		for _, ident := range list {
			if ident != nil {
				names = append(names, ident)
			}
		}
	}
	assigned := func(list ...ast.Expr) {
		for _, left := range list {
			if ident, ok := left.(*ast.Ident); ok {
				add(ident)
			}
		}
	}
	add(file.Name)
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			add(node.Name)
		case *ast.TypeSpec:
			add(node.Name)
		case *ast.ValueSpec:
			add(node.Names...)
		case *ast.Field:
			add(node.Names...)
		case *ast.ImportSpec:
			add(node.Name)
		case *ast.LabeledStmt:
			add(node.Label)
		case *ast.AssignStmt:
			if node.Tok == token.DEFINE {
				assigned(node.Lhs...)
			}
		case *ast.RangeStmt:
			if node.Tok == token.DEFINE {
				assigned(node.Key, node.Value)
			}
		}
		return true
	})
	return names
}

// splitName returns the words of an identifier: "mostHTTPHits2" has "most http hits 2".
func splitName(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		begins := i > 0 && (unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) ||
			unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]))
		if begins || r == '_' {
			b.WriteByte(' ')
		}
		if r != '_' {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// wordsInTree returns the hits by folder, for every folder with files that are checked:
// Go files, and Markdown below .github.
func wordsInTree(tree fs.FS, names []string) (map[string][]wordHit, error) {
	found := make(map[string][]wordHit)
	for _, name := range names {
		folder := path.Dir(name)
		markdown := path.Ext(name) == ".md" && strings.HasPrefix(name, ".github/")
		if !markdown && path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		if _, known := found[folder]; !known {
			found[folder] = nil
		}
		var hits []wordHit
		if markdown {
			hits = wordsInText(name, 1, string(content))
		} else if name != "app/words_test.go" {
			if hits, err = wordsInGo(name, content); err != nil {
				return nil, err
			}
		}
		base := splitName(strings.TrimSuffix(path.Base(name), path.Ext(name)))
		find(nameRules, base, func(_ int, word, better string) {
			hits = append(hits, wordHit{name, 1, "file name: " + word, better})
		})
		found[folder] = append(found[folder], hits...)
	}
	for _, hits := range found {
		sort.SliceStable(hits, func(i, j int) bool {
			return hits[i].file < hits[j].file || hits[i].file == hits[j].file && hits[i].line < hits[j].line
		})
	}
	return found, nil
}

func TestWords(t *testing.T) {
	found, err := wordsInTree(os.DirFS(".."), tracked(t))
	if err != nil {
		t.Fatalf("check the words of the tree: %v", err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d folders have files to check", len(found))
	}
	for _, hits := range found {
		for _, hit := range hits {
			t.Error(hit)
		}
	}
}

func TestWordsFindsRejectedWords(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"clean", "// run returns the most recent rows, at most n.\nfunc run(n int) {}", ""},
		{"word", "// run is done anew.\nfunc run() {}", `"anew"`},
		{"line", "\n\n// run is done\n// anew.\nfunc run() {}", "a.go:6:"},
		{"phrase over a line break", "// run ends, and work goes\n// on.\nfunc run() {}", `"goes on"`},
		{"quotation", "// run writes \"anew\" and `anew`.\nfunc run() {}", ""},
		{"directive", "//go:generate anew\nfunc run() {}", ""},
		{"reason of a lint exception", "func run() {} //nolint:x // nobody reads it", `"nobody"`},
		{"refused", "// run reports a refused request.\nfunc run() {}", `"refused"`},
		{"connection refused", "// run handles connection refused.\nfunc run() {}", ""},
		{"stands for", "// x stands for the key.\nvar x int", ""},
		{"stands", "// x stands in the index.\nvar x int", `"stands"`},
		{"there is none", "// run returns nil if there is none.\nfunc run() {}", ""},
		{"is none", "// run fails for what is none.\nfunc run() {}", `"is none"`},
		{"no longer", "// run is no longer used, there is no lock.\nfunc run() {}", ""},
		{"is no key", "// run fails if it is no key.\nfunc run() {}", `"is no key"`},
		{"gives", "// run gives the key.\nfunc run() {}", `"run gives the"`},
		{"gives up", "// run gives up after a second.\nfunc run() {}", ""},
		{"headless", "// run reads. What is left over is ignored.\nfunc run() {}", `What is left over`},
		{"question", "// What is it?\nfunc run() {}", ""},
		{"function", "func goesOn() {}", `"goesOn: goes on"`},
		{"constant", "const mostRows = 1", `write max, min`},
		{"constant of two words", "const mostRecent = 1", ""},
		{"suffix", "const rowsMost = 1", `write max, min`},
		{"test", "func TestKeepCancelled() {}", `"TestKeepCancelled: cancelled"`},
		{"field", "type T struct{ Colour int }", `"Colour: colour"`},
		{"parameter", "func run(grey int) {}", `"grey: grey"`},
		{"variable", "func run() { neighbour := 1; _ = neighbour }", `"neighbour: neighbour"`},
		{"range", "func run() { for nobody := range 3 { _ = nobody } }", `"nobody: nobody"`},
		{"strings are not comments", "const x = `nobody`", ""},
		{"US spelling", "// color, neighbor, honored, favorite, center, normalize\nvar color int", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := fstest.MapFS{"a.go": {Data: []byte("package a\n\n" + tt.source + "\n")}}
			found, err := wordsInTree(tree, []string{"a.go"})
			if err != nil {
				t.Fatalf("check the words of a.go: %v", err)
			}
			var got []string
			for _, hit := range found["."] {
				got = append(got, hit.String())
			}
			if all := strings.Join(got, "\n"); (tt.want == "") != (all == "") || !strings.Contains(all, tt.want) {
				t.Errorf("got %q, want %q", all, tt.want)
			}
		})
	}
	t.Run("Markdown", func(t *testing.T) {
		tree := fstest.MapFS{".github/a.md": {Data: []byte("# A\n\n```\nanew\n```\n\nMade anew.\n")}}
		found, err := wordsInTree(tree, []string{".github/a.md"})
		if err != nil {
			t.Fatalf("check the words of a.md: %v", err)
		}
		if hits := found[".github"]; len(hits) != 1 || hits[0].line != 7 {
			t.Errorf("got %v, want one hit in line 7", hits)
		}
	})
}

func TestSplitName(t *testing.T) {
	for name, want := range map[string]string{
		"mostHTTPHits": "most http hits", "TestGoesOn_now": "test goes on now", "x": "x", "Top10Rows": "top 10 rows", "ID": "id",
	} {
		if got := splitName(name); got != want {
			t.Errorf("splitName(%q) = %q, want %q", name, got, want)
		}
	}
}
