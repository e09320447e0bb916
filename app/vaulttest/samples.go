package vaulttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Sample is one row of MANIFEST.tsv of the sample documents.
type Sample struct {
	Path    string // as in the manifest, with slashes
	File    string // where it lies
	Accept  bool
	Kind    string // by content: pdf, docx, …
	MIME    string
	Pages   int    // 0: the manifest has none
	Phrase  string // what its text must contain, without a closing " ?"; "" if none
	Refusal string // the sentence of API.md; "" if none
	Remark  string // among others, by what the phrase was found
}

// Samples reads the manifest of the sample documents. Their folder is named by
// DEEDKEEP_SAMPLES; without it, it is shared/samples beside the clone. It fails
// the test where they are not there.
func Samples(t testing.TB) []Sample {
	t.Helper()
	folder := os.Getenv("DEEDKEEP_SAMPLES")
	if folder == "" {
		folder = filepath.Join(top(t), "..", "shared", "samples")
	}
	manifest, err := os.ReadFile(filepath.Join(folder, "MANIFEST.tsv"))
	if err != nil {
		t.Fatalf("sample documents (name their folder in DEEDKEEP_SAMPLES): %v", err)
	}
	lines := strings.Split(strings.TrimRight(string(manifest), "\n"), "\n")
	column := make(map[string]int)
	for i, name := range strings.Split(lines[0], "\t") {
		column[name] = i
	}
	var samples []Sample
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != len(column) {
			t.Fatalf("manifest: %d cells in %q", len(cells), line)
		}
		cell := func(name string) string { return cells[column[name]] }
		s := Sample{
			Path: cell("path"), File: filepath.Join(folder, filepath.FromSlash(cell("path"))),
			Accept: cell("expected") == "accept", Kind: cell("kind"), MIME: cell("mime"),
			Phrase: strings.TrimSuffix(cell("phrase"), " ?"), Refusal: cell("refusal"), Remark: cell("remark"),
		}
		if n := cell("page_count"); n != "" {
			if s.Pages, err = strconv.Atoi(n); err != nil {
				t.Fatalf("manifest: %s: %v", s.Path, err)
			}
		}
		samples = append(samples, s)
	}
	return samples
}

// Cache returns the folder of compiled engines that all tests share, so that
// each engine is compiled once: DEEDKEEP_TEST_CACHE, or deedkeep-test in the
// user's cache folder.
func Cache() string {
	if folder := os.Getenv("DEEDKEEP_TEST_CACHE"); folder != "" {
		return folder
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		// No home: a folder for everybody is as good for a test.
		folder = os.TempDir()
	}
	return filepath.Join(folder, "deedkeep-test")
}

// top is the folder of go.mod, above that of the test's package.
func top(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for {
		if err != nil {
			t.Fatal(err)
		}
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if up := filepath.Dir(dir); up != dir {
			dir, err = up, nil
		}
	}
}
