package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deedkeep/app/blobstore"
)

// testVault is a fake vault with documents, a database, and a clock.
type testVault struct {
	docs      map[blobstore.Digest][]byte
	database  []byte
	now       time.Time
	version   string // of deedkeep; older ones don't write it
	label     string // of the next snapshots
	openCount int    // number of documents opened
}

// newTestVault returns a vault with documents.
func newTestVault(docs ...string) *testVault {
	h := &testVault{docs: map[blobstore.Digest][]byte{}, database: bytes.Repeat([]byte("records and indexes "), 5000),
		now: time.Date(2026, 11, 21, 7, 15, 0, 0, time.UTC)}
	h.addDocuments(docs...)
	return h
}

// addDocuments adds documents to the vault.
func (tv *testVault) addDocuments(docs ...string) {
	for _, doc := range docs {
		tv.docs[sha256.Sum256([]byte(doc))] = []byte(doc)
	}
}

// digests returns the sorted digests of the documents.
func (tv *testVault) digests() (list []blobstore.Digest) {
	for d := range tv.docs {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b blobstore.Digest) int { return bytes.Compare(a[:], b[:]) })
	return list
}

const testSecret = "deedkeep-secret-1 CANARYSECRETCANARYSECRETCANARYSECRETCANARYS 00000000"

// options returns the options for an archive of the vault.
func (tv *testVault) options(encryption Encryption) Options {
	encryption.workFactor = 4
	return Options{
		Vault: "0123456789abcdef", BlobNameKey: [32]byte{1}, ManifestKey: [32]byte{2}, HeaderKey: [32]byte{4}, Encryption: encryption,
		Decryption: Decryption{Passphrase: encryption.Passphrase},
		Rand:       rand.NewChaCha8([32]byte{3}), Now: func() time.Time { return tv.now },
	}
}

// backUp adds a snapshot of the vault to the archive in dir.
func (tv *testVault) backUp(t testing.TB, dir string, opts Options) (Info, int64) {
	t.Helper()
	info, written, err := tv.tryBackUp(context.Background(), t, dir, opts)
	if err != nil {
		t.Fatalf("tryBackUp: %v", err)
	}
	return info, written
}

func (tv *testVault) tryBackUp(ctx context.Context, t testing.TB, dir string, opts Options) (info Info, written int64, err error) {
	t.Helper()
	a, err := OpenOrCreate(dir, opts)
	if err != nil {
		return info, 0, err
	}
	s, err := a.NewSnapshot(ctx, nil)
	if err != nil {
		return info, 0, err
	}
	s.SetLabel(tv.label)
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, d := range tv.digests() {
		s.Plan(d, int64(len(tv.docs[d])))
	}
	path := filepath.Join(t.TempDir(), "vault.db")
	if err := os.WriteFile(path, tv.database, 0o600); err != nil {
		return info, 0, err
	}
	if err := s.Start(ctx, Info{Files: uint64(len(tv.docs)), Schema: 2, Secret: testSecret, Version: tv.version}, path); err != nil {
		return info, 0, err
	}
	for _, d := range tv.digests() {
		err := s.Add(ctx, d, int64(len(tv.docs[d])), func() (io.ReadCloser, error) {
			tv.openCount++
			return io.NopCloser(bytes.NewReader(tv.docs[d])), nil
		})
		if err != nil {
			return info, 0, err
		}
	}
	return s.Commit(ctx)
}

func openArchive(t testing.TB, dir string, opts Options) *Archive {
	t.Helper()
	a, err := Open(dir, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return a
}

// checkSnapshot reads a complete snapshot and returns an error if it differs from the
// vault.
func (tv *testVault) checkSnapshot(dir string, opts Options, name string) error {
	a, err := Open(dir, opts)
	if err != nil {
		return err
	}
	if err := a.Unlock(); err != nil {
		return err
	}
	var entries []Entry
	info, err := a.Manifest(name, func(e Entry) error { entries = append(entries, e); return nil })
	if err != nil {
		return err
	}
	r, err := a.database(context.Background(), info)
	if err := checkContent(r, err, tv.database); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if len(entries) != len(tv.docs) || info.Secret != testSecret {
		return fmt.Errorf("got %d entries, secret %q; want %d, %q", len(entries), info.Secret, len(tv.docs), testSecret)
	}
	for i, d := range tv.digests() {
		if entries[i].Digest != d.String() {
			return fmt.Errorf("entry %d = %s, want %s", i, entries[i].Digest, d)
		}
		r, err := a.Blob(context.Background(), entries[i])
		if err := checkContent(r, err, tv.docs[d]); err != nil {
			return err
		}
	}
	return nil
}

// checkContent returns err if it is not nil. Otherwise, it reads and closes r, and
// returns an error if the content is not want.
func checkContent(r io.ReadCloser, err error, want []byte) error {
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read from
	got, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("bytes differ")
	}
	return err
}

// verifyAll verifies all snapshots of an archive.
func verifyAll(t testing.TB, dir string, opts Options) VerifyReport {
	t.Helper()
	r, err := openArchive(t, dir, opts).Verify(context.Background(), "", func(int64, int64) {})
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	return r
}

// readTree returns the files of a directory and their content.
func readTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatalf("read directory: %v", err)
	}
	return files
}
