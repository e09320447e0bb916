package vaulttest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// orphan lays a document down that no record names.
func AddOrphan(t *testing.T, dir string, body []byte) string {
	t.Helper()
	sum := sha256.Sum256(body)
	name := hex.EncodeToString(sum[:])
	path := filepath.Join(dir, "blobs", name[:2], name)
	if err := os.WriteFile(path, body, 0o400); err != nil {
		t.Fatal(err)
	}
	return path
}
