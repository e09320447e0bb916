package store

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
)

// writeFixture writes the database of a fixture to path and returns its contents.
func writeFixture(t *testing.T, path string, schema int) map[string]string {
	t.Helper()
	file, err := os.Open(fixtureFile(schema))
	if err != nil {
		t.Fatalf("open fixture: %v", err)
	}
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("open fixture: %v", err)
	}
	content, err := io.ReadAll(z)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatalf("read fixture: %v", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("write fixture: %v", err)
	}
	return readAll(t, path)
}

// names returns the names of the files in a directory.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// lastEvent returns the kind and the details of the newest audit log entry.
func lastEvent(t *testing.T, s *Store) (kind string, detail map[string]string) {
	t.Helper()
	view(t, s, func(tx *Tx) error {
		e, err := tx.LastEvent()
		kind, detail = e.Kind, e.Detail
		return err
	})
	return kind, detail
}

// openWith opens a database with options and closes it.
func openWith(t *testing.T, path string, change func(*Options)) (kind string, detail map[string]string, err error) {
	t.Helper()
	opts := testOptions()
	change(&opts)
	s, err := Open(t.Context(), path, opts)
	if err != nil {
		return "", nil, err
	}
	kind, detail = lastEvent(t, s)
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	return kind, detail, nil
}

// fixtureLabel is the label of a fixture's Description. Since schema 14, fixtures have a version.
func fixtureLabel(schema int) string {
	d := Description{Schema: uint64(schema)}
	if schema >= 14 {
		d.Version = "v0.3.0"
	}
	return d.Label()
}

// An upgrade keeps the state before it in a file that is complete before the migration begins, and removes the file of
// the upgrade before. An interrupted upgrade leaves files that the next one replaces.
func TestUpgradeKeepsCopy(t *testing.T) {
	for schema := FirstSchema; schema < Schema; schema++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "vault.db")
		before := writeFixture(t, path, schema)
		from := fixtureLabel(schema)
		for _, name := range []string{".before-0.1.0", ".after-0.2.0", ".new-copy-1", ".before-" + from} {
			overwrite([]byte("left behind"))(t, path+name)
		}
		wantCopy := path + ".before-" + from
		checked := false
		kind, detail, err := openWith(t, path, func(o *Options) {
			o.Version = "v0.3.0"
			o.Upgrade.Backup = func(ctx context.Context, s *Store, d Description) string {
				if now := readAll(t, wantCopy); !maps.Equal(now, before) || d.Schema != uint64(schema) || d.LastEvent != 4 {
					t.Errorf("schema %d, before the migration: got a copy with %d entries of %+v, want %d", schema, len(now), d, len(before))
				}
				if err := s.Update(ctx, nil, func(*Tx) error { return nil }); err == nil {
					t.Error("Update before the migration = nil, want an error")
				}
				checked = true
				return "20261121T071500Z"
			}
		})
		want := map[string]string{"from": from, "to": "0.3.0", "copy": filepath.Base(wantCopy), "backup": "20261121T071500Z"}
		if err != nil || !checked || kind != "vault.upgraded" || !maps.Equal(detail, want) {
			t.Errorf("schema %d: Open() = %v, last entry %s %v, want %v", schema, err, kind, detail, want)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"vault.db", filepath.Base(wantCopy), "vault.db.clean"}) {
			t.Errorf("schema %d: got files %v, want the database and its copy", schema, got)
		}
		if info, err := os.Stat(wantCopy); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("copy: got mode %v, %v; want 0600", info.Mode(), err)
		}
		if now := readAll(t, wantCopy); !maps.Equal(now, before) {
			t.Errorf("schema %d: the copy has %d entries, want the %d of before", schema, len(now), len(before))
		}
		setSchema(t, path, uint64(schema))
		if _, _, err := openWith(t, path, func(o *Options) { o.Version = "v0.4.0+x" }); err != nil {
			t.Fatalf("second upgrade: %v", err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"vault.db", "vault.db.before-0.3.0", "vault.db.clean"}) {
			t.Errorf("schema %d: got files %v after a second upgrade, want only its copy", schema, got)
		}
	}
}

