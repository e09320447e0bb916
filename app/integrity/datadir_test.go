package integrity_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"deedkeep/app/integrity"
	"deedkeep/app/vaulttest"
)

// listedNames returns the sorted top-level names from a listing of the data directory. The
// lines of the listing start with indent.
func listedNames(listing, indent string) (names []string) {
	for _, match := range regexp.MustCompile(`(?m)^`+indent+`([a-z.]+)(?:/\S*)?  `).FindAllStringSubmatch(listing, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return names
}

// The doc comment of package instance and data/README.md list exactly the names that
// CheckDataDir accepts.
func TestDataDirIsDocumented(t *testing.T) {
	t.Parallel()
	want := slices.Sorted(slices.Values(integrity.KnownNames()))
	file, err := parser.ParseFile(token.NewFileSet(), "../instance/instance.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatalf("parse instance.go: %v", err)
	}
	if got := listedNames(file.Doc.Text(), "\t    "); !slices.Equal(got, want) {
		t.Errorf("names in instance.go = %q, want %q", got, want)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "data", "README.md"))
	if err != nil {
		t.Fatalf("read the README: %v", err)
	}
	// The README describes the blobs on several lines, which the pattern doesn't match.
	got := append(listedNames(string(readme), "      "), "blobs")
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("names in data/README.md = %q, want %q", got, want)
	}
}

// A vault can be created in a directory that contains files left behind by a restore test
// or a killed server.
func TestCheckDataDirAcceptsOwnLeftovers(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	if err := os.MkdirAll(filepath.Join(opts.Dir, "drill", "data"), 0o700); err != nil {
		t.Fatalf("create the directory of a restore test: %v", err)
	}
	for _, name := range []string{"generation.new", "serving.json.new", "config.yaml", "README.md"} {
		if err := os.WriteFile(filepath.Join(opts.Dir, name), nil, 0o600); err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
	}
	vaulttest.Open(t, opts)
}

// A directory is read-only if a change of it fails with EROFS, whatever its permissions say,
// or if the permissions deny changes. Other errors are failures.
func TestIsReadOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // see IsReadOnly
	}
	writable, missing := t.TempDir(), filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct {
		name string
		dir  string
		err  error
		want bool
	}{
		{"no error", writable, nil, false},
		{"read-only file system", writable, &fs.PathError{Op: "chmod", Path: writable, Err: syscall.EROFS}, true},
		{"I/O error", writable, &fs.PathError{Op: "chmod", Path: writable, Err: syscall.EIO}, false},
		{"directory that can't be written to", missing, &fs.PathError{Op: "chmod", Path: missing, Err: syscall.EPERM}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := integrity.IsReadOnly(tt.dir, tt.err); got != tt.want {
				t.Errorf("IsReadOnly() = %v, want %v", got, tt.want)
			}
		})
	}
}
