package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
)

var testTime = time.Date(2026, 5, 29, 4, 0, 0, 123456000, time.UTC)

// testOptions returns options with a fixed clock and the workspace of a new vault.
func testOptions() Options {
	return Options{Now: func() time.Time { return testTime }, Fingerprint: "fp", Workspace: model.NewWorkspace(),
		LockTimeout: 50 * time.Millisecond, Upgrade: &Upgrade{Copy: true, FreeSpace: plentyOfSpace, Log: slog.New(slog.DiscardHandler)}}
}

func plentyOfSpace(string) (uint64, error) { return 1 << 40, nil }

// open opens a store and closes it when the test ends.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, testOptions())
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// openNew creates a store and checks it when the test ends.
func openNew(t testing.TB) *Store {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	t.Cleanup(func() {
		for _, f := range check(t, s) {
			t.Errorf("at the end of the test: got finding %+v, want none", f)
		}
	})
	return s
}

// update runs write in an Update.
func update(t testing.TB, s *Store, write func(*Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), nil, write); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// view runs fn in a View.
func view(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		t.Fatalf("view: %v", err)
	}
}

// check returns the findings for a snapshot of the store.
func check(t testing.TB, s *Store) (findings []Finding) {
	t.Helper()
	c, err := s.Snapshot(context.Background(), filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	if _, err := c.Check(context.Background(), func(f Finding) { findings = append(findings, f) }); err != nil {
		t.Errorf("check: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close copy: %v", err)
	}
	return findings
}

// digest returns a text in the form of a SHA-256 digest that contains n.
func digest(n int) string { return fmt.Sprintf("%064x", n) }

// fill writes n records of most types.
func fill(t testing.TB, s *Store, n int) {
	t.Helper()
	update(t, s, func(tx *Tx) error {
		for i := range n {
			folder, errFolder := tx.NewFolderID()
			abstract, errAbstract := tx.NewAbstractID()
			order, errOrder := tx.NewOrderID()
			file, errFile := tx.NewFileID()
			key, errKey := tx.NewKeyID()
			err := errors.Join(errFolder, errAbstract, errOrder, errFile, errKey,
				tx.PutFolder(model.Folder{ID: folder, Name: fmt.Sprint("Box ", i), ParentID: 1}),
				tx.PutAbstract(model.Abstract{ID: abstract, TemplateID: 1, Property: model.Property{City: "Troy"},
					Custom: model.CustomValues{"vesting": json.RawMessage(`"fee"`)}, Files: []uint64{file}, Version: 1, CreatedAt: testTime}),
				tx.PutOrder(model.Order{ID: order, Number: fmt.Sprint("A-", i), Status: "active", Version: 1, CreatedAt: testTime}),
				tx.PutFile(model.File{ID: file, Filename: "deed.pdf", Size: int64(10 * (i + 1)), Digest: digest(i), AbstractID: abstract,
					Processing: true, Version: 1, CreatedAt: testTime}),
				tx.AddTask(model.ProcessingTask{FileID: file, DueAt: testTime}),
				tx.PutKey(model.Key{ID: key, Name: "k", Hash: digest(1000 + i), Abilities: []string{"events"}, CreatedAt: testTime}),
				tx.AddEvent(model.Event{At: testTime, Actor: model.SystemActor(), Kind: "file.filed", Record: fmt.Sprint("file:", file)}))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func TestOpenCreatesAndReopensWorkspace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("new vault: got findings %v, want none", findings)
	}
	fill(t, s, 2)
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("got mode %v, %v; want owner only", info.Mode(), err)
	}
	s = open(t, path)
	view(t, s, func(tx *Tx) error {
		templates, err := tx.Templates()
		if err != nil || len(templates) != 4 || !templates[0].Default || templates[1].Default {
			t.Errorf("got templates %+v, %v; want 4", templates, err)
		}
		template, found, err := tx.DefaultTemplate()
		if err != nil || !found || template.ID != 1 || !template.Default || template.Name != "Residential Abstract" {
			t.Errorf("DefaultTemplate() = %+v, %v, %v; want template 1", template, found, err)
		}
		folders, err := tx.Folders()
		if err != nil || len(folders) != 6 || folders[0].Name != "Inbox" || folders[5].Name != "Box 1" {
			t.Errorf("got folders %+v, %v; want 6", folders, err)
		}
		fields, err := tx.OrderFields()
		if statuses, err2 := tx.OrderStatuses(); err != nil || err2 != nil || len(fields) != 10 || statuses[0] != "active" {
			t.Errorf("got order fields %v, %v, statuses %v, %v, want 10 fields and active first", fields, err, statuses, err2)
		}
		if a, err := tx.Abstract(2); err != nil || string(a.Custom["vesting"]) != `"fee"` || !a.CreatedAt.Equal(testTime) {
			t.Errorf("Abstract(2) = %+v, %v, want the abstract of the fixture", a, err)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("after reopening: got findings %v, want none", findings)
	}
	if size := s.Size(); size <= 0 {
		t.Errorf("Size() = %d, want more than 0", size)
	}
}

func TestOpenWithoutTemplates(t *testing.T) {
	opts := testOptions()
	opts.Workspace = model.Workspace{}
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), opts)
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	view(t, s, func(tx *Tx) error {
		if _, found, err := tx.DefaultTemplate(); found || err != nil {
			t.Errorf("default template: got %v, %v; want none", found, err)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %v, want none", findings)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
}

func TestOpenAfterCrashDuringCreation(t *testing.T) {
	for name, content := range map[string][]byte{"nothing yet": {}, "garbage": []byte("half a page"), "pages": make([]byte, 20_000)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"vault.db.new", "vault.db.new123"} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatalf("write file: %v", err)
				}
			}
			s := open(t, filepath.Join(dir, "vault.db"))
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("got findings %v, want none", findings)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("got files %v, %v; want only vault.db", entries, err)
			}
		})
	}
}

