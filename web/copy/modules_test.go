package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/web"
)

func TestModuleLicenses(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a@v1/LICENSE": "terms of a\r\n", "a@v1/LICENSE.md": "terms of a", "a@v1/license.go": "package a", "a@v1/README.md": "about a",
		"a@v1/inner/part/COPYING": "terms of a part", "a@v1/other/LICENSE": "of what is not compiled in", "b@v2/License.txt": "terms of b",
		"b@v2/NOTICE": "notice of b", "b@v2/licenses": "",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatalf("create a directory: %v", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatalf("write a file: %v", err)
		}
	}
	a, b := filepath.Join(root, "a@v1"), filepath.Join(root, "b@v2")
	got, err := moduleLicenses([]place{
		{"a v1", a, filepath.Join(a, "inner", "part")}, {"a v1", a, a}, {"b v2", b, filepath.Join(b, "x")},
	})
	want := map[string]string{"a v1": "terms of a\n\nterms of a part", "b v2": "terms of b\n\nnotice of b"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("moduleLicenses() = %q, %v, want %q", got, err, want)
	}
	if _, err := moduleLicenses([]place{{"c v3", root, root}}); err == nil || err.Error() != "c v3 has no license" {
		t.Errorf("moduleLicenses() of a module without a license = %v, want an error that names it", err)
	}
}

func TestCompiledNamesModulesAndGo(t *testing.T) {
	places, err := compiled(t.Context(), "deedkeep/app/pdf")
	if err != nil {
		t.Fatalf("list modules: %v", err)
	}
	modules := map[string]bool{}
	for _, p := range places {
		name, _, _ := strings.Cut(p.module, " ")
		modules[name] = true
	}
	for _, name := range []string{"github.com/tetratelabs/wazero", "go"} {
		if !modules[name] {
			t.Errorf("compiled() lacks %s: %v", name, modules)
		}
	}
	if modules["deedkeep"] || modules["github.com/gin-gonic/gin"] {
		t.Errorf("compiled() = %v, want neither this module nor gin", modules)
	}
}

// Every module compiled into deedkeep must have an embedded license. If this fails, run go
// generate.
func TestEmbeddedLicensesAreComplete(t *testing.T) {
	places, err := compiled(t.Context(), "deedkeep")
	if err != nil {
		t.Fatalf("list modules: %v", err)
	}
	texts, err := web.Licenses()
	if err != nil {
		t.Fatalf("Licenses: %v", err)
	}
	for _, p := range places {
		if texts[p.module] == "" {
			t.Errorf(`%s has no license in the binary: run "go generate ./..."`, p.module)
			texts[p.module] = "reported"
		}
	}
}
