package instance_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// backedUp is a vault with some documents, and an archive of it.
func backedUp(t *testing.T, count int) (v *instance.Instance, files []model.File, to string) {
	t.Helper()
	v, _ = vaulttest.OpenVerified(t, nil)
	for i := range count {
		files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", fmt.Sprint(i)))...)
	}
	to = filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	return v, files, to
}

// Cut off at any point, nothing opens it, and the same restore goes on.
func TestRestoreGoesOn(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 12)
	opts := vaulttest.RestoreOptions(t, to)
	for cut := range 13 {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		opts.Progress = func(int64, int64) {
			if steps == cut {
				cancel()
			}
			steps++
		}
		_, err := instance.Restore(ctx, opts)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cut %d: %v", cut, err)
		}
		_, err = instance.Open(t.Context(), opts.Vault)
		vaulttest.WantKind(t, "a half restored vault", err, errs.Conflict)
		if err == nil || !strings.Contains(err.Error(), "half restored") {
			t.Errorf("%v", err)
		}
	}
	opts.Progress = vaulttest.NoProgress
	r, err := instance.Restore(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Info.Files != 12 || r.Report.Blobs != 12 {
		t.Errorf("%+v", r)
	}
	v := vaulttest.Open(t, opts.Vault)
	for i, f := range files {
		if !bytes.Equal(vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, fmt.Sprint(i))) {
			t.Errorf("file %d differs", f.ID)
		}
	}
	// Done is done: it is live data now.
	_, err = instance.Restore(t.Context(), opts)
	vaulttest.WantKind(t, "over live data", err, errs.Conflict)
}

