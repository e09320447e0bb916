package web

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	importedName = regexp.MustCompile(`(?m)^(?:import |\} from )(?:.* )?'([^']*)';$`)
	windowGlobal = regexp.MustCompile(`\b(?:window|globalThis|self)\.\w+ = `)
)

// Scripts are modules: each is loaded by a page or imported, imports name a script beside it, and none shares
// values through the window.
func TestScriptsAreModules(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "static/script/*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("list the scripts: got %v, %v", names, err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		for _, problem := range moduleProblems(string(content), names) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// moduleProblems returns what is wrong with a script beside the named ones.
func moduleProblems(script string, names []string) []string {
	var problems []string
	for _, m := range importedName.FindAllStringSubmatch(script, -1) {
		if !strings.HasPrefix(m[1], "./") || !slices.Contains(names, path.Join("static/script", m[1])) {
			problems = append(problems, "imports "+m[1])
		}
	}
	for _, found := range windowGlobal.FindAllString(script, -1) {
		problems = append(problems, "sets "+found)
	}
	return problems
}

func TestModuleProblems(t *testing.T) {
	t.Parallel()
	names := []string{"static/script/a.js", "static/script/b.js"}
	for script, want := range map[string]string{
		"import { a } from './a.js';\nimport './b.js';\n": "",
		"import {\n  a,\n} from './a.js';\n":              "",
		"import { a } from './c.js';\n":                   "imports ./c.js",
		"import {\n  a,\n} from 'a.js';\n":                "imports a.js",
		"import '/a.js';\n":                               "imports /a.js",
		"window.tools = { a };\n":                         "sets window.tools = ",
	} {
		if got := strings.Join(moduleProblems(script, names), ", "); got != want {
			t.Errorf("moduleProblems(%q) = %q, want %q", script, got, want)
		}
	}
}

// All assets have the same folder, so that relative imports work, and another folder is not found.
func TestAssetsShareOneFolder(t *testing.T) {
	t.Parallel()
	a, err := OpenAssets()
	if err != nil {
		t.Fatalf("open assets: %v", err)
	}
	folders := map[string]bool{}
	for _, name := range []string{"page.js", "base.css", "htmx.min.js", "swagger-ui.js", "favicon.svg"} {
		address, err := a.URL(name)
		if err != nil {
			t.Fatalf("URL: %v", err)
		}
		folders[path.Dir(address)] = true
	}
	if len(folders) != 1 {
		t.Errorf("folders of the assets = %v, want one", folders)
	}
}
