package app

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	yaml "go.yaml.in/yaml/v3"
	"golang.org/x/net/html"
)

// A text is one that people read, with its place in the sources. Values that are filled in are shown
// as "…".
type text struct {
	surface string // "pages", "scripts", "command line", and so on
	file    string
	line    int
	text    string
}

// rejectedTexts apply to texts that people read, in addition to rejectedWords.
var rejectedTexts = []wordRule{
	{`at hand`, "available, nearby", ""},
	{`typing errors?`, "typo", ""},
	{`vests?|(?:clear|marketable|insurable) title`, "name the finding and what to check: software gives no opinion of title", ""},
	{`all the same`, "anyway, still", `(?:is|are|be) all the same`},
	{`(?:is|are|was|were|be|been|being) made`, "is created, is rebuilt; name who creates it", ``},
}

// rejectedInPages apply to pages, scripts, and guides. Elsewhere, these words are fine.
var rejectedInPages = []wordRule{
	{`the interface`, "the API", ""},
}

var (
	readRules = compileRules(rejectedWords, rejectedTexts)
	pageRules = compileRules(rejectedWords, rejectedTexts, rejectedInPages)
	// fixedTexts are names in the code, the settings, and the data: they may have any words.
	// "cancelled" is an order status that is stored; "refused:" and "trouble:" explain values of
	// metric labels. A word in backticks or after = is a value, too.
	fixedTexts = regexp.MustCompile(`^[a-z]+$|\x60[a-z_]+\x60|="[a-z_]+"|\b[a-z]+(?:[._-][a-z_.-]+)+\b|[.#][a-z][a-z-]*|\b[Cc]ancelled\b|\b(?:refused|trouble)"?:`)
	logCall    = regexp.MustCompile(`^(?:Debug|Info|Warn|Error|Log)(?:Context|Attrs)?$`)
	action     = regexp.MustCompile(`(?s){{.*?}}`)
	literal    = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	// codeAttribute matches attributes whose values are for browsers and scripts.
	codeAttribute = regexp.MustCompile(`^(?:hx-.*|accept|action|aria-(?:controls|describedby|labelledby|owns)|` +
		`class|cx|cy|d|download|for|form|formaction|href|id|name|pattern|rel|role|src|style|type|viewbox)$`)
	readable   = regexp.MustCompile(`[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}`)
	expression = regexp.MustCompile(`\(\?[:is]|\\[bsdwS.]|\[\^|^\s*<|\bfunction\b|=>|^(?:GET|HEAD|POST|PUT|PATCH|DELETE) /|[;{]\s*$`)
)

// inline elements are part of the text around them.
var inline = []string{"a", "abbr", "b", "br", "code", "em", "i", "kbd", "mark", "small", "span", "strong", "time", "wbr"}

