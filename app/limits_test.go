package app

import (
	"bytes"
	"fmt"
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
	maxFiles   = 40  // maximum number of source files in a package, without tests
	maxLines   = 450 // maximum number of lines in a source file, without tests
	maxScript  = 400 // maximum number of lines in a script of the web interface
	maxColumns = 140 // maximum line length; a tab counts as one column
	// maxWideLines is the maximum number of lines in all Go files and page templates that may
	// be longer than maxColumns.
	maxWideLines = 299
)

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

func TestLimits(t *testing.T) {
	s, err := measure(os.DirFS(".."), tracked(t))
	if err != nil {
		t.Fatalf("measure the tree: %v", err)
	}
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
