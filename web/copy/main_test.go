package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	packages, folder := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(packages, "a"), []byte("engine"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := []asset{{"a", "a.gz", true}, {"a", "LICENSE.a", false}}
	var packed [2][]byte
	for i := range packed {
		if err := run(packages, folder, list); err != nil {
			t.Fatal(err)
		}
		var err error
		if packed[i], err = os.ReadFile(filepath.Join(folder, "a.gz")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("two runs differ")
	}
	z, err := gzip.NewReader(bytes.NewReader(packed[0]))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != "engine" {
		t.Errorf("packed %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "LICENSE.a")); err != nil || string(got) != "engine" {
		t.Errorf("copied %q, %v", got, err)
	}
}

func TestRunWithoutPackages(t *testing.T) {
	if err := run(t.TempDir(), t.TempDir(), []asset{{"a", "a", false}}); err == nil {
		t.Error("no error")
	}
}