// textsInTree returns the texts of the named files, in their sequence.
func textsInTree(tree fs.FS, names []string) ([]text, error) {
	var texts []text
	for _, name := range names {
		extract, surface := textSource(name)
		if extract == nil {
			continue
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		found, err := extract(string(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, t := range found {
			t.file, t.surface = name, cmp.Or(t.surface, surface)
			t.text = strings.Join(strings.Fields(t.text), " ")
			if strings.ContainsFunc(t.text, unicode.IsLetter) {
				texts = append(texts, t)
			}
		}
	}
	return texts, nil
}

// textSource returns how to read the texts of a file, and their surface. It returns nil for files
// without texts.
func textSource(name string) (extract func(string) ([]text, error), surface string) {
	folder := path.Dir(name)
	switch path.Ext(name) {
	case ".go":
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || strings.HasPrefix(name, ".") {
			return nil, ""
		}
		return textsInGo, goSurface(folder)
	case ".html":
		if folder == "web/pages" {
			return textsInPage, "pages"
		}
	case ".js":
		if folder == "web/static/script" {
			return textsInScript, "scripts"
		}
	case ".md":
		if name == "README.md" || name == "data/README.md" || folder == "app/guides" || folder == ".github" {
			return textsInMarkdown, "guides"
		}
	case ".yaml":
		switch name {
		case "config.example.yaml":
			return textsInSettings, "settings"
		case "app/api/openapi.yaml":
			return textsInOpenAPI, "OpenAPI"
		}
	}
	return nil, ""
}

// goSurfaces lists where the texts of packages appear, by folder with all its folders.
var goSurfaces = []struct {
	surface string
	folders []string
}{
	{"tests", []string{"app/vaulttest", "app/powercut"}},
	{"pages", []string{"app/ui", "web"}},
	{"settings", []string{"app/config"}},
	{"metrics", []string{"app/metrics"}},
	{"guides", []string{"app/guides"}},
	{"command line", []string{"cmd", "app/backup", "app/control", "app/doctor", "app/importer", "app/instance", "app/integrity"}},
	{"logs", []string{"app/blobstore", "app/document", "app/pdf", "app/sandbox", "app/search/index", "app/secret"}},
}

func goSurface(folder string) string {
	for _, s := range goSurfaces {
		for _, name := range s.folders {
			if folder == name || strings.HasPrefix(folder, name+"/") {
				return s.surface
			}
		}
	}
	return "API messages"
}

// textsInGo returns the string literals of a Go file. Concatenated literals are one text.
func textsInGo(source string) ([]text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var texts []text
	logged := make(map[ast.Expr]bool)
	add := func(node ast.Expr) {
		t := text{line: files.Position(node.Pos()).Line, text: joined(node)}
		if logged[node] || strings.Contains(t.text, "%w") {
			t.surface = "logs"
		}
		texts = append(texts, t)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			node.Tag = nil
		case *ast.CallExpr:
			if callee, ok := node.Fun.(*ast.SelectorExpr); ok && logCall.MatchString(callee.Sel.Name) {
				for _, arg := range node.Args {
					logged[arg] = true
				}
			}
		case *ast.BinaryExpr:
			if joined(node) != "…" {
				add(node)
				return false
			}
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				add(node)
			}
		}
		return true
	})
	return texts, nil
}

// joined returns the text of a concatenation; operands other than literals are "…".
func joined(node ast.Expr) string {
	switch node := node.(type) {
	case *ast.BasicLit:
		if value, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
			return value
		}
	case *ast.BinaryExpr:
		if left, right := joined(node.X), joined(node.Y); node.Op == token.ADD && (left != "…" || right != "…") {
			return left + right
		}
	}
	return "…"
}

// textsInPage returns the texts, attributes, and literals in actions of an HTML template.
func textsInPage(source string) ([]text, error) {
	var texts []text
	for _, at := range action.FindAllStringIndex(source, -1) {
		if strings.HasPrefix(source[at[0]:], "{{define") || strings.HasPrefix(source[at[0]:], "{{/*") {
			continue
		}
		for _, quoted := range literal.FindAllString(source[at[0]:at[1]], -1) {
			if value, err := strconv.Unquote(quoted); err == nil {
				texts = append(texts, text{line: 1 + strings.Count(source[:at[0]], "\n"), text: value})
			}
		}
	}
	source = action.ReplaceAllStringFunc(source, func(code string) string {
		return "…" + strings.Repeat("\n", strings.Count(code, "\n"))
	})
	var run strings.Builder
	line, start := 1, 1
	flush := func() {
		texts = append(texts, text{line: start, text: run.String()})
		run.Reset()
	}
	for tokens := html.NewTokenizer(strings.NewReader(source)); ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			flush()
			return texts, nil
		}
		raw := string(tokens.Raw())
		read := tokens.Token()
		switch {
		case kind == html.TextToken:
			if strings.TrimSpace(run.String()) == "" {
				start = line + strings.Count(raw[:len(raw)-len(strings.TrimLeft(raw, " \t\n"))], "\n")
			}
			run.WriteString(read.Data)
		case !slices.Contains(inline, read.Data):
			flush()
		}
		for _, attr := range read.Attr {
			if codeAttribute.MatchString(attr.Key) {
				continue
			}
			texts = append(texts, text{line: line, text: attr.Val})
		}
		line += strings.Count(raw, "\n")
	}
}

