package instance_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// oldVault creates a data directory with the database of an older schema and its documents. It returns the options to
// open it with.
func oldVault(t *testing.T, schema int) instance.Options {
	t.Helper()
	return vaulttest.OldVault(t, fixtureDir(schema), filepath.Join(t.TempDir(), "old"))
}

// lastEvent returns the newest audit log entry.
func lastEvent(t *testing.T, v *instance.Instance) model.Event {
	t.Helper()
	e, err := store.Read(t.Context(), v.Store, (*store.Tx).LastEvent)
	if err != nil {
		t.Fatalf("read audit log: %v", err)
	}
	return e
}

// Only a server upgrades the database, and it keeps a copy. If there is no room for that, it says so, and upgrades without
// a copy if WithoutCopy is set.
func TestUpgradeAtStart(t *testing.T) {
	const schema = store.Schema - 1
	opts := oldVault(t, schema)
	opts.Settings.Backup.Version = "v0.4.0"
	if _, err := instance.Open(t.Context(), opts); !errors.Is(err, store.ErrOldSchema) || errs.KindOf(err) != errs.Conflict {
		t.Errorf("Open() of a command = %v, want ErrOldSchema", err)
	}
	opts.Upgrade, opts.Settings.DiskReserve = true, math.MaxInt64
	_, err := instance.Open(t.Context(), opts)
	if errs.KindOf(err) != errs.InsufficientStorage || !strings.Contains(err.Error(), "--without-copy") {
		t.Errorf("Open() on a full disk = %v, want InsufficientStorage and what to do", err)
	}
	if files := store.UpgradeFiles(filepath.Join(opts.Dir, "vault.db")); len(files) != 0 {
		t.Errorf("got copies %v, want none", files)
	}
	full := opts
	full.WithoutCopy, full.Dir = true, filepath.Join(t.TempDir(), "full")
	if err := os.CopyFS(full.Dir, os.DirFS(opts.Dir)); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	v := vaulttest.Open(t, full)
	if e := lastEvent(t, v); e.Kind != "vault.upgraded" || e.Detail["copy"] != "none" {
		t.Errorf("without a copy: got entry %+v, want an upgrade", e)
	}
	opts.Settings.DiskReserve, opts.Settings.Backup.To = 0, filepath.Join(t.TempDir(), "backups")
	v = vaulttest.Open(t, opts)
	e := lastEvent(t, v)
	name := "vault.db.before-" + e.Detail["from"]
	if e.Kind != "vault.upgraded" || e.Detail["copy"] != name || e.Detail["to"] != "0.4.0" {
		t.Errorf("got entry %+v, want an upgrade to 0.4.0 with a copy", e)
	}
	if files := store.UpgradeFiles(filepath.Join(opts.Dir, "vault.db")); !slices.Equal(files, []string{filepath.Join(opts.Dir, name)}) {
		t.Errorf("got copies %v, want %s", files, name)
	}
	checkTitleWork(t, v)
	// The version from before the upgrade can restore the backup, and pruning keeps it.
	restore := vaulttest.RestoreOptions(t, opts.Settings.Backup.To)
	restore.Snapshot = "before-upgrade-" + e.Detail["from"]
	if r, err := instance.Restore(t.Context(), restore); err != nil || r.Info.Schema != schema || r.Info.Files != 2 ||
		r.Info.Snapshot != e.Detail["backup"] {
		t.Errorf("Restore(%s) = %+v, %v; want 2 files of schema %d", restore.Snapshot, r, err, schema)
	}
	checkTitleWork(t, vaulttest.Open(t, restore.Vault))
}

// The server upgrades the database even if its backup directory can't be used: it has a copy.
func TestUpgradeWithoutBackupDirectory(t *testing.T) {
	opts := oldVault(t, store.FirstSchema)
	var log bytes.Buffer
	opts.Upgrade, opts.Log = true, slog.New(slog.NewTextHandler(&log, nil))
	opts.Settings.Backup.To = filepath.Join(t.TempDir(), "nas")
	if err := os.WriteFile(opts.Settings.Backup.To, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	e := lastEvent(t, vaulttest.Open(t, opts))
	if e.Kind != "vault.upgraded" || e.Detail["backup"] != "" || e.Detail["copy"] != "vault.db.before-schema-9" {
		t.Errorf("got entry %+v, want an upgrade with a copy and without a backup", e)
	}
	if !strings.Contains(log.String(), `level=WARN msg="no backup was created before the upgrade"`) {
		t.Errorf("got log %s, want a warning", &log)
	}
}
