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
	if err := os.WriteFile(filepath.Join(packages, "a"), []byte("wasm"), 0o600); err != nil {
		t.Fatalf("write a package: %v", err)
	}
	list := []asset{{"a", "a.gz", true}, {"a", "LICENSE.a", false}}
	var packed [2][]byte
	for i := range packed {
		if err := run(packages, folder, list); err != nil {
			t.Fatalf("run: %v", err)
		}
		var err error
		if packed[i], err = os.ReadFile(filepath.Join(folder, "a.gz")); err != nil {
			t.Fatalf("read the output: %v", err)
		}
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("two runs over the same packages wrote different bytes")
	}
	z, err := gzip.NewReader(bytes.NewReader(packed[0]))
	if err != nil {
		t.Fatalf("decompress: %v", err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != "wasm" {
		t.Errorf("the compressed file holds %q, %v, want engine", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "LICENSE.a")); err != nil || string(got) != "wasm" {
		t.Errorf("the copied file holds %q, %v, want engine", got, err)
	}
}

func TestRunWithoutPackages(t *testing.T) {
	if err := run(t.TempDir(), t.TempDir(), []asset{{"a", "a", false}}); err == nil {
		t.Error("run without packages succeeded, want an error")
	}
}