// textsInScript returns the string and template literals of a script.
func textsInScript(source string) ([]text, error) {
	s := scriptScanner{source: source}
	s.code(false)
	return s.texts, nil
}

type scriptScanner struct {
	source string
	at     int
	texts  []text
}

// code scans up to the end, or in a template literal up to the brace that ends the expression.
func (s *scriptScanner) code(inTemplate bool) {
	depth := 0
	last := byte('(')
	for s.at < len(s.source) {
		c := s.source[s.at]
		rest := s.source[s.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			s.skip(rest, "\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			s.skip(rest, "*/")
			continue
		case c == '\'' || c == '"' || c == '`':
			s.literal(c)
			last = c
			continue
		case c == '/' && strings.IndexByte("(,=:[!&|?{};>", last) >= 0:
			s.expression()
			last = c
			continue
		case c == '{':
			depth++
		case c == '}':
			depth--
			if inTemplate && depth < 0 {
				s.at++
				return
			}
		}
		if c != ' ' && c != '\n' {
			last = c
		}
		s.at++
	}
}

// skip moves behind the end of a comment.
func (s *scriptScanner) skip(rest, end string) {
	if n := strings.Index(rest, end); n >= 0 {
		s.at += n + len(end)
		return
	}
	s.at = len(s.source)
}

// expression moves behind a regular expression.
func (s *scriptScanner) expression() {
	class := false
	for s.at++; s.at < len(s.source); s.at++ {
		switch c := s.source[s.at]; {
		case c == '\\':
			s.at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class, c == '\n':
			s.at++
			return
		}
	}
}

// literal reads a string or template literal.
func (s *scriptScanner) literal(quote byte) {
	line := 1 + strings.Count(s.source[:s.at], "\n")
	var b strings.Builder
	for s.at++; s.at < len(s.source) && s.source[s.at] != quote; s.at++ {
		switch c := s.source[s.at]; {
		case c == '\\' && s.at+1 < len(s.source):
			s.at++
			b.WriteByte(s.source[s.at])
		case quote == '`' && strings.HasPrefix(s.source[s.at:], "${"):
			s.at += 2
			s.code(true)
			s.at--
			b.WriteString("…")
		default:
			b.WriteByte(c)
		}
	}
	s.at++
	s.texts = append(s.texts, text{line: line, text: b.String()})
}

// textsInMarkdown returns the paragraphs, list items, table rows, and lines of code of a document.
func textsInMarkdown(source string) ([]text, error) {
	var texts []text
	fenced := false
	open := false // the last text may continue
	for n, line := range strings.Split(source, "\n") {
		trimmed := strings.TrimSpace(line)
		begins := trimmed != "" && strings.ContainsRune("#|-*>0123456789", rune(trimmed[0])) && !strings.HasPrefix(trimmed, "**")
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced, open = !fenced, false
		case trimmed == "":
			open = false
		case fenced || begins || !open:
			t := text{line: n + 1, text: line}
			if fenced {
				t.surface = "examples"
			}
			texts = append(texts, t)
			open = !fenced && trimmed[0] != '#' && trimmed[0] != '|'
		default:
			texts[len(texts)-1].text += " " + line
		}
	}
	return texts, nil
}

// textsInSettings returns the paragraphs of the comments.
func textsInSettings(source string) ([]text, error) {
	var texts []text
	open := false
	for n, line := range strings.Split(source, "\n") {
		comment, is := strings.CutPrefix(strings.TrimSpace(line), "#")
		switch {
		case !is || strings.TrimSpace(comment) == "":
			open = false
		case open:
			texts[len(texts)-1].text += comment
		default:
			texts = append(texts, text{line: n + 1, text: comment})
			open = true
		}
	}
	return texts, nil
}