// If several processes try to create a vault at the same time, one of them creates it, and the
// writes of all processes are in that vault.
func TestConcurrentOpenCreatesOneVault(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "vault.db")
		var group sync.WaitGroup
		var mu sync.Mutex
		written := 0
		for i := range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				opts := testOptions()
				opts.LockTimeout = 10 * time.Second
				s, err := Open(context.Background(), path, opts)
				if err != nil {
					t.Errorf("open store: %v", err)
					return
				}
				err = s.Update(context.Background(), nil, func(tx *Tx) error {
					return tx.PutAbstract(model.Abstract{ID: uint64(i + 1)})
				})
				if err := errors.Join(err, s.Close()); err != nil {
					t.Errorf("close store: %v", err)
					return
				}
				mu.Lock()
				written++
				mu.Unlock()
			}()
		}
		group.Wait()
		s := open(t, path)
		view(t, s, func(tx *Tx) error {
			if n := tx.Count(CountAbstracts); n != uint64(written) || written != 4 {
				t.Errorf("got %d abstracts of %d written, want 4", n, written)
			}
			return nil
		})
	}
}

func TestOpenLockedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	_, err := Open(t.Context(), path, testOptions())
	if errs.KindOf(err) != errs.Locked {
		t.Errorf("second Open: got %v, want errs.Locked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	open(t, path)
}

func TestOpenRejectsInvalidFiles(t *testing.T) {
	meta := func(fn func(*bolt.Bucket) error) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			updateRaw(t, path, func(tx *bolt.Tx) error { return fn(tx.Bucket(bucketMeta)) })
		}
	}
	for _, row := range []struct {
		name   string
		damage func(*testing.T, string)
		want   string // substring of the error
	}{
		{"a newer schema", meta(func(b *bolt.Bucket) error { return b.Put(keySchema, encodeUint64(Schema+1)) }),
			fmt.Sprintf("written by a newer version of deedkeep (schema %d; this version supports up to %d)", Schema+1, Schema)},
		{"another vault's secret", meta(func(b *bolt.Bucket) error { return b.Put(keySecret, []byte("other")) }),
			"secret.key doesn't belong to this database"},
		{"no secret", meta(func(b *bolt.Bucket) error { return b.Delete(keySecret) }), "secret.key doesn't belong to this database"},
		{"no schema", meta(func(b *bolt.Bucket) error { return b.Delete(keySchema) }), "this file is not a deedkeep database"},
		{"a schema of another length", meta(func(b *bolt.Bucket) error { return b.Put(keySchema, []byte{1}) }), "this file is not a deedkeep database"},
		{"a schema of before the first version", meta(func(b *bolt.Bucket) error { return b.Put(keySchema, encodeUint64(FirstSchema-1)) }),
			"start deedkeep of commit " + lastOldCommit},
		{"a schema of zero", meta(func(b *bolt.Bucket) error { return b.Put(keySchema, encodeUint64(0)) }), "can't migrate schema 0"},
		{"another program's database", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatalf("remove file: %v", err)
			}
			updateRaw(t, path, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("widgets")); return err })
		}, "this file is not a deedkeep database"},
		{"an empty file", overwrite(nil), "is empty"},
		{"a text", overwrite([]byte(strings.Repeat("deed ", 10_000))), "invalid database"},
		{"a few bytes", overwrite([]byte{1, 2, 3}), "vault.db"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			if err := open(t, path).Close(); err != nil {
				t.Fatalf("close store: %v", err)
			}
			row.damage(t, path)
			before := readFile(t, path)
			s, err := Open(t.Context(), path, testOptions())
			if err == nil {
				t.Fatalf("Open succeeded, want an error; close: %v", s.Close())
			}
			if !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "goroutine") {
				t.Errorf("got %v, want %q without a stack trace", err, row.want)
			}
			if !bytes.HasPrefix(readFile(t, path), before) { // bbolt extends the file on Windows
				t.Error("the file changed, want it unchanged")
			}
			if _, secondErr := Open(t.Context(), path, testOptions()); secondErr == nil || secondErr.Error() != err.Error() {
				t.Errorf("second Open: got %v, want %v", secondErr, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, filepath.Join(t.TempDir(), "vault.db"), testOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled context: got %v, want %v", err, context.Canceled)
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none", "vault.db"), testOptions()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v, want %v", err, os.ErrNotExist)
	}
}

