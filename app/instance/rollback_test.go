package instance_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// upgradedVault creates a vault with one document, whose database a newer version has upgraded. uploads is the number of
// documents that were uploaded with that version.
func upgradedVault(t *testing.T, uploads int) instance.Options {
	t.Helper()
	opts := vaulttest.Options(t)
	opts.Settings.Backup.Version = "v0.3.0"
	v := vaulttest.OpenUnchecked(t, opts)
	v.Start(24 * time.Hour)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	vaulttest.Close(t, v)
	path := filepath.Join(opts.Dir, "vault.db")
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+".before-0.3.0", raw, 0o600)
	}
	if err != nil {
		t.Fatalf("copy the database: %v", err)
	}
	newer := opts
	newer.Settings.Backup.Version = "v0.4.0"
	v = vaulttest.OpenUnchecked(t, newer)
	err = v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		return tx.AddEvent(model.Event{At: v.Now(), Actor: model.SystemActor(), Kind: "vault.upgraded"})
	})
	if err != nil {
		t.Fatalf("add audit log entry: %v", err)
	}
	v.Start(24 * time.Hour)
	for range uploads {
		vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Plat.pdf", "b"))
	}
	vaulttest.Close(t, v)
	setSchema(t, path, store.Schema+1)
	return opts
}

// setSchema changes the schema number of a database.
func setSchema(t *testing.T, path string, schema uint64) {
	t.Helper()
	db, err := boltkv.Open(t.Context(), path, boltkv.Options{})
	if err != nil {
		t.Fatalf("open database: %v", err)
	}
	tx, err := db.Begin(t.Context(), true)
	if err == nil {
		meta, failed := tx.Bucket(t.Context(), []byte("meta"))
		if err = failed; err == nil {
			err = errors.Join(meta.Put(t.Context(), []byte("schema"), binary.BigEndian.AppendUint64(nil, schema)), tx.Commit(t.Context()))
		}
	}
	if err := errors.Join(err, db.Close(false)); err != nil {
		t.Fatalf("set schema: %v", err)
	}
}

// files returns the names of vault.db and of the files beside it that an upgrade leaves.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "vault.db") && !strings.HasSuffix(e.Name(), ".clean") {
			names = append(names, e.Name())
		}
	}
	return names
}

// An upgrade without changes is undone, and the server accepts the database. A second call changes nothing.
func TestRollBack(t *testing.T) {
	opts := upgradedVault(t, 0)
	if _, err := instance.Open(t.Context(), opts); err == nil || !strings.Contains(err.Error(), `"deedkeep rollback"`) {
		t.Errorf("Open() after the upgrade = %v, want an error that names the command", err)
	}
	r, err := instance.RollBack(t.Context(), opts, false)
	if err != nil || r.Copy != "vault.db.before-0.3.0" || r.Kept != "vault.db.after-0.4.0" || r.Lost != 0 {
		t.Fatalf("RollBack() = %+v, %v; want the copy of 0.3.0", r, err)
	}
	if got := files(t, opts.Dir); !slices.Equal(got, []string{"vault.db", "vault.db.after-0.4.0"}) {
		t.Errorf("got files %v, want the database and the upgraded one", got)
	}
	v := vaulttest.OpenUnchecked(t, opts)
	vaulttest.Verify(t, v)
	e := lastEvent(t, v)
	if e.Kind != "vault.rolled_back" || e.Detail["from"] != "0.4.0" || e.Detail["to"] != "0.3.0" || e.Detail["lost_entries"] != "0" {
		t.Errorf("got entry %+v, want the rollback", e)
	}
	if !v.StartGeneration(t.Context()) {
		t.Error("the server doesn't accept the database, want it to")
	}
	if !bytes.Equal(vaulttest.Content(t, v, 1), vaulttest.PDF(1, "a")) {
		t.Error("the document differs")
	}
	if _, err := instance.RollBack(t.Context(), opts, true); errs.KindOf(err) != errs.Locked {
		t.Errorf("RollBack() of an open vault = %v, want Locked", err)
	}
	vaulttest.Close(t, v)
	if r, err := instance.RollBack(t.Context(), opts, true); err != nil || r.Copy != "" {
		t.Errorf("second RollBack() = %+v, %v; want nothing to do", r, err)
	}
	vaulttest.Open(t, opts)
}

// Changes since the upgrade are lost only with discard. Their documents stay, because the server doesn't trust the older
// database until an administrator does.
func TestRollBackWithChanges(t *testing.T) {
	opts := upgradedVault(t, 2)
	before := files(t, opts.Dir)
	r, err := instance.RollBack(t.Context(), opts, false)
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "2 entries since the upgrade") || !strings.Contains(err.Error(), "--discard") {
		t.Errorf("RollBack() = %+v, %v; want Conflict with the number of changes", r, err)
	}
	if got := files(t, opts.Dir); !slices.Equal(got, before) {
		t.Errorf("got files %v, want %v", got, before)
	}
	if r, err = instance.RollBack(t.Context(), opts, true); err != nil || r.Lost != 2 {
		t.Fatalf("RollBack(discard) = %+v, %v; want 2 lost entries", r, err)
	}
	v := vaulttest.Open(t, opts)
	if e := lastEvent(t, v); e.Kind != "vault.rolled_back" || e.Detail["lost_entries"] != "2" {
		t.Errorf("got entry %+v, want the rollback with 2 lost entries", e)
	}
	if v.StartGeneration(t.Context()) {
		t.Error("the server would delete the documents without a record, want it not to")
	}
}

