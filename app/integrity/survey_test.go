package integrity_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"deedkeep/app/integrity"
	"deedkeep/app/vaulttest"
)

// drawn are the names of a drawn data directory, without what is inside its folders.
func drawn(text, indent string) (names []string) {
	for _, found := range regexp.MustCompile(`(?m)^`+indent+`([a-z.]+)(?:/\S*)?  `).FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return names
}

// What the survey knows, what the package says, and what the page in the directory says
// are the same names.
func TestDataDirectoryIsDrawnAsItIs(t *testing.T) {
	t.Parallel()
	own := slices.Sorted(slices.Values(integrity.KnownNames()))
	file, err := parser.ParseFile(token.NewFileSet(), "../instance/instance.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	if names := drawn(file.Doc.Text(), "\t    "); !slices.Equal(names, own) {
		t.Errorf("instance.go draws %q, the survey knows %q", names, own)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "data", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	// The blobs are drawn over several lines.
	if names := append(drawn(string(page), "      "), "blobs"); !slices.Equal(slices.Sorted(slices.Values(names)), own) {
		t.Errorf("data/README.md draws %q, the survey knows %q", names, own)
	}
}

// What a drill or a killed server has left keeps nobody from making a vault there.
func TestOwnLeftoversAreNoForeignFiles(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	if err := os.MkdirAll(filepath.Join(opts.Dir, "drill", "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"generation.new", "serving.json.new", "config.yaml", "README.md"} {
		if err := os.WriteFile(filepath.Join(opts.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vaulttest.Open(t, opts)
}