// textsInOpenAPI returns the paragraphs of all summaries, descriptions, and titles.
func textsInOpenAPI(source string) ([]text, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(source), &document); err != nil {
		return nil, err
	}
	var texts []text
	var walk func(node *yaml.Node)
	walk = func(node *yaml.Node) {
		for n, child := range node.Content {
			read := node.Kind == yaml.MappingNode && n%2 == 1 && child.Kind == yaml.ScalarNode &&
				slices.Contains([]string{"summary", "description", "title"}, node.Content[n-1].Value)
			if !read {
				walk(child)
				continue
			}
			line := child.Line
			if child.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				line++
			}
			for paragraph := range strings.SplitSeq(child.Value, "\n\n") {
				texts = append(texts, text{line: line, text: paragraph})
				line += strings.Count(paragraph, "\n") + 2
			}
		}
	}
	walk(&document)
	return texts, nil
}

// wordsInTexts returns the rejected words in texts.
func wordsInTexts(texts []text) []wordHit {
	var hits []wordHit
	for _, t := range texts {
		rules := readRules
		if slices.Contains([]string{"pages", "scripts", "guides", "examples"}, t.surface) && !strings.HasPrefix(t.file, ".github/") {
			rules = pageRules
		}
		find(rules, blank(fixedTexts, t.text), func(_ int, word, better string) {
			hits = append(hits, wordHit{t.file, t.line, word, better})
		})
	}
	return hits
}

func treeTexts(t *testing.T) []text {
	t.Helper()
	texts, err := textsInTree(os.DirFS(".."), tracked(t))
	if err != nil {
		t.Fatalf("textsInTree: %v", err)
	}
	if len(texts) < 1000 {
		t.Fatalf("only %d texts were found", len(texts))
	}
	return texts
}

func TestWordsInTexts(t *testing.T) {
	for _, hit := range wordsInTexts(treeTexts(t)) {
		t.Error(hit)
	}
}

