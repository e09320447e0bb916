//go:build root && unix

package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/config"
)

// checkOwners finds files that belong to another user in every directory. Run this test as root: go test -tags root
// ./app/doctor
func TestOwners(t *testing.T) {
	const otherUser = 65534
	c := config.Default()
	c.Data = t.TempDir()
	check(t, "no vault", checkOwners(c), OK, "no data yet")
	files := []string{"vault.db", "serving.json", "blobs/00/00ab", "blobs/ff/ffab", "search/1/segment", "previews/ab/text", "lost+found/x"}
	for _, name := range files {
		path := filepath.Join(c.Data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	chownAll := func(uid int) {
		t.Helper()
		if err := filepath.WalkDir(c.Data, func(path string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(path, uid, uid)
			}
			return err
		}); err != nil {
			t.Fatalf("change owners: %v", err)
		}
	}
	chownAll(0)
	check(t, "all of root", checkOwners(c), OK, "all 15 checked files")
	chownAll(otherUser)
	check(t, "all of another user", checkOwners(c), OK, "all 15 checked files")
	for _, name := range append(files[1:6:6], "search", "blobs/00") {
		chownAll(otherUser)
		if err := os.Chown(filepath.Join(c.Data, name), 0, 0); err != nil {
			t.Fatalf("change owner: %v", err)
		}
		check(t, name, checkOwners(c), Bad, filepath.Join(c.Data, name))
		check(t, name, checkOwners(c), Bad, "chown -R")
	}
	chownAll(otherUser)
	if err := os.Chown(filepath.Join(c.Data, "lost+found"), 0, 0); err != nil {
		t.Fatalf("change owner: %v", err)
	}
	check(t, "lost+found", checkOwners(c), OK, "all 15 checked files")
}
