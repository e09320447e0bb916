package app

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// topLevel is all that lies beside the hidden files at the top of the repository.
var topLevel = []string{
	"README.md", "app", "cmd", "config.example.yaml", "data", "go.mod", "go.sum", "main.go", "web",
}

// A taboo is what no line of a text file may hold.
type taboo struct {
	what    string
	files   *regexp.Regexp // of these paths; nil: of all
	pattern *regexp.Regexp
}

// The patterns are written so that none of them matches its own line.
var taboos = []taboo{
	{"names a registry host", nil,
		regexp.MustCompile(`(?i)(?:proxy|sum|goproxy)[.](?:golang|io\b|cn\b)|registry[.](?:npm|yarn)|(?:deb|security|snapshot)[.]debian|pypi[.]org|[.]unpkg[.]com|cdn[.]jsdelivr`)},
	{"names a path of a build machine", nil,
		regexp.MustCompile(`(?:^|[\s"'` + "`" + `=:(,\[])(?:/(?:home|Users|work|farm)/[\w.]|/root[/]|[A-Za-z]:\\+Users\\)`)},
	{"is unfinished", nil,
		regexp.MustCompile(`\b(?:TOD[O]|FIXM[E]|XX[X])\b|panic\("(?:todo|not implemented|unimplemented)`)},
	{"is the mark of a merge", nil,
		regexp.MustCompile(`^(?:<{7}|>{7}) `)},
	{"skips a test", regexp.MustCompile(`\.go$`),
		regexp.MustCompile(`\b(?:t|b|f|tb|h)\.Skip(?:f|Now)?[(]`)},
	{"skips a test", regexp.MustCompile(`testdata/.*\.(?:txt|txtar)$`),
		regexp.MustCompile(`^(?:\[[^\]]*\]\s*)*skip\b`)},
}

// thirdParty matches what is not written here: it comes through go.mod or the lock file.
var thirdParty = regexp.MustCompile(`\.(?:wasm|wasm\.gz|traineddata|min\.js|min\.css)$|(?:^|/)(?:vendor|node_modules)/`)

// wrongTree returns one sentence for everything in the tree that should not be there.
func wrongTree(tree fs.FS, names []string) ([]string, error) {
	var wrong []string
	strange := make(map[string]bool)
	for _, name := range names {
		if top, _, _ := strings.Cut(name, "/"); !strings.HasPrefix(top, ".") && !slices.Contains(topLevel, top) {
			strange[top] = true
		}
		if thirdParty.MatchString(name) {
			wrong = append(wrong, name+": third-party code is not committed")
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, wrongLines(name, content)...)
	}
	for _, top := range slices.Sorted(maps.Keys(strange)) {
		wrong = append(wrong, top+": not at the top level")
	}
	return wrong, nil
}

// wrongLines returns one sentence for each rejected word in a file. Binary files have none.
func wrongLines(name string, content []byte) []string {
	if bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	var wrong []string
	number := 0
	for line := range bytes.Lines(content) {
		number++
		for _, t := range taboos {
			if (t.files == nil || t.files.MatchString(name)) && t.pattern.Match(bytes.TrimRight(line, "\r\n")) {
				wrong = append(wrong, fmt.Sprintf("%s:%d %s: %s", name, number, t.what, bytes.TrimSpace(line)))
			}
		}
	}
	return wrong
}

// tracked lists the files of the repository, and those that are about to be.
func tracked(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files (the tree is checked in a clone): %v", err)
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	return slices.DeleteFunc(names, func(name string) bool {
		// Removed from the work tree, but not yet from the index.
		_, err := os.Lstat(path.Join("..", name))
		return os.IsNotExist(err)
	})
}

func TestTree(t *testing.T) {
	names := tracked(t)
	if len(names) < 10 {
		t.Fatalf("only %d files are tracked", len(names))
	}
	wrong, err := wrongTree(os.DirFS(".."), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, sentence := range wrong {
		t.Error(sentence)
	}
}

// The test of the test: what is planted must be found.
func TestTreeFindsWhatIsWrong(t *testing.T) {
	rows := []struct{ name, file, line, want string }{
		{"healthy", "app/a.go", "package a // at /v1/home/x, see https://www.debian.org", ""},
		{"strange top", "docs/a.md", "words", "docs: not at the top level"},
		{"hidden top", ".editorconfig", "root = true", ""},
		{"binary", "web/a.png", "\x00 /home" + "/me", ""},
		{"registry", "web/package-lock.json", `"resolved": "https://registry` + `.npmjs.org/x"`, "names a registry host"},
		{"module proxy", ".ci/run", "GOPROXY=https://proxy" + ".golang.org", "names a registry host"},
		{"home of a builder", "README.md", "cd /home" + "/me/deedkeep", "names a path of a build machine"},
		{"home of the machine", "README.md", "cd /work" + "/main", "names a path of a build machine"},
		{"home on Windows", "a/b.txt", `cd C:` + `\Users\me`, "names a path of a build machine"},
		{"mark", "main.go", "// TO" + "DO later", "is unfinished"},
		{"one side of a merge", "cmd/help/backups.md", "<<<<" + "<<< HEAD", "is the mark of a merge"},
		{"the other side", "cmd/help/backups.md", ">>>>" + ">>> 8be3539 (status)", "is the mark of a merge"},
		{"skip", "app/a_test.go", "	t.Skip" + `("slow")`, "skips a test"},
		{"skip in a script", "cmd/testdata/keys.txtar", "[windows] skip 'why'", "skips a test"},
		{"wasm", "web/engine/x.wasm", "words", "third-party code is not committed"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			tree := fstest.MapFS{row.file: {Data: []byte(row.line + "\n")}}
			got, err := wrongTree(tree, []string{row.file})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case row.want == "" && len(got) > 0:
				t.Errorf("got %q, want nothing", got)
			case row.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, row.want) }):
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
