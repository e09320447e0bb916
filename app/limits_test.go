package app

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// Size limits of packages and files. The limit for functions is in .golangci.yml (funlen).
const (
	maxFiles   = 30  // maximum number of source files in a package, without tests; cmd has a file for each command
	maxLines   = 450 // maximum number of lines in a source file, without tests
	maxScript  = 400 // maximum number of lines in a script of the web interface
	maxColumns = 140 // maximum line length; a tab counts as one column
	// maxWideLines is the maximum number of lines in all Go files and page templates that may
	// be longer than maxColumns.
	maxWideLines = 299

	// maxExported is the maximum number of exported names of a package: types, functions, methods, constants,
	// and variables. Packages in the table exported may have more.
	maxExported = 60
)

// exported has the maximum numbers of exported names of large packages. Before you raise one, look for a name
// that callers don't need, or for a second subject that is a package of its own.
var exported = map[string]int{
	"app/apitypes":             202,
	"app/auth":                 70,
	"app/backup/archive":       70,
	"app/blobstore":            110,
	"app/config":               70,
	"app/control":              80,
	"app/httpx":                80,
	"app/model":                490,
	"app/search":               100,
	"app/search/index/segment": 80,
	"app/store":                230,
	"app/ui/page":              235,
	"app/vault":                250,
	"app/vaulttest":            190,
}

// wideLine is a line that is longer than maxColumns.
type wideLine struct {
	place   string // file:line
	columns int
}

// sizes contains the sizes of all Go files, scripts, and page templates in the repository.
type sizes struct {
	files   map[string]int // number of source files by package
	lines   map[string]int // number of lines by source file
	scripts map[string]int // number of lines by script
	wide    []wideLine     // longest lines of Go files and page templates first, including tests
}

// measure returns the sizes of the named files in the tree.
func measure(tree fs.FS, names []string) (sizes, error) {
	s := sizes{files: make(map[string]int), lines: make(map[string]int), scripts: make(map[string]int)}
	for _, name := range names {
		if !slices.Contains([]string{".go", ".html", ".js"}, path.Ext(name)) {
			continue
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return sizes{}, err
		}
		if path.Ext(name) == ".js" {
			s.scripts[name] = bytes.Count(content, []byte("\n"))
			continue
		}
		number := 0
		for line := range bytes.Lines(content) {
			number++
			if columns := utf8.RuneCount(bytes.TrimRight(line, "\r\n")); columns > maxColumns {
				s.wide = append(s.wide, wideLine{fmt.Sprintf("%s:%d", name, number), columns})
			}
		}
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			s.files[path.Dir(name)]++
			s.lines[name] = number
		}
	}
	sort.SliceStable(s.wide, func(i, j int) bool { return s.wide[i].columns > s.wide[j].columns })
	return s, nil
}

// overLimit returns a sentence for each name whose measured size is larger than limit.
func overLimit(measured map[string]int, limit int, unit string) []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		if size := measured[name]; size > limit {
			wrong = append(wrong, fmt.Sprintf("%s has %d %s, the limit is %d", name, size, unit, limit))
		}
	}
	return wrong
}

// tooManyWide returns a sentence that lists the longest lines if there are more than limit wide
// lines.
func tooManyWide(wide []wideLine, limit int) string {
	if len(wide) <= limit {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines have more than %d columns, %d may. The widest:", len(wide), maxColumns, limit)
	for _, line := range wide[:min(len(wide), 20)] {
		fmt.Fprintf(&b, "\n%s: %d columns", line.place, line.columns)
	}
	return b.String()
}

// exportedNames returns the number of exported names of each package, without tests.
func exportedNames(tree fs.FS, names []string) (map[string]int, error) {
	number := make(map[string]int)
	for _, name := range names {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			number[path.Dir(name)] += countNames(declaration)
		}
	}
	return number, nil
}

// countNames returns the number of exported names that a declaration declares. Methods of unexported types don't count.
func countNames(declaration ast.Decl) (n int) {
	if f, isFunc := declaration.(*ast.FuncDecl); isFunc {
		if f.Name.IsExported() && (f.Recv == nil || ast.IsExported(receiverType(f))) {
			n = 1
		}
		return n
	}
	for _, spec := range declaration.(*ast.GenDecl).Specs {
		var names []*ast.Ident
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = []*ast.Ident{spec.Name}
		case *ast.ValueSpec:
			names = spec.Names
		}
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	return n
}

// checkExported returns a sentence for each package that has more exported names than limits allow, and for
// each limit that is more than 20 too high.
func checkExported(number, limits map[string]int) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(number)) {
		limit, large := limits[name]
		if !large {
			limit = maxExported
		}
		wrong = append(wrong, overLimit(map[string]int{name: number[name]}, limit, "exported names")...)
		if large && number[name] < limit-20 {
			wrong = append(wrong, fmt.Sprintf("%s has %d exported names, lower its limit of %d", name, number[name], limit))
		}
	}
	return wrong
}

func TestExportedNames(t *testing.T) {
	number, err := exportedNames(os.DirFS(".."), tracked(t))
	if err != nil {
		t.Fatalf("exportedNames: %v", err)
	}
	for _, sentence := range checkExported(number, exported) {
		t.Error(sentence)
	}
	for name := range exported {
		if number[name] <= maxExported {
			t.Errorf("the table has a limit for %s, which has %d exported names", name, number[name])
		}
	}
}

