package app

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	linkTo    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	namedPath = regexp.MustCompile(`^(?:\./)?((?:app|cmd|web|\.ci|\.github)/[\w./*-]*[\w*/-])$`)
)

// isDocument reports whether a file is documentation for contributors or administrators.
func isDocument(name string) bool {
	if name == "app/doc.go" {
		return true
	}
	if !strings.HasSuffix(name, ".md") {
		return false
	}
	return name == "README.md" || name == "data/README.md" || strings.HasPrefix(name, ".github/") || path.Dir(name) == "app/guides"
}

// missingPaths returns a sentence for each path in a document that doesn't exist in the repository.
// A path is a link target or is formatted as code; in code, it may contain path.Match wildcards.
// names lists all files in the repository.
func missingPaths(names []string, document, text string) []string {
	existing := make(map[string]bool)
	for _, name := range names {
		for ; name != "."; name = path.Dir(name) {
			existing[name] = true
		}
	}
	var missing []string
	fenced := false
	for number, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		for _, name := range pathsOf(document, line, fenced) {
			if !exists(existing, name) {
				missing = append(missing, fmt.Sprintf("%s:%d names %s, which doesn't exist", document, number+1, name))
			}
		}
	}
	return missing
}

// pathsOf returns the paths in a line of a document, relative to the repository root. If fenced is
// set, the entire line is code.
func pathsOf(document, line string, fenced bool) (paths []string) {
	code := []string{line}
	if !fenced {
		code = nil
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			code = append(code, span[1])
		}
		for _, link := range linkTo.FindAllStringSubmatch(line, -1) {
			target, _, _ := strings.Cut(link[1], "#")
			if target != "" && !strings.Contains(target, ":") {
				paths = append(paths, path.Join(path.Dir(document), target))
			}
		}
	}
	for _, text := range code {
		for _, word := range strings.Fields(text) {
			if found := namedPath.FindStringSubmatch(word); found != nil {
				paths = append(paths, path.Clean(found[1]))
			}
		}
	}
	return paths
}

func exists(existing map[string]bool, name string) bool {
	if !strings.Contains(name, "*") {
		return existing[name]
	}
	for candidate := range existing {
		if ok, err := path.Match(name, candidate); ok && err == nil {
			return true
		}
	}
	return false
}

func TestDocumentsNameExistingPaths(t *testing.T) {
	names := tracked(t)
	documents := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isDocument(name) })
	if len(documents) < 10 {
		t.Fatalf("found %d documents, want at least 10: %q", len(documents), documents)
	}
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path.Join("..", name))
			if err != nil {
				t.Fatalf("read the document: %v", err)
			}
			for _, sentence := range missingPaths(names, name, string(text)) {
				t.Error(sentence)
			}
		})
	}
}

// missingPaths reports only paths that don't exist.
func TestMissingPathsAreFound(t *testing.T) {
	names := []string{"README.md", "app/store/doc.go", "app/store/order.go", "cmd/serve.go", ".ci/run", ".github/SECURITY.md", "web/pages/order.html"}
	rows := []struct{ name, document, text, want string }{
		{"package", "README.md", "see `app/store`", ""},
		{"package with a slash", "README.md", "see `app/store/`", ""},
		{"file", "README.md", "see `app/store/doc.go`.", ""},
		{"wildcard", "README.md", "`ls app/*/order.go`", ""},
		{"command", "README.md", "`.ci/run check` and `go test ./app/store`", ""},
		{"block", "README.md", "```sh\ngo test ./app/store\n```", ""},
		{"all packages", "README.md", "`go test ./...`", ""},
		{"import path", "README.md", "`golang.org/x/app/none`", ""},
		{"link", ".github/ARCHITECTURE.md", "[doc](../app/store/doc.go#L1) [security](SECURITY.md) [here](#top)", ""},
		{"link to a page", "README.md", "[Go](https://go.dev/app/none)", ""},
		{"prose", "README.md", "app/none without quotes", ""},
		{"missing package", "README.md", "see `app/none`", "README.md:1 names app/none"},
		{"missing file", "README.md", "\nsee `app/store/none.go`", "README.md:2 names app/store/none.go"},
		{"missing wildcard", "README.md", "`app/*/none.go`", "names app/*/none.go"},
		{"missing in a command", "README.md", "`go test ./app/none`", "names app/none"},
		{"missing in a block", "README.md", "```sh\n.ci/none\n```", "names .ci/none"},
		{"missing link", ".github/ARCHITECTURE.md", "[doc](../app/none/doc.go)", "names app/none/doc.go"},
		{"missing link beside the document", ".github/ARCHITECTURE.md", "[doc](NONE.md)", "names .github/NONE.md"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got := missingPaths(names, row.document, row.text)
			switch {
			case row.want == "" && len(got) > 0:
				t.Errorf("missingPaths(%q) = %q, want none", row.text, got)
			case row.want != "" && (len(got) != 1 || !strings.Contains(got[0], row.want)):
				t.Errorf("missingPaths(%q) = %q, want one with %q", row.text, got, row.want)
			}
		})
	}
}
