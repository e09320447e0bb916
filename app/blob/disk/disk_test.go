package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/blob"
	"deedkeep/app/blob/blobtest"
	"deedkeep/app/blob/disk"
)

func TestEngine(t *testing.T) {
	blobtest.Run(t, func(t *testing.T, tmp string) blob.Engine {
		t.Helper()
		e, err := disk.Open(filepath.Join(filepath.Dir(tmp), "blobs"), tmp, disk.OSFiles())
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		return e
	})
}

// TestMemory checks that the tests don't depend on the disk engine.
func TestMemory(t *testing.T) {
	blobtest.Run(t, func(t *testing.T, tmp string) blob.Engine {
		t.Helper()
		if err := os.Mkdir(tmp, 0o700); err != nil {
			t.Fatalf("os.Mkdir: %v", err)
		}
		return &blobtest.Memory{}
	})
}
