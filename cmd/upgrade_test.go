package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// previousSchema creates a data directory whose database has the schema before this one.
func previousSchema(t *testing.T) (data string) {
	t.Helper()
	fixture := filepath.FromSlash(fmt.Sprintf("../app/instance/testdata/backup-schema-%d", store.Schema-1))
	return vaulttest.OldVault(t, fixture, shortDataDir(t)).Dir
}

// A server keeps a copy of the database before it upgrades it, and status names the copy. If there is no room for it, the
// server says how to start without one.
func TestServeUpgrades(t *testing.T) {
	status := func(data string) result { return runCLI(t.Context(), t, nil, "status", "--data", data) }
	t.Run("with a copy", func(t *testing.T) {
		data := previousSchema(t)
		if got := status(data); got.code != exitFailed || !strings.Contains(got.messages, "older version") {
			t.Errorf("status before the upgrade: got %+v, want the reason", got)
		}
		startServer(t, data)
		if got := status(data); got.code != 0 || !strings.Contains(got.out, "vault.db.before-") ||
			!strings.Contains(got.out, "kept until the next upgrade") {
			t.Errorf("status: got %+v, want the name of the copy", got)
		}
	})
	t.Run("without room for a copy", func(t *testing.T) {
		data := previousSchema(t)
		const full = "DEEDKEEP_DISK_RESERVE"
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		t.Run("serve", func(t *testing.T) {
			t.Setenv(full, "1 TB")
			got := runCLI(ctx, t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
			if got.code == 0 || !strings.Contains(got.messages, `upgrade without a copy: "deedkeep serve --without-copy"`) {
				t.Errorf("serve: got %+v, want the way without a copy", got)
			}
		})
		startServer(t, data, full+"=1 TB", "--without-copy")
		if got := status(data); got.code != 0 || strings.Contains(got.out, "vault.db.before-") {
			t.Errorf("status: got %+v, want no copy", got)
		}
		if copies := store.UpgradeFiles(filepath.Join(data, "vault.db")); len(copies) > 0 {
			t.Errorf("got copies %q, want none", copies)
		}
	})
}
