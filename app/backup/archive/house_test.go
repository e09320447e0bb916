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
)

// house is a vault as an archive sees it: documents, a database, a clock.
type house struct {
	docs     map[Digest][]byte
	database []byte
	now      time.Time
	opened   int // documents that were read to be copied
}

func newHouse(docs ...string) *house {
	h := &house{docs: map[Digest][]byte{}, database: bytes.Repeat([]byte("records and indexes "), 5000), now: time.Date(2026, 11, 21, 7, 15, 0, 0, time.UTC)}
	h.file(docs...)
	return h
}

func (h *house) file(docs ...string) {
	for _, doc := range docs {
		h.docs[sha256.Sum256([]byte(doc))] = []byte(doc)
	}
}

// digests in order.
func (h *house) digests() (list []Digest) {
	for d := range h.docs {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	return list
}

const testSecret = "deedkeep-secret-1 CANARYSECRETCANARYSECRETCANARYSECRETCANARYS 00000000"

func (h *house) options(seal Encryption) Options {
	seal.work = 4
	return Options{
		Vault: "0123456789abcdef", BlobNameKey: [32]byte{1}, ManifestKey: [32]byte{2}, HeaderKey: [32]byte{4}, Encryption: seal, Decryption: Decryption{Passphrase: seal.Passphrase},
		Rand: rand.NewChaCha8([32]byte{3}), Now: func() time.Time { return h.now },
	}
}

// take adds a snapshot.
func (h *house) take(t testing.TB, dir string, opts Options) (Info, int64) {
	t.Helper()
	info, written, err := h.try(context.Background(), t, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return info, written
}

func (h *house) try(ctx context.Context, t testing.TB, dir string, opts Options) (info Info, written int64, err error) {
	t.Helper()
	a, err := OpenOrCreate(dir, opts)
	if err != nil {
		return info, 0, err
	}
	s, err := a.NewSnapshot(ctx, nil)
	if err != nil {
		return info, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, d := range h.digests() {
		s.Plan(d, int64(len(h.docs[d])))
	}
	path := filepath.Join(t.TempDir(), "vault.db")
	if err := os.WriteFile(path, h.database, 0o600); err != nil {
		return info, 0, err
	}
	if err := s.Start(ctx, Info{Files: uint64(len(h.docs)), Schema: 2, Secret: testSecret}, path); err != nil {
		return info, 0, err
	}
	for _, d := range h.digests() {
		err := s.Add(ctx, d, int64(len(h.docs[d])), func() (io.ReadCloser, error) {
			h.opened++
			return io.NopCloser(bytes.NewReader(h.docs[d])), nil
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
		t.Fatal(err)
	}
	return a
}

// back reads a whole snapshot and gives what is wrong.
func (h *house) back(dir string, opts Options, name string) error {
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
	r, err := a.Database(info)
	if err := same(r, err, h.database); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if len(entries) != len(h.docs) || info.Secret != testSecret {
		return fmt.Errorf("%d entries of %d documents, secret %q", len(entries), len(h.docs), info.Secret)
	}
	for i, d := range h.digests() {
		if entries[i].Digest != d.String() {
			return fmt.Errorf("entry %d is %s", i, entries[i].Digest)
		}
		r, err := a.Blob(entries[i])
		if err := same(r, err, h.docs[d]); err != nil {
			return err
		}
	}
	return nil
}

func same(r io.ReadCloser, err error, want []byte) error {
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

func verifyAll(t testing.TB, dir string, opts Options) VerifyReport {
	t.Helper()
	r, err := openArchive(t, dir, opts).Verify(context.Background(), "", func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tree lists the files of a directory with their content.
func tree(t testing.TB, dir string) map[string]string {
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
		t.Fatal(err)
	}
	return files
}
