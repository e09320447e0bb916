package vaulttest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

//go:generate go run sample_folder.go

// Sample is a row of MANIFEST.tsv, which lists the sample documents.
type Sample struct {
	Path      string // path in the manifest, with slashes
	File      string // path on disk, valid until the test ends
	InRepo    bool   // whether the document is in this repository
	Accept    bool
	Kind      string // type of the content: pdf, docx, …
	MIME      string
	Pages     int    // 0: not in the manifest
	Phrase    string // a phrase that its text must contain, without a trailing " ?"; "": none
	Rejection string // the expected message of the API; "": none
	Note      string // a note, such as how the phrase was found
	sha256    string
}

// Samples returns the sample documents in this repository, followed by those in SampleFolder. The repository's
// documents are in testdata/documents, together with the script that generates them.
func Samples(t testing.TB) []Sample {
	t.Helper()
	own := readManifest(t, filepath.Join(moduleRoot(t), "app", "vaulttest", "testdata", "documents"))
	unpacked := t.TempDir()
	have := make(map[string]bool)
	for i := range own {
		own[i].InRepo = true
		have[own[i].Path+own[i].sha256] = true
		unpack(t, &own[i], unpacked)
	}
	folder := SampleFolder(t)
	if folder == "" {
		return own
	}
	return slices.Concat(own, slices.DeleteFunc(readManifest(t, folder), func(s Sample) bool { return have[s.Path+s.sha256] }))
}

// SampleFolder returns a directory with more sample documents: DEEDKEEP_SAMPLES, or shared/samples next to the clone.
// It returns "" if neither exists.
func SampleFolder(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("DEEDKEEP_SAMPLES")
	if folder != "" {
		return folder
	}
	folder = filepath.Join(moduleRoot(t), "..", "shared", "samples")
	if _, err := os.Stat(filepath.Join(folder, "MANIFEST.tsv")); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return folder
}

// unpack decompresses a sample document that is stored as .gz in the repository.
func unpack(t testing.TB, s *Sample, to string) {
	t.Helper()
	packed, err := os.ReadFile(s.File + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var content []byte
	if err == nil {
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			content, err = io.ReadAll(r)
		}
	}
	s.File = filepath.Join(to, filepath.Base(s.File))
	if err = cmp.Or(err, os.WriteFile(s.File, content, 0o600)); err != nil {
		t.Fatalf("unpack %s: %v", s.Path, err)
	}
}

func readManifest(t testing.TB, folder string) []Sample {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(folder, "MANIFEST.tsv"))
	if err != nil {
		t.Fatalf("sample documents: %v", err)
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
			Path: cell("path"), File: filepath.Join(folder, filepath.FromSlash(cell("path"))), sha256: cell("sha256"),
			Accept: cell("expected") == "accept", Kind: cell("kind"), MIME: cell("mime"),
			Phrase: strings.TrimSuffix(cell("phrase"), " ?"), Rejection: cell("refusal"), Note: cell("remark"),
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

// CacheDir returns the cache directory for compiled engines: DEEDKEEP_TEST_CACHE, or deedkeep-test in the user's cache
// directory. All tests share it, so that each engine is compiled only once.
func CacheDir() string {
	if folder := os.Getenv("DEEDKEEP_TEST_CACHE"); folder != "" {
		return folder
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		// If there is no home directory, use the system's temporary directory.
		folder = os.TempDir()
	}
	return filepath.Join(folder, "deedkeep-test")
}

// moduleRoot returns the directory that contains go.mod. It searches upward from the working directory of the test.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for {
		if err != nil {
			t.Fatalf("find go.mod: %v", err)
		}
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if up := filepath.Dir(dir); up != dir {
			dir, err = up, nil
		}
	}
}