// A document that an earlier run left damaged is brought once more; a database that
// was opened already is replaced.
func TestRestoreTrustsNothingThatIsThere(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 3)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Snapshot = "latest"
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	dir := opts.Vault.Dir
	a, err := archive.Open(to, opts.Archive)
	if err != nil {
		t.Fatal(err)
	}
	names, err := a.Snapshots()
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf(`{"archive":%q,"snapshot":%q,"from":"x"}`, a.ID(), names[0])
	deed := filepath.Join(dir, "blobs", files[1].Digest[:2], files[1].Digest)
	body, err := os.ReadFile(deed)
	if err != nil {
		t.Fatal(err)
	}
	body[0] ^= 1
	err = errors.Join(os.Chmod(deed, 0o600), os.WriteFile(deed, body, 0o600), os.WriteFile(filepath.Join(dir, "vault.db"), []byte("no database"), 0o600),
		os.WriteFile(filepath.Join(dir, "restore.json"), []byte(mark), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	r, err := instance.Restore(t.Context(), opts)
	if err != nil || r.Copied != files[1].Size {
		t.Fatalf("%d bytes were copied, %v", r.Copied, err)
	}
	vaulttest.Open(t, opts.Vault)
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	live, files, to := backedUp(t, 2)
	full := func(o *instance.RestoreOptions) { o.Vault.Settings.DiskReserve = 1 << 60 }
	with := func(name string) func(o *instance.RestoreOptions) {
		return func(o *instance.RestoreOptions) {
			path := filepath.Join(o.Vault.Dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := []struct {
		name   string
		change func(o *instance.RestoreOptions)
		want   errs.Kind
		says   string
	}{
		{"live data", func(o *instance.RestoreOptions) { o.Vault.Dir = live.Dir }, errs.Conflict, "never over live data"},
		{"documents", with("blobs/ab/x"), errs.Conflict, `it holds "blobs"`},
		{"a secret", with("secret.key"), errs.Conflict, `it holds "secret.key"`},
		{"somebody's files", with("taxes.xls"), errs.Conflict, `it holds "taxes.xls"`},
		{"another restore", with("restore.json"), errs.Conflict, "unfinished restore"},
		{"no archive", func(o *instance.RestoreOptions) { o.From = filepath.Join(t.TempDir(), "none") }, errs.NotFound, "no backup here"},
		{"no such snapshot", func(o *instance.RestoreOptions) { o.Snapshot = "20200101T000000Z" }, errs.NotFound, "no snapshot"},
		{"no room", full, errs.InsufficientStorage, "MB free"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			opts := vaulttest.RestoreOptions(t, to)
			row.change(&opts)
			_, err := instance.Restore(t.Context(), opts)
			vaulttest.WantKind(t, row.name, err, row.want)
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	if !bytes.Equal(vaulttest.Content(t, live, files[0].ID), vaulttest.PDF(1, "0")) {
		t.Error("live data was touched")
	}
}

// Beside the settings, a page and hidden files, a directory counts as empty.
func TestRestoreBesideTheSettings(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 1)
	opts := vaulttest.RestoreOptions(t, to)
	if err := os.MkdirAll(opts.Vault.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.yaml", "README.md", ".gitignore"} {
		if err := os.WriteFile(filepath.Join(opts.Vault.Dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(opts.Vault.Dir, "config.yaml")); err != nil || string(raw) != "mine" {
		t.Errorf("%s, %v", raw, err)
	}
}

// A damaged archive is refused, and what it went into stays shut.
func TestRestoreOfDamage(t *testing.T) {
	t.Parallel()
	_, _, whole := backedUp(t, 3)
	for name, pattern := range map[string]string{"document": "blobs/*/*", "database": "snapshots/*.db", "manifest": "snapshots/*.manifest", "head": "deedkeep-backup"} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "b")
			if err := os.CopyFS(to, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(filepath.Join(to, filepath.FromSlash(pattern)))
			if err != nil || len(found) == 0 {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			raw[len(raw)/2] ^= 4
			if err := os.WriteFile(found[0], raw, 0o600); err != nil {
				t.Fatal(err)
			}
			opts := vaulttest.RestoreOptions(t, to)
			if _, err = instance.Restore(t.Context(), opts); !errors.Is(err, archive.ErrDamaged) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(opts.Vault.Dir, "vault.db")); !os.IsNotExist(err) {
				t.Errorf("there is a database: %v", err)
			}
			drill, err := instance.TestRestore(t.Context(), filepath.Join(t.TempDir(), "drill"), vaulttest.RestoreOptions(t, to))
			if err != nil || drill.OK() {
				t.Errorf("drill: %+v, %v", drill, err)
			}
		})
	}
}

func TestDrill(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 3)
	scratch := filepath.Join(t.TempDir(), "drill")
	for range 2 {
		d, err := instance.TestRestore(t.Context(), scratch, vaulttest.RestoreOptions(t, to))
		if err != nil || !d.OK() || !strings.HasPrefix(d.Info.Snapshot, "2026") || d.Report.Files != 3 || d.Report.Blobs != 3 {
			t.Errorf("%+v, %v", d, err)
		}
		if _, err := os.Stat(scratch); !os.IsNotExist(err) {
			t.Error("the scratch folder stays")
		}
		// What one that was killed leaves, the next takes away.
		if err := errors.Join(os.MkdirAll(filepath.Join(scratch, "data", "blobs"), 0o700), os.WriteFile(filepath.Join(scratch, "deedkeep-drill"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	opts := vaulttest.RestoreOptions(t, to)
	opts.Progress = func(int64, int64) { cancel() }
	if _, err := instance.TestRestore(ctx, scratch, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Error("the scratch folder stays")
	}
}

// -fixture writes testdata/backup-schema-N, an archive of a vault of this program's
// schema, where there is none, and one of schema 1 beside that of schema 2:
//
//	go test ./app/vault -run TestMakeBackupFixture -fixture
var makeFixture = flag.Bool("fixture", false, "write testdata/backup-schema-N, where there is none")

func fixtureBackup(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("backup-schema-%d", schema))
}

func TestMakeBackupFixture(t *testing.T) {
	if !*makeFixture {
		return
	}
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"))
	dir := fixtureBackup(store.Schema)
	vaulttest.CreateBackup(t, v, filepath.Join(t.TempDir(), "b"))
	made := filepath.Join(t.TempDir(), "made")
	vaulttest.CreateBackup(t, v, made)
	if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	if store.Schema == 2 {
		older(t, dir, fixtureBackup(1))
	}
	for _, made := range []string{dir, fixtureBackup(1)} {
		_ = os.Remove(filepath.Join(made, "lock")) // made by whoever writes
		_ = os.Remove(filepath.Join(made, "tmp"))
		_ = os.Remove(filepath.Join(made, "reading"))
	}
}

// older makes an archive of schema 1 out of one of schema 2.
func older(t *testing.T, from, to string) {
	t.Helper()
	opts := archive.Options{Now: vaulttest.NewClock().Now, Rand: vaulttest.Rand()}
	a, err := archive.Open(from, opts)
	if err != nil {
		t.Fatal(err)
	}
	var entries []archive.Entry
	info, err := a.Manifest(archive.Latest, func(e archive.Entry) error { entries = append(entries, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Database(info)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	path := filepath.Join(t.TempDir(), "vault.db")
	if err = errors.Join(err, r.Close(), os.WriteFile(path, raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("failed")), tx.Bucket([]byte("counters")).Delete([]byte("failed")), tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, 1}))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	opts.Vault = a.Vault()
	b, err := archive.OpenOrCreate(to, opts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.NewSnapshot(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	digest := func(e archive.Entry) archive.Digest {
		d, err := blobstore.ParseDigest(e.Digest)
		if err != nil {
			t.Fatal(err)
		}
		return archive.Digest(d)
	}
	for _, e := range entries {
		s.Plan(digest(e), e.Size)
	}
	info.Schema = 1
	if err := s.Start(t.Context(), info, path); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := s.Add(t.Context(), digest(e), e.Size, func() (io.ReadCloser, error) { return a.Blob(e) }); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = s.Commit(t.Context())
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// A backup of every past schema comes back, whole, and takes documents again; one
// document of it comes back by itself.
func TestBackupsOfEveryPastSchema(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= store.Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "b")
			if err := os.CopyFS(from, os.DirFS(fixtureBackup(schema))); err != nil {
				t.Fatal(err)
			}
			opts := vaulttest.RestoreOptions(t, from)
			r, err := instance.Restore(t.Context(), opts)
			if err != nil || r.Info.Schema != schema || r.Info.Files != 2 {
				t.Fatalf("%+v, %v", r, err)
			}
			v := vaulttest.Open(t, opts.Vault)
			if !bytes.Equal(vaulttest.Content(t, v, 1), vaulttest.PDF(1, "a")) || !bytes.Equal(vaulttest.Content(t, v, 2), vaulttest.PDF(1, "b")) {
				t.Error("a document differs")
			}
			if f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("New.pdf", "c"))[0]; f.ID != 3 {
				t.Errorf("the next is file %d", f.ID)
			}
			out := filepath.Join(t.TempDir(), "plat.pdf")
			if f, err := backup.RestoreFile(t.Context(), from, archive.Latest, opts.Archive, 2, out); err != nil || f.Filename != "Plat.pdf" {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// The archive holds nothing but what its files are; nothing names this machine.
func TestArchiveNamesNoPath(t *testing.T) {
	t.Parallel()
	v, _, to := backedUp(t, 1)
	for _, path := range slices.Sorted(maps.Values(map[int]string{0: v.Dir, 1: to})) {
		for _, file := range vaulttest.FilesUnder(t, to, ".") {
			raw, err := os.ReadFile(file)
			if err != nil || bytes.Contains(raw, []byte(path)) {
				t.Errorf("%s names %s, %v", file, path, err)
			}
		}
	}
}

// A restore that ends between two documents leaves none of those half brought.
func TestRestoreCutOffLeavesNothingStaged(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	opts := vaulttest.RestoreOptions(t, to)
	opts.Progress = func(done, _ int64) {
		if done > 0 {
			cancel()
		}
	}
	if _, err := instance.Restore(ctx, opts); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if left := vaulttest.FilesUnder(t, opts.Vault.Dir, "tmp"); len(left) > 0 {
		t.Errorf("tmp holds %v", left)
	}
}
