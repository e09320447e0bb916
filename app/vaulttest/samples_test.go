package vaulttest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// TestSampleFolder prints whether the tests read documents outside this repository, for "go test -v".
func TestSampleFolder(t *testing.T) {
	own, others := 0, 0
	for _, s := range Samples(t) {
		if s.InRepo {
			own++
		} else {
			others++
		}
	}
	if folder := SampleFolder(t); folder != "" {
		fmt.Printf("samples: the tests read the %d documents of this repository, and %d more of %s\n", own, others, folder)
		return
	}
	fmt.Printf("samples: the tests read the %d documents of this repository; there is no folder of more (DEEDKEEP_SAMPLES)\n", own)
}

// TestRepositorySamples checks that the documents of this repository match their manifest, and that Samples returns them
// all.
func TestRepositorySamples(t *testing.T) {
	listed := map[string]bool{}
	kinds := map[string]bool{}
	for _, s := range Samples(t) {
		if !s.InRepo {
			continue
		}
		listed[s.Path] = true
		if s.Accept {
			kinds[s.Kind] = true
		}
		content, err := os.ReadFile(s.File)
		if err != nil {
			t.Fatalf("read %s: %v", s.Path, err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != s.sha256 {
			t.Errorf("%s: SHA-256 %x, want %s", s.Path, sum, s.sha256)
		}
	}
	for _, kind := range []string{"pdf", "tiff", "png", "jpg", "gif", "bmp", "webp", "docx", "doc", "xlsx", "txt"} {
		if !kinds[kind] {
			t.Errorf("accepted documents of type %s: got none, want at least 1", kind)
		}
	}
	files, err := filepath.Glob("testdata/documents/*/*")
	if err != nil {
		t.Fatalf("list the documents: %v", err)
	}
	var size int64
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatalf("stat %s: %v", file, err)
		}
		size += info.Size()
		name := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
		if path.Ext(name) == ".gz" {
			name = name[:len(name)-len(".gz")]
		}
		if !listed[name] {
			t.Errorf("%s is not in the manifest", name)
		}
	}
	if size > 2_000_000 {
		t.Errorf("size of all documents: got %d bytes, want at most 2,000,000", size)
	}
}

// TestSamplesFromFolder checks that documents from another folder follow those of the repository, without duplicates.
func TestSamplesFromFolder(t *testing.T) {
	folder := t.TempDir()
	own := Samples(t)[0]
	manifest := "path\tsha256\texpected\tkind\tmime\tpage_count\tphrase\trefusal\tremark\n" +
		own.Path + "\t" + own.sha256 + "\taccept\tpng\timage/png\t\t\t\t\n" +
		own.Path + "\tdiffers\taccept\tpng\timage/png\t\t\t\t\n" +
		"more/deed.pdf\tdiffers\taccept\tpdf\tapplication/pdf\t7\t\t\t\n"
	if err := os.WriteFile(filepath.Join(folder, "MANIFEST.tsv"), []byte(manifest), 0o600); err != nil {
		t.Fatalf("write the manifest: %v", err)
	}
	t.Setenv("DEEDKEEP_SAMPLES", folder)
	var got []string
	for _, s := range Samples(t) {
		if !s.InRepo {
			got = append(got, fmt.Sprint(s.Path, " ", s.Pages))
		}
	}
	if want := []string{own.Path + " 0", "more/deed.pdf 7"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("samples from the folder: got %q, want %q", got, want)
	}
}