func TestExportedNamesCountsDeclarations(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {Data: []byte("package a\nimport \"io\"\nconst A, b = 1, 2\nvar (\nC = A\n d = io.EOF\n)\n" +
			"type (\nE struct{ F, G int }\n h struct{}\n)\nfunc (E) I() {}\nfunc (*E) j() {}\nfunc (h) K() {}\n")},
		"a/a_test.go": {Data: []byte("package a\nfunc TestA() {}\n")},
		"a/b.go":      {Data: []byte("package a\nfunc L[T any]() {}\ntype M[T any] struct{}\nfunc (m M[T]) N() {}\n")},
	}
	number, err := exportedNames(tree, slices.Sorted(maps.Keys(tree)))
	if want := map[string]int{"a": 7}; err != nil || !maps.Equal(number, want) { // A, C, E, E.I, L, M, M.N
		t.Errorf("exportedNames() = %v, %v, want %v", number, err, want)
	}
	number = map[string]int{"a": maxExported + 1, "b": 80, "c": 59, "d": 60}
	want := []string{"a has 61 exported names, the limit is 60", "b has 80 exported names, the limit is 79",
		"c has 59 exported names, lower its limit of 80"}
	if got := checkExported(number, map[string]int{"b": 79, "c": 80, "d": 80}); !slices.Equal(got, want) {
		t.Errorf("checkExported() = %q, want %q", got, want)
	}
}

// A field of instruments is named where it is declared, in the responses of the API, and in rules about it.
// Everything else follows the declaration. CONTRIBUTING.md lists these files.
func TestFilesOfAField(t *testing.T) {
	want := []string{"app/api/openapi.yaml", "app/apitypes/instrument.go", "app/encode/instrument.go", "app/model/instrument.go",
		"app/model/instrument_field.go",
		"app/titlecheck/checks.go"} // a rule
	var got []string
	for _, name := range tracked(t) {
		if !slices.Contains([]string{".go", ".yaml", ".html", ".js", ".ts", ".css"}, path.Ext(name)) || strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(path.Join("..", name))
		if err != nil {
			t.Fatalf("os.ReadFile: %v", err)
		}
		if bytes.Contains(content, []byte("certificate_of_title")) || bytes.Contains(content, []byte("CertificateOfTitle")) {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the certificate of title of an instrument is named in %q, want %q", got, want)
	}
}

func TestLimits(t *testing.T) {
	s, err := measure(os.DirFS(".."), tracked(t))
	if err != nil {
		t.Fatalf("measure the tree: %v", err)
	}
	delete(s.files, "cmd")
	for _, sentence := range overLimit(s.files, maxFiles, "source files") {
		t.Error(sentence)
	}
	for _, sentence := range overLimit(s.lines, maxLines, "lines") {
		t.Error(sentence)
	}
	for _, sentence := range overLimit(s.scripts, maxScript, "lines") {
		t.Error(sentence)
	}
	if len(s.scripts) < 30 {
		t.Errorf("%d scripts, want at least 30", len(s.scripts))
	}
	if sentence := tooManyWide(s.wide, maxWideLines); sentence != "" {
		t.Errorf("tooManyWide: %v", sentence)
	}
	t.Logf("%d lines have more than %d columns", len(s.wide), maxColumns)
}

func TestLimitsFindsWhatIsTooLarge(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go":      {Data: []byte("package a\n")},
		"a/b.go":      {Data: []byte("package a\n\n" + strings.Repeat("x", maxColumns+1) + "\n")},
		"a/b_test.go": {Data: []byte(strings.Repeat("é", maxColumns) + "\n" + strings.Repeat("é", maxColumns+5) + "\n")},
		"b/c.go":      {Data: []byte("package b\n")},
		"b/c.txt":     {Data: []byte(strings.Repeat("x", 200))},
		"b/d.js":      {Data: []byte("const a = 1;\n" + strings.Repeat("x", 200) + "\n")},
		"b/e.html":    {Data: []byte("<p>\n" + strings.Repeat("é", maxColumns+3) + "\n")},
	}
	s, err := measure(tree, slices.Sorted(maps.Keys(tree)))
	if err != nil {
		t.Fatalf("measure the tree: %v", err)
	}
	if want := map[string]int{"a": 2, "b": 1}; !maps.Equal(s.files, want) {
		t.Errorf("files = %v, want %v", s.files, want)
	}
	if want := map[string]int{"a/a.go": 1, "a/b.go": 3, "b/c.go": 1}; !maps.Equal(s.lines, want) {
		t.Errorf("lines = %v, want %v", s.lines, want)
	}
	if want := map[string]int{"b/d.js": 2}; !maps.Equal(s.scripts, want) {
		t.Errorf("scripts = %v, want %v", s.scripts, want)
	}
	if want := []wideLine{{"a/b_test.go:2", maxColumns + 5}, {"b/e.html:2", maxColumns + 3}, {"a/b.go:3", maxColumns + 1}}; !slices.Equal(s.wide, want) {
		t.Errorf("wide lines = %v, want %v", s.wide, want)
	}
	if got := tooManyWide(s.wide, 3); got != "" {
		t.Errorf("tooManyWide of 3 with limit 3 = %q, want none", got)
	}
	if got, want := tooManyWide(s.wide, 1), "a/b_test.go:2: 145 columns"; !strings.Contains(got, want) {
		t.Errorf("tooManyWide of 3 with limit 1 = %q, want %q in it", got, want)
	}
	for limit, want := range []string{"a has 2 files, the limit is 0; b has 1 files, the limit is 0", "a has 2 files, the limit is 1", ""} {
		if got := strings.Join(overLimit(s.files, limit, "files"), "; "); got != want {
			t.Errorf("overLimit with limit %d = %q, want %q", limit, got, want)
		}
	}
}
