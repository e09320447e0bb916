package app

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "deedkeep"

// testRank is the rank of packages that only tests may import.
const testRank = 99

// layout is the package table in doc.go.
type layout struct {
	rank   map[string]int      // package directory → rank
	owners map[string][]string // library → the only packages that may import it
}

// readLayout parses the table in doc.go's package comment.
func readLayout(comment string) (layout, error) {
	p := layout{rank: make(map[string]int), owners: make(map[string][]string)}
	inTable := false
	for line := range strings.Lines(comment) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0:
			inTable = false
		case cells[0] == "rank":
			inTable = true
		case inTable:
			if err := p.addRow(cells); err != nil {
				return layout{}, fmt.Errorf("row %q: %w", strings.TrimSpace(line), err)
			}
		}
	}
	if len(p.rank) == 0 {
		return layout{}, fmt.Errorf("no table of ranks")
	}
	return p, nil
}

// addRow adds a table row: rank, package, the words of its purpose, and libraries. The cell "-"
// means no libraries.
func (l layout) addRow(cells []string) error {
	if len(cells) < 4 {
		return fmt.Errorf("want rank, package, purpose, libraries")
	}
	rank, err := strconv.Atoi(cells[0])
	if cells[0] == "test" {
		rank, err = testRank, nil
	}
	if err != nil {
		return err
	}
	folder := cells[1]
	if _, twice := l.rank[folder]; twice {
		return fmt.Errorf("%s has two rows", folder)
	}
	l.rank[folder] = rank
	if cells[len(cells)-1] == "-" {
		return nil
	}
	libraries := 0
	for i := len(cells) - 1; i > 1 && isLibrary(cells[i]); i-- {
		l.owners[cells[i]] = append(l.owners[cells[i]], folder)
		libraries++
	}
	if libraries == 0 {
		return fmt.Errorf("the last column is neither a library nor -")
	}
	return nil
}

// isLibrary reports whether a cell is an import path and not a word of the purpose.
func isLibrary(word string) bool {
	host, _, found := strings.Cut(word, "/")
	return found && (strings.Contains(host, ".") || host == module)
}

// checkImports returns a sentence for each import that violates the layout, for each package
// without a row, and for each row without a package.
func checkImports(tree fs.FS, p layout) ([]string, error) {
	var problems []string
	seen := make(map[string]bool)
	err := walkGo(tree, func(name string, file *ast.File) {
		folder := path.Dir(name)
		if _, known := p.rank[folder]; !known {
			if !seen[folder] {
				problems = append(problems, fmt.Sprintf("%s: package %s has no row in app/doc.go", name, folder))
			}
			seen[folder] = true
			return
		}
		seen[folder] = true
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: import %s: %v", name, spec.Path.Value, err))
				continue
			}
			if why := p.check(name, imported); why != "" {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", name, imported, why))
			}
		}
	})
	for folder := range p.rank {
		if !seen[folder] {
			problems = append(problems, fmt.Sprintf("app/doc.go: the row of %s has no package", folder))
		}
	}
	slices.Sort(problems)
	return problems, err
}

// check returns the reason why the named file may not import the package, or "" if it may.
func (l layout) check(name, imported string) string {
	folder, isTest := path.Dir(name), strings.HasSuffix(name, "_test.go")
	target, ours := folderOf(imported)
	if !ours {
		return l.checkOwner(name, imported)
	}
	to, known := l.rank[target]
	from := l.rank[folder]
	switch {
	case !known:
		return target + " has no row in app/doc.go"
	case to == testRank && !isTest && from != testRank:
		return "only tests may import it"
	case isTest, to == testRank, to < from, strings.HasPrefix(target, folder+"/"):
		return l.checkOwner(name, imported)
	case to == from:
		return fmt.Sprintf("sideways on rank %d", from)
	}
	return fmt.Sprintf("up from rank %d to rank %d", from, to)
}

// checkOwner checks the import against the last column of the table. Tests are exempt.
func (l layout) checkOwner(name, imported string) string {
	folder := path.Dir(name)
	if strings.HasSuffix(name, "_test.go") || l.rank[folder] == testRank {
		return ""
	}
	for library, owners := range l.owners {
		if !slices.Contains(owners, folder) && (imported == library || strings.HasPrefix(imported, library+"/")) {
			return "alone may import it: " + strings.Join(owners, ", ")
		}
	}
	return ""
}

// folderOf returns the directory of a package. ours is false if the package isn't part of this
// module.
func folderOf(imported string) (folder string, ours bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// walkGo calls visit with the parsed imports of every Go file that the go command doesn't ignore.
func walkGo(tree fs.FS, visit func(name string, file *ast.File)) error {
	files := token.NewFileSet()
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			hidden := base != "." && strings.ContainsAny(base[:1], "._")
			if hidden || base == "testdata" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, name, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		visit(name, file)
		return nil
	})
}

func TestLayout(t *testing.T) {
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatalf("parser.ParseFile: %v", err)
	}
	p, err := readLayout(doc.Doc.Text())
	if err != nil {
		t.Fatalf("app/doc.go: %v", err)
	}
	problems, err := checkImports(os.DirFS(".."), p)
	if err != nil {
		t.Fatalf("checkImports: %v", err)
	}
	for _, sentence := range problems {
		t.Error(sentence)
	}
}