// A rollback that stops after any of its steps leaves a database, and the next one completes it.
func TestInterruptedRollBack(t *testing.T) {
	for _, row := range []struct {
		name string
		stop func(t *testing.T, dir string) // does what the steps until the interruption did
	}{
		{"after the entry", func(t *testing.T, dir string) { addRollbackEntry(t, dir) }},
		{"after the link", func(t *testing.T, dir string) {
			addRollbackEntry(t, dir)
			if err := os.Link(filepath.Join(dir, "vault.db"), filepath.Join(dir, "vault.db.after-0.4.0")); err != nil {
				t.Fatalf("link: %v", err)
			}
		}},
		{"without hard links", func(t *testing.T, dir string) {
			addRollbackEntry(t, dir)
			if err := os.Rename(filepath.Join(dir, "vault.db"), filepath.Join(dir, "vault.db.after-0.4.0")); err != nil {
				t.Fatalf("rename: %v", err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			opts := upgradedVault(t, 1)
			row.stop(t, opts.Dir)
			if _, err := instance.Open(t.Context(), opts); err == nil || !strings.Contains(err.Error(), `"deedkeep rollback"`) {
				t.Errorf("Open() = %v, want an error that names the command", err)
			}
			if _, err := instance.RollBack(t.Context(), opts, false); errs.KindOf(err) != errs.Conflict {
				t.Errorf("RollBack() = %v, want Conflict", err)
			}
			r, err := instance.RollBack(t.Context(), opts, true)
			if err != nil || r.Lost != 1 || r.Kept != "vault.db.after-0.4.0" {
				t.Fatalf("RollBack() = %+v, %v; want 1 lost entry", r, err)
			}
			v := vaulttest.Open(t, opts)
			if got := files(t, opts.Dir); !slices.Equal(got, []string{"vault.db", "vault.db.after-0.4.0"}) {
				t.Errorf("got files %v, want the database and the upgraded one", got)
			}
			kinds := 0
			page, err := store.Read(t.Context(), v.Store, func(tx *store.Tx) (store.Page[model.Event], error) {
				return tx.ListEvents(store.Query{Limit: 50})
			})
			for _, e := range page.Items {
				if e.Kind == "vault.rolled_back" {
					kinds++
				}
			}
			if err != nil || kinds != 1 {
				t.Errorf("got %d entries of a rollback, %v; want 1", kinds, err)
			}
		})
	}
}

// addRollbackEntry does the first step of a rollback.
func addRollbackEntry(t *testing.T, dir string) {
	t.Helper()
	opts := vaulttest.Options(t)
	opts.Dir = filepath.Join(t.TempDir(), "copy")
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	move := func(from, to string) {
		raw, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, raw, 0o600)
		}
		if err != nil {
			t.Fatalf("copy file: %v", err)
		}
	}
	move(filepath.Join(dir, "vault.db.before-0.3.0"), filepath.Join(opts.Dir, "vault.db"))
	move(filepath.Join(dir, "secret.key"), filepath.Join(opts.Dir, "secret.key"))
	v := vaulttest.OpenUnchecked(t, opts)
	err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		return tx.AddEvent(model.Event{At: v.Now(), Actor: model.SystemActor(), Kind: "vault.rolled_back"})
	})
	if err != nil {
		t.Fatalf("add audit log entry: %v", err)
	}
	vaulttest.Close(t, v)
	move(filepath.Join(opts.Dir, "vault.db"), filepath.Join(dir, "vault.db.before-0.3.0"))
}

// RollBack changes nothing if the copy can't be used.
func TestRollBackWithoutUsableCopy(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(t *testing.T, dir string) error
		want   string
		is     error
	}{
		{"no copy", func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "vault.db.before-0.3.0")) }, "has no copy", nil},
		{"a damaged copy", func(_ *testing.T, dir string) error {
			path := filepath.Join(dir, "vault.db.before-0.3.0")
			raw, err := os.ReadFile(path)
			at := bytes.LastIndex(raw, []byte("Deed.pdf"))
			raw[at] ^= 1
			return errors.Join(err, os.WriteFile(path, raw, 0o600))
		}, "is damaged", archive.ErrDamaged},
		{"the newer version", func(t *testing.T, dir string) error {
			t.Helper()
			path := filepath.Join(dir, "vault.db.before-0.3.0")
			raw, err := os.ReadFile(path)
			setSchema(t, path, store.Schema-1)
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "vault.db"), raw, 0o600))
		}, "install version 0.3.0", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			opts := upgradedVault(t, 0)
			if err := row.change(t, opts.Dir); err != nil {
				t.Fatalf("change: %v", err)
			}
			before, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
			if err != nil {
				t.Fatalf("read database: %v", err)
			}
			_, err = instance.RollBack(t.Context(), opts, true)
			if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), row.want) || row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("RollBack() = %v, want %q", err, row.want)
			}
			if now, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db")); err != nil || !bytes.Equal(now, before) {
				t.Errorf("the database changed, %v; want it unchanged", err)
			}
		})
	}
	if _, err := instance.RollBack(t.Context(), vaulttest.Options(t), true); !errors.Is(err, instance.ErrNoVault) {
		t.Errorf("RollBack() of an empty directory = %v, want ErrNoVault", err)
	}
}
