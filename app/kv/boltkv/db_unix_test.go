//go:build unix

package boltkv

import (
	"errors"
	"os"
	"testing"

	"deedkeep/app/kv"
)

// A check reads the file that the database has open, and none that took its place.
func TestCheckOfReplacedFile(t *testing.T) {
	db := openNew(t, func(tx kv.Tx) error { return tx.CreateBucket(t.Context(), []byte("b")) })
	content, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	begin := func(what string, want error) {
		t.Helper()
		c, err := db.BeginCheck(t.Context())
		if !errors.Is(err, want) {
			t.Errorf("BeginCheck() %s = %v, want %v", what, err, want)
		}
		if err == nil {
			err = c.End()
		}
		if want == nil && err != nil {
			t.Errorf("BeginCheck() %s = %v, want a check", what, err)
		}
	}
	moved := db.Path() + ".moved"
	if err := os.Rename(db.Path(), moved); err != nil {
		t.Fatalf("rename file: %v", err)
	}
	begin("without the file", kv.ErrGone)
	if err := os.WriteFile(db.Path(), content, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	begin("with another file", kv.ErrReplaced)
	if err := os.Rename(moved, db.Path()); err != nil {
		t.Fatalf("rename file: %v", err)
	}
	begin("with the file", nil)
}