// sampleTexts returns size texts of at least two words. Each surface has a share by the number of its
// texts, at least 10. The same seed returns the same texts.
func sampleTexts(texts []text, size int, seed uint64) []text {
	bySurface := make(map[string][]text)
	seen := make(map[string]bool)
	total := 0
	for _, t := range texts {
		if !slices.Contains(surfaces, t.surface) || strings.HasPrefix(t.file, ".") || seen[t.text] ||
			!readable.MatchString(t.text) || expression.MatchString(t.text) {
			continue
		}
		seen[t.text] = true
		total++
		bySurface[t.surface] = append(bySurface[t.surface], t)
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a sample, not a secret
	var sample, rest []text
	for _, surface := range surfaces {
		pool := bySurface[surface]
		random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		share := min(max(10, (size-10*len(surfaces))*len(pool)/max(total, 1)+10), len(pool))
		sample = append(sample, pool[:share]...)
		rest = append(rest, pool[share:]...)
	}
	random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	sample = append(sample, rest[:max(0, min(size-len(sample), len(rest)))]...)
	slices.SortStableFunc(sample, func(a, b text) int {
		return cmp.Or(cmp.Compare(slices.Index(surfaces, a.surface), slices.Index(surfaces, b.surface)),
			cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return sample
}

// surfaces lists where people read texts, in the sequence of a sample.
var surfaces = []string{"pages", "scripts", "command line", "settings", "guides", "OpenAPI", "API messages", "logs", "metrics"}

// TestSampleTexts prints a sample of the texts for a reviewer if DEEDKEEP_TEXT_SAMPLE is a seed.
func TestSampleTexts(t *testing.T) {
	texts := treeTexts(t)
	if chosen := os.Getenv("DEEDKEEP_TEXT_SAMPLE"); chosen != "" {
		seed, err := strconv.ParseUint(chosen, 10, 64)
		if err != nil {
			t.Fatalf("DEEDKEEP_TEXT_SAMPLE: %v", err)
		}
		for n, s := range sampleTexts(texts, 169, seed) {
			fmt.Printf("%d\t%s\t%s:%d\t%s\n", n+1, s.surface, s.file, s.line, s.text)
		}
		return
	}
	first, again, other := sampleTexts(texts, 169, 1), sampleTexts(texts, 169, 1), sampleTexts(texts, 169, 2)
	if len(first) != 169 || !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("samples have %d, %d, and %d texts; want 169, the same for the same seed", len(first), len(again), len(other))
	}
}

func TestTextsInTree(t *testing.T) {
	for _, tt := range []struct{ name, file, source, want string }{
		{"Go", "app/a/a.go", "package a\n\nimport \"fmt\"\n\nvar x = \"one \" +\n\t\"two\" + fmt.Sprint(\"three\")\n",
			"API messages:5:one two…"},
		{"log", "app/a/a.go", "package a\n\nfunc f(l L) { l.Info(\"disk full\") }\n", "logs:3:disk full"},
		{"command", "cmd/a.go", "package cmd\n\nvar x = `Say so`\n", "command line:3:Say so"},
		{"struct tag", "app/a/a.go", "package a\n\ntype t struct {\n\tA int `json:\"a\"`\n}\n", ""},
		{"test", "app/a/a_test.go", "package a\n\nvar x = \"anew\"\n", ""},
		{"page", "web/pages/a.html", "{{define \"a\"}}\n<p title=\"More of it\">Some <b>bold</b> text {{.X}}\n</p>",
			"pages:2:More of it|pages:2:Some bold text …"},
		{"action", "web/pages/a.html", "<p>{{plural .N \"one deed\" \"deeds\"}}", "pages:1:one deed|pages:1:deeds"},
		{"script", "web/static/script/a.js", "// it's not\nconst a = /'/.test('b') ? `c ${d('e') + '}'} f` : \"g\";",
			"scripts:2:b|scripts:2:e|scripts:2:c … f|scripts:2:g"},
		{"Markdown", "app/guides/a.md", "# A\n\nb\nc\n- d\n\n```\ne\nf\n```\n", "guides:1:# A|guides:3:b c|guides:5:- d|examples:8:e|examples:9:f"},
		{"settings", "config.example.yaml", "# a\n# b\nc: 1\n  # d\n", "settings:1:a b|settings:4:d"},
		{"OpenAPI", "app/api/openapi.yaml", "info:\n  summary: a\n  description: |\n    b\n    c\n\n    d\n",
			"OpenAPI:2:a|OpenAPI:4:b c|OpenAPI:7:d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			texts, err := textsInTree(fstest.MapFS{tt.file: {Data: []byte(tt.source)}}, []string{tt.file})
			if err != nil {
				t.Fatalf("textsInTree: %v", err)
			}
			var got []string
			for _, found := range texts {
				got = append(got, fmt.Sprintf("%s:%d:%s", found.surface, found.line, found.text))
			}
			if all := strings.Join(got, "|"); !strings.HasPrefix(all, tt.want) || tt.want == "" && all != "" {
				t.Errorf("got %q, want %q", all, tt.want)
			}
		})
	}
	hits := wordsInTexts([]text{
		{"pages", "a.html", 1, "Whoever has the interface"}, {"logs", "a.go", 2, "the interface is made anew"},
		{"logs", "a.go", 3, "event signin.refused"}, {"pages", "a.html", 3, "refused"}, {"scripts", "a.js", 3, ".palette-trouble span"},
		{"logs", "a.go", 4, "New documents are searchable within seconds."},
	})
	var words []string
	for _, hit := range hits {
		words = append(words, fmt.Sprintf("%d:%s", hit.line, hit.word))
	}
	if got, want := strings.Join(words, " "), "1:whoever 1:the interface 2:anew 2:is made"; got != want {
		t.Errorf("wordsInTexts = %q, want %q", got, want)
	}
}