// TestCheckImports checks that checkImports reports every type of forbidden import and nothing
// else.
func TestCheckImports(t *testing.T) {
	const table = `
	rank   package   purpose     alone may import
	2      app/high  the roof    -
	1      app/mid   the middle  example.org/db example.org/sql deedkeep/app/own
	0      app/low   the ground  -
	0      app/side  also there  example.org/db
	0      app/own   its own     -
	test   app/help  for tests   -
`
	valid := fstest.MapFS{
		"app/high/high.go":        goFile("high", "deedkeep/app/mid", "deedkeep/app/low"),
		"app/mid/mid.go":          goFile("mid", "deedkeep/app/low", "example.org/db/errors", "fmt"),
		"app/low/low.go":          goFile("low"),
		"app/low/low_test.go":     goFile("low_test", "deedkeep/app/help", "deedkeep/app/side", "example.org/sql"),
		"app/own/own.go":          goFile("own"),
		"app/mid/own.go":          goFile("mid", "deedkeep/app/own"),
		"app/high/own_test.go":    goFile("high", "deedkeep/app/own"),
		"app/side/side.go":        goFile("side", "example.org/db", "example.org/dbx"),
		"app/help/help.go":        goFile("help", "deedkeep/app/high", "example.org/sql"),
		"app/mid/testdata/x/x.go": goFile("x", "deedkeep/app/nowhere"),
		"web/node_modules/n.go":   goFile("n", "deedkeep/app/nowhere"),
		".hidden/h.go":            goFile("h", "deedkeep/app/nowhere"),
	}
	rows := []struct {
		name  string
		file  string   // file to add to the valid files
		paths []string // imports of the file
		want  string   // expected sentence; "" if the imports are valid
	}{
		{"valid", "", nil, ""},
		{"up", "app/low/up.go", []string{"deedkeep/app/mid"},
			"app/low/up.go imports deedkeep/app/mid: up from rank 0 to rank 1"},
		{"same rank", "app/low/aside.go", []string{"deedkeep/app/side"},
			"app/low/aside.go imports deedkeep/app/side: sideways on rank 0"},
		{"up in a test", "app/mid/mid_test.go", []string{"deedkeep/app/high"}, ""},
		{"on another system", "app/low/up_windows.go", []string{"deedkeep/app/high"},
			"app/low/up_windows.go imports deedkeep/app/high: up from rank 0 to rank 2"},
		{"library of another package", "app/high/db.go", []string{"example.org/sql/driver"},
			"app/high/db.go imports example.org/sql/driver: alone may import it: app/mid"},
		{"library of two other packages", "app/low/db.go", []string{"example.org/db"},
			"app/low/db.go imports example.org/db: alone may import it: app/mid, app/side"},
		{"package reserved for another", "app/high/own.go", []string{"deedkeep/app/own"},
			"app/high/own.go imports deedkeep/app/own: alone may import it: app/mid"},
		{"test helper in shipped code", "app/high/help.go", []string{"deedkeep/app/help"},
			"app/high/help.go imports deedkeep/app/help: only tests may import it"},
		{"no row", "app/new/new.go", nil, "app/new/new.go: package app/new has no row in app/doc.go"},
		{"import of a package without a row", "app/high/new.go", []string{"deedkeep/app/new"},
			"app/high/new.go imports deedkeep/app/new: app/new has no row in app/doc.go"},
	}
	p, err := readLayout(table)
	if err != nil {
		t.Fatalf("readLayout: %v", err)
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for name, file := range valid {
				tree[name] = file
			}
			var want []string
			if row.file != "" {
				tree[row.file] = goFile("added", row.paths...)
			}
			if row.want != "" {
				want = []string{row.want}
			}
			got, err := checkImports(tree, p)
			if err != nil {
				t.Fatalf("checkImports: %v", err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("checkImports() = %q, want %q", got, want)
			}
		})
	}
	t.Run("row without package", func(t *testing.T) {
		got, err := checkImports(fstest.MapFS{}, p)
		if err != nil {
			t.Fatalf("checkImports: %v", err)
		}
		if len(got) != len(p.rank) || got[0] != "app/doc.go: the row of app/help has no package" {
			t.Errorf("checkImports() without packages = %q, want one sentence for each of %d rows", got, len(p.rank))
		}
	})
}

func TestReadLayoutRejects(t *testing.T) {
	rows := []struct{ name, table string }{
		{"no table", "words\nand words"},
		{"no rank", "rank package\nfirst app/a words -"},
		{"two rows", "rank package\n1 app/a words -\n2 app/a words -"},
		{"no last column", "rank package\n1 app/a words words"},
		{"short row", "rank package\n1 app/a"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if p, err := readLayout(row.table); err == nil {
				t.Errorf("readLayout() = %v, want an error", p)
			}
		})
	}
}

func goFile(name string, imports ...string) *fstest.MapFile {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", name)
	for _, imported := range imports {
		fmt.Fprintf(&b, "import _ %q\n", imported)
	}
	return &fstest.MapFile{Data: []byte(b.String())}
}