// overwrite returns a function that replaces a file's content.
func overwrite(content []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
}

// readFile returns the content of a file.
func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	return b
}

// alter changes the database without what Update does.
func alter(s *Store, fn func(*Tx) error) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	t, err := s.beginWrite()
	if err != nil {
		return err
	}
	if err := RecoverPanic(func() error { return fn(t) }); err != nil {
		return errors.Join(err, t.tx.Rollback())
	}
	return t.tx.Commit(context.Background())
}

// withoutSync makes commits fast. No power failure is simulated.
func withoutSync(s *Store) { boltOf(s).NoSync = true }

// boltOf returns the database of bbolt.
func boltOf(s *Store) *bolt.DB { return s.db.(*boltkv.DB).Bolt() }

// eachEntry calls fn with each entry of a bucket.
func eachEntry(tx *Tx, bucket []byte, fn func(k, v []byte) error) error {
	c := tx.bucket(bucket).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}

// updateRaw changes a closed database with bbolt directly.
func updateRaw(t testing.TB, path string, fn func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatalf("open database with bbolt: %v", err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatalf("change database: %v", err)
	}
}

func TestOpenWithDamagedFreelist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	fill(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	content := readFile(t, path)
	content[int(newestMeta(t, content).Freelist)*os.Getpagesize()+8] ^= 0x01 // flags of the freelist page
	overwrite(content)(t, path)
	if _, err := Open(t.Context(), path, testOptions()); !errors.Is(err, boltkv.ErrBrokenPages) || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("got %v, want %v without a stack trace", err, boltkv.ErrBrokenPages)
	}
}

func TestEncodeUint64(t *testing.T) {
	for n, want := range map[uint64]string{0: "0000000000000000", 258: "0000000000000102"} {
		back, ok := decodeUint64(encodeUint64(n))
		if hex.EncodeToString(encodeUint64(n)) != want || back != n || !ok {
			t.Errorf("encodeUint64(%d) = %x, want %s; decoded %d, %v", n, encodeUint64(n), want, back, ok)
		}
	}
	if _, ok := decodeUint64([]byte{1}); ok {
		t.Error("decodeUint64 of one byte succeeded, want false")
	}
}

func TestDescribeDamage(t *testing.T) {
	caught := RecoverPanic(func() error { panic("page 3") })
	for name, row := range map[string]struct {
		err     error
		message string
	}{
		"a caught panic":       {fmt.Errorf("walk: %w", caught), "page 3"},
		"no database":          {fmt.Errorf("open x: %w", &kv.DamageError{Message: "invalid database"}), "invalid database"},
		"pages at the opening": {fmt.Errorf("open x: %w: %v", boltkv.ErrBrokenPages, "page 7"), "database pages can't be read"},
		"another file":         {fmt.Errorf("%w: no schema", errNotVault), "this file is not a deedkeep database"},
		"nothing":              {nil, ""},
		"an interruption":      {context.Canceled, ""},
		"a lock":               {berrors.ErrTimeout, ""},
		"anything else":        {errors.New("no"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			message, damaged := DescribeDamage(row.err)
			if message != row.message || damaged != (row.message != "") {
				t.Errorf("got %q, %v; want %q", message, damaged, row.message)
			}
		})
	}
}
