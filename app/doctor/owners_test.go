//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/config"
)

func TestOwnersOfOneUser(t *testing.T) {
	c := config.Default()
	c.Data = filepath.Join(t.TempDir(), "data")
	check(t, "no vault", checkOwners(c), OK, "no data yet")
	if err := os.Mkdir(c.Data, 0o700); err != nil {
		t.Fatalf("create data directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(c.Data, "vault.db"), nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	check(t, "one user", checkOwners(c), OK, "all 2 checked files")
	s := ownerSample{owner: os.Getuid() + 1}
	s.walk(c.Data, maxOwnerDepth)
	if s.seen != 2 || s.foreign != 2 || s.first != c.Data {
		t.Errorf("got %+v, want both of another user, the folder first", s)
	}
}