// If the copy can't be made, nothing changes, and the error says what to do. WithoutCopy skips only the copy.
func TestUpgradeWithoutRoom(t *testing.T) {
	const schema = FirstSchema
	damaged := func(t *testing.T, path string) {
		t.Helper()
		var page int64
		updateRaw(t, path, func(tx *bolt.Tx) error {
			page = int64(tx.Bucket(bucketTemplates).Root())
			return nil
		})
		raw := readFile(t, path)
		raw[page*int64(os.Getpagesize())+10] ^= 0xff // its number of entries
		overwrite(raw)(t, path)
	}
	for _, row := range []struct {
		name   string
		spoil  func(*testing.T, string)
		change func(*Options)
		kind   errs.Kind
		want   []string // parts of the error
	}{
		{"no room", nil, func(o *Options) {
			o.Upgrade.Reserve, o.Upgrade.FreeSpace = 512<<20, func(string) (uint64, error) { return 512 << 20, nil }
		}, errs.InsufficientStorage, []string{"it needs 1 MB and 512 MB of disk.reserve", "has 512 MB free",
			"vault.db.before-0.1.0 is from an earlier upgrade", `"deedkeep serve --without-copy"`}},
		{"free space unknown", nil, func(o *Options) {
			o.Upgrade.FreeSpace = func(string) (uint64, error) { return 0, errors.New("no statistics") }
		}, 0, []string{"no statistics"}},
		{"a command", nil, func(o *Options) { o.Upgrade = nil }, errs.Conflict, []string{"only the server upgrades it; start the server"}},
		{"interrupted", nil, func(o *Options) {
			o.Upgrade.Backup = func(context.Context, *Store, Description) string { panic("stopped") }
		}, 0, nil},
		{"damaged", damaged, func(*Options) {}, 0, []string{"damaged"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "vault.db")
			before := writeFixture(t, path, schema)
			if row.spoil != nil {
				row.spoil(t, path)
			}
			raw := readFile(t, path)
			overwrite([]byte("an earlier copy"))(t, path+".before-0.1.0")
			err := kv.RecoverPanic(func() error { _, _, err := openWith(t, path, row.change); return err })
			if err == nil || errs.KindOf(err) != row.kind {
				t.Fatalf("Open() = %v, want an error of kind %v", err, row.kind)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Open() = %v, want %q", err, want)
				}
			}
			if string(readFile(t, path)) != string(raw) {
				t.Error("the database changed, want it unchanged")
			}
			if row.name != "interrupted" { // the panic keeps the lock
				if _, err := os.Stat(path + ".before-0.1.0"); err != nil || len(names(t, dir)) > 3 {
					t.Errorf("got files %v, want the earlier copy to stay", names(t, dir))
				}
			}
			if row.spoil != nil || row.name == "interrupted" {
				return
			}
			kind, detail, err := openWith(t, path, func(o *Options) { row.change(o); o.Upgrade = &Upgrade{Log: testOptions().Upgrade.Log} })
			if err != nil || kind != "vault.upgraded" || detail["copy"] != "none" {
				t.Errorf("without a copy: got %v, entry %s %v; want an upgrade", err, kind, detail)
			}
			if _, err := os.Stat(path + ".before-schema-9"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("without a copy: got %v, want no copy of %d entries", err, len(before))
			}
		})
	}
}

// CheckFile finds a copy with a damaged page, a damaged record, and one of another vault.
func TestCheckFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	fill(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	if err := CheckFile(t.Context(), path, "fp"); err != nil {
		t.Errorf("CheckFile of an intact file = %v, want nil", err)
	}
	if err := CheckFile(t.Context(), path, "other"); err == nil || !strings.Contains(err.Error(), "secret.key doesn't belong") {
		t.Errorf("CheckFile with another key = %v, want an error", err)
	}
	updateRaw(t, path, func(tx *bolt.Tx) error { return tx.Bucket(bucketOrders).Put(encodeUint64(1), []byte("x")) })
	if err := CheckFile(t.Context(), path, "fp"); err == nil || !strings.Contains(err.Error(), "order") {
		t.Errorf("CheckFile with a damaged order = %v, want it", err)
	}
	setSchema(t, path, Schema-1)
	if err := CheckFile(t.Context(), path, "fp"); err != nil {
		t.Errorf("CheckFile of another schema = %v, want nil: this version doesn't know its records", err)
	}
	raw := readFile(t, path)
	overwrite(raw[:3*os.Getpagesize()])(t, path)
	if err := CheckFile(t.Context(), path, "fp"); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("CheckFile of a truncated file = %v, want an error", err)
	}
}
