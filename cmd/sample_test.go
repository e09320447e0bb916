//go:build harness || wine

package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/vaulttest"
)

// readSample returns the absolute path and the content of a sample document.
func readSample(t *testing.T, path string) (file string, content []byte) {
	t.Helper()
	for _, s := range vaulttest.Samples(t) {
		if s.Path == path {
			absolute, err := filepath.Abs(s.File)
			if err != nil {
				t.Fatalf("absolute path: %v", err)
			}
			if content, err = os.ReadFile(absolute); err != nil {
				t.Fatalf("read file: %v", err)
			}
			return absolute, content
		}
	}
	t.Fatalf("the sample manifest has no %s", path)
	return "", nil
}
