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

// topLevel lists the visible files and folders in the repository root.
var topLevel = []string{
	"README.md", "app", "cmd", "config.example.yaml", "data", "go.mod", "go.sum", "main.go", "web",
}

// rejectedLine describes a kind of line that text files must not contain.
type rejectedLine struct {
	problem string
	files   *regexp.Regexp // matches the paths of the files to check; nil means all files
	pattern *regexp.Regexp
}

// Each pattern is written so that it doesn't match its own line.
var rejectedLines = []rejectedLine{
	{"names a registry host", nil,
		regexp.MustCompile(`(?i)(?:proxy|sum|goproxy)[.](?:golang|io\b|cn\b)|registry[.](?:npm|yarn)|(?:deb|security|snapshot)[.]debian|pypi[.]org|[.]unpkg[.]com|cdn[.]jsdelivr`)},
	{"names a path of a build machine", nil,
		regexp.MustCompile(`(?:^|[\s"'` + "`" + `=:(,\[])(?:/(?:home|Users|work|farm)/[\w.]|/root[/]|[A-Za-z]:\\+Users\\)`)},
	{"is unfinished", nil,
		regexp.MustCompile(`\b(?:TOD[O]|FIXM[E]|XX[X])\b|panic\("(?:todo|not implemented|unimplemented)`)},
	{"is a conflict marker", nil,
		regexp.MustCompile(`^(?:<{7}|>{7}) `)},
	{"skips a test", regexp.MustCompile(`\.go$`),
		regexp.MustCompile(`\b(?:t|b|f|tb|h)\.Skip(?:f|Now)?[(]`)},
	{"skips a test", regexp.MustCompile(`testdata/.*\.(?:txt|txtar)$`),
		regexp.MustCompile(`^(?:\[[^\]]*\]\s*)*skip\b`)},
}

// thirdParty matches files from Go modules or npm packages.
var thirdParty = regexp.MustCompile(`\.(?:wasm|wasm\.gz|traineddata|min\.js|min\.css)$|(?:^|/)(?:vendor|node_modules)/`)

// checkTree returns a sentence for each file or line that must not be in the repository.
func checkTree(tree fs.FS, names []string) ([]string, error) {
	var problems []string
	unexpected := make(map[string]bool)
	for _, name := range names {
		if top, _, _ := strings.Cut(name, "/"); !strings.HasPrefix(top, ".") && !slices.Contains(topLevel, top) {
			unexpected[top] = true
		}
		if thirdParty.MatchString(name) && path.Base(name) != "PLACEHOLDER" {
			problems = append(problems, name+": third-party code is not committed")
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		problems = append(problems, checkLines(name, content)...)
	}
	for _, top := range slices.Sorted(maps.Keys(unexpected)) {
		problems = append(problems, top+": not at the top level")
	}
	return problems, nil
}

// checkLines returns a sentence for each rejected word in a file. Binary files are not checked.
func checkLines(name string, content []byte) []string {
	if bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	var problems []string
	number := 0
	for line := range bytes.Lines(content) {
		number++
		for _, t := range rejectedLines {
			if (t.files == nil || t.files.MatchString(name)) && t.pattern.Match(bytes.TrimRight(line, "\r\n")) {
				problems = append(problems, fmt.Sprintf("%s:%d %s: %s", name, number, t.problem, bytes.TrimSpace(line)))
			}
		}
	}
	return problems
}

// tracked returns the files that git tracks and new files that git doesn't ignore.
func tracked(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files (this test needs a clone of the repository): %v", err)
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	return slices.DeleteFunc(names, func(name string) bool {
		// The file was deleted but is still in the git index.
		_, err := os.Lstat(path.Join("..", name))
		return os.IsNotExist(err)
	})
}

func TestTree(t *testing.T) {
	names := tracked(t)
	if len(names) < 10 {
		t.Fatalf("tracked files = %d, want at least 10", len(names))
	}
	problems, err := checkTree(os.DirFS(".."), names)
	if err != nil {
		t.Fatalf("checkTree: %v", err)
	}
	for _, sentence := range problems {
		t.Error(sentence)
	}
}

// TestCheckTree checks that checkTree detects each type of problem.
func TestCheckTree(t *testing.T) {
	rows := []struct{ name, file, line, want string }{
		{"valid", "app/a.go", "package a // at /v1/home/x, see https://www.debian.org", ""},
		{"unexpected folder", "docs/a.md", "words", "docs: not at the top level"},
		{"hidden file", ".editorconfig", "root = true", ""},
		{"binary", "web/a.png", "\x00 /home" + "/me", ""},
		{"registry", "web/package-lock.json", `"resolved": "https://registry` + `.npmjs.org/x"`, "names a registry host"},
		{"module proxy", ".ci/run", "GOPROXY=https://proxy" + ".golang.org", "names a registry host"},
		{"home directory", "README.md", "cd /home" + "/me/deedkeep", "names a path of a build machine"},
		{"work directory", "README.md", "cd /work" + "/main", "names a path of a build machine"},
		{"home on Windows", "a/b.txt", `cd C:` + `\Users\me`, "names a path of a build machine"},
		{"unfinished", "main.go", "// TO" + "DO later", "is unfinished"},
		{"start of a conflict", "app/guides/backups.md", "<<<<" + "<<< HEAD", "is a conflict marker"},
		{"end of a conflict", "app/guides/backups.md", ">>>>" + ">>> 8be3539 (status)", "is a conflict marker"},
		{"skip", "app/a_test.go", "	t.Skip" + `("slow")`, "skips a test"},
		{"skip in a script", "cmd/testdata/keys.txtar", "[windows] skip 'why'", "skips a test"},
		{"wasm", "web/wasm/x.wasm", "words", "third-party code is not committed"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			tree := fstest.MapFS{row.file: {Data: []byte(row.line + "\n")}}
			got, err := checkTree(tree, []string{row.file})
			if err != nil {
				t.Fatalf("checkTree: %v", err)
			}
			switch {
			case row.want == "" && len(got) > 0:
				t.Errorf("checkTree() = %q, want none", got)
			case row.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, row.want) }):
				t.Errorf("checkTree() = %q, want one with %q", got, row.want)
			}
		})
	}
}
