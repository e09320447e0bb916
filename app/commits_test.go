package app

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// subjectsSince is the last commit whose subject and those before it aren't checked.
const subjectsSince = "0261b2741237552a9d41e0fa47c4ee4da13edff0"

// otherPrefixes may begin the subject of a commit instead of a package: for README.md, documents in .github,
// .ci, and changed dependencies.
var otherPrefixes = []string{"readme", "docs", "ci", "deps"}

// checkSubject returns what is wrong with the subject of a commit, or "". isPackage reports whether a
// name is a package of the repository.
func checkSubject(subject string, isPackage func(string) bool) string {
	prefix, rest, found := strings.Cut(subject, ": ")
	if !found {
		return "has no package and colon in front"
	}
	for name := range strings.SplitSeq(prefix, ", ") {
		if !slices.Contains(otherPrefixes, name) && !isPackage(name) {
			return fmt.Sprintf("%q is no package, and not one of %s", name, strings.Join(otherPrefixes, ", "))
		}
	}
	verb, object, _ := strings.Cut(rest, " ")
	if object == "" || verb != strings.ToLower(verb) {
		return "doesn't begin with a verb in lower case and an object"
	}
	return ""
}

// packageNames returns the packages with files in the list, by their last element and by their paths
// below app: "titlework" and "ui/records/titlework".
func packageNames(files []string) map[string]bool {
	names := map[string]bool{"web": true} // its Go files embed pages and scripts
	for _, file := range files {
		dir := path.Dir(file)
		if path.Ext(file) == ".go" && dir != "." && !strings.HasPrefix(dir, ".") {
			names[path.Base(dir)], names[strings.TrimPrefix(dir, "app/")] = true, true
		}
	}
	return names
}

// checkSubjects returns a sentence for each commit of the repository in dir after since, up to HEAD, whose
// subject is wrong. A shallow clone that doesn't reach since has only later commits, so all are checked.
func checkSubjects(dir, since string) ([]string, error) {
	revisions := since + "..HEAD"
	if _, err := gitOutput(dir, "merge-base", "--is-ancestor", since, "HEAD"); err != nil {
		shallow, shallowErr := gitOutput(dir, "rev-parse", "--is-shallow-repository")
		if shallowErr != nil || shallow != "true" {
			return nil, fmt.Errorf("HEAD doesn't descend from %s: %w", since, err)
		}
		revisions = "HEAD"
	}
	files, err := gitOutput(dir, "ls-files")
	if err != nil {
		return nil, err
	}
	// A package that a commit renamed or deleted was one when its files changed.
	changed, err := gitOutput(dir, "log", "--format=", "--name-only", revisions)
	if err != nil {
		return nil, err
	}
	commits, err := gitOutput(dir, "log", "--format=%h %s", revisions)
	if err != nil || commits == "" {
		return nil, err
	}
	packages := packageNames(strings.Split(files+"\n"+changed, "\n"))
	var problems []string
	for line := range strings.SplitSeq(commits, "\n") {
		id, subject, _ := strings.Cut(line, " ")
		if problem := checkSubject(subject, func(name string) bool { return packages[name] }); problem != "" {
			problems = append(problems, fmt.Sprintf("commit %s: %q: %s", id, subject, problem))
		}
	}
	return problems, nil
}

// gitOutput runs git in a directory and returns what it prints.
func gitOutput(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output() // #nosec G204 -- arguments of tests
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// The subjects of commits begin with a package (CONTRIBUTING.md, "Commits").
func TestCommitSubjects(t *testing.T) {
	problems, err := checkSubjects("..", subjectsSince)
	if err != nil {
		t.Fatalf("check the subjects of commits: %v", err)
	}
	for _, sentence := range problems {
		t.Error(sentence)
	}
}

func TestCheckSubject(t *testing.T) {
	packages := packageNames([]string{
		"app/vault/file.go", "app/api/api.go", "app/ui/records/titlework/people.go", "cmd/serve.go",
		"app/house/README.md", ".ci/ocr-bench/main.go",
	})
	for _, row := range []struct{ subject, want string }{
		{"vault: keep the retention of a moved document", ""},
		{"vault, api: store the time of a certificate", ""},
		{"titlework: show the searcher's name", ""},
		{"ui/records/titlework: show the searcher's name", ""},
		{"web: wrap long headings", ""},
		{"readme: show a runsheet with a gap", ""},
		{"ci: check the subjects of commits", ""},
		{"x", "has no package"},
		{"Say texts as a US title office does", "has no package"},
		{"house: comments in plain words", `"house" is no package`},
		{"README: show a runsheet", `"README" is no package`},
		{"vault, house: keep names", `"house" is no package`},
		{"ocr-bench: measure more pages", `"ocr-bench" is no package`},
		{"vault: Keep a document", "in lower case"},
		{"vault: fix", "and an object"},
		{"vault: ", "and an object"},
	} {
		t.Run(row.subject, func(t *testing.T) {
			got := checkSubject(row.subject, func(name string) bool { return packages[name] })
			if row.want == "" && got != "" || !strings.Contains(got, row.want) {
				t.Errorf("checkSubject() = %q, want %q", got, row.want)
			}
		})
	}
}

// All commits since the first one that is checked are read, also in a shallow clone, and those before it aren't.
func TestCheckSubjects(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := gitOutput(dir, append([]string{"-c", "user.name=Kim", "-c", "user.email=kim@example.com"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	commit := func(file, subject string) string {
		t.Helper()
		name := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatalf("create a directory: %v", err)
		}
		if err := os.WriteFile(name, []byte(subject), 0o600); err != nil {
			t.Fatalf("write a file: %v", err)
		}
		git("add", ".")
		git("commit", "-q", "-m", subject)
		return git("rev-parse", "HEAD")
	}
	check := func(dir, since string, want ...string) {
		t.Helper()
		got, err := checkSubjects(dir, since)
		if err != nil || len(got) != len(want) {
			t.Fatalf("checkSubjects() = %q, %v, want %q", got, err, want)
		}
		for n, subject := range want {
			if !strings.Contains(got[n], `"`+subject+`"`) {
				t.Errorf("problem %d = %q, want one about %q", n, got[n], subject)
			}
		}
	}
	git("init", "-q")
	base := commit("app/old/old.go", "everything")
	check(dir, base)
	commit("app/store/store.go", "store: sync a new directory")
	if err := os.RemoveAll(filepath.Join(dir, "app", "old")); err != nil {
		t.Fatalf("delete a package: %v", err)
	}
	commit("app/store/store.go", "old: merge the package into store")
	check(dir, base)
	commit("app/store/store.go", "x")
	commit("app/store/store.go", "house: voices in rooms")
	check(dir, base, "house: voices in rooms", "x")

	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", "--depth=2", "file://"+filepath.ToSlash(dir), clone)
	check(clone, base, "house: voices in rooms", "x")

	other := git("commit-tree", "-m", "another history", "HEAD^{tree}")
	if _, err := checkSubjects(dir, other); err == nil {
		t.Error("checkSubjects() with a commit that isn't in the history: no error")
	}
}
