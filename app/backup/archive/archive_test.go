package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
)

// allFormats returns the options of each format of archive under test.
func allFormats(t testing.TB) map[string]Options {
	t.Helper()
	own, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatalf("GenerateX25519Identity: %v", err)
	}
	h := newTestVault()
	passphrase, recipients := h.options(Encryption{Passphrase: "correct horse battery"}), h.options(Encryption{Recipients: []string{own.Recipient().String()}})
	recipients.Decryption = Decryption{Identities: own.String()}
	return map[string]Options{"plain": h.options(Encryption{}), "passphrase": passphrase, "recipients": recipients}
}

func TestBackUpAndRestore(t *testing.T) {
	for name, opts := range allFormats(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "to", "backup")
			h := newTestVault("the first deed", "the second deed", "", strings.Repeat("a long plat ", 200_000))
			opts.Now = func() time.Time { return h.now }
			info, first := h.backUp(t, dir, opts)
			if info.Snapshot != "20261121T071500Z" || info.Blobs != 4 || info.Bytes != 29+2_400_000 {
				t.Errorf("info = %+v", info)
			}
			if err := h.checkSnapshot(dir, opts, Latest); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
			if h.opened != 4 {
				t.Errorf("read %d documents", h.opened)
			}
			h.addDocuments("the third deed")
			h.now = h.now.Add(time.Hour)
			_, second := h.backUp(t, dir, opts)
			if h.opened != 5 {
				t.Errorf("the second snapshot read %d documents, want only the new ones", h.opened-4)
			}
			if second > first/100 {
				t.Errorf("first snapshot wrote %d bytes, second %d, want fewer", first, second)
			}
			if err := h.checkSnapshot(dir, opts, "20261121T081500Z"); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
			r := verifyAll(t, dir, opts)
			if len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 5 || r.Orphans+r.Leftovers != 0 || r.NotDecrypted {
				t.Errorf("Verify = %+v", r)
			}
		})
	}
}

// TestStoredSizeIsExact checks that the size of a file is known before it is written.
func TestStoredSizeIsExact(t *testing.T) {
	for name, opts := range allFormats(t) {
		dir := filepath.Join(t.TempDir(), "backup")
		h := newTestVault("", "x", strings.Repeat("y", ageChunkSize-1), strings.Repeat("y", ageChunkSize), strings.Repeat("y", ageChunkSize+1), strings.Repeat("z", 3*ageChunkSize))
		h.backUp(t, dir, opts)
		a := openArchive(t, dir, opts)
		_, err := a.Manifest(Latest, func(e Entry) error {
			if e.Stored != a.format.storedSize(e.Size) {
				t.Errorf("%s: %d bytes are stored in %d, want %d", name, e.Size, e.Stored, a.format.storedSize(e.Size))
			}
			return nil
		})
		if err != nil {
			t.Errorf("Manifest: %v", err)
		}
	}
}

// TestEncryptedArchiveRevealsNothing checks that no content or name appears in an
// encrypted archive.
func TestEncryptedArchiveRevealsNothing(t *testing.T) {
	for name, opts := range allFormats(t) {
		if name == "plain" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "backup")
			h := newTestVault("CANARYDOCUMENT of Smith to Jones")
			h.database = []byte(strings.Repeat("CANARYNAME Smith.pdf ", 100))
			h.backUp(t, dir, opts)
			digest := h.digests()[0].String()
			for file, content := range readTree(t, dir) {
				for _, canary := range []string{"CANARY", "Smith", digest, digest[:16], "AGE-SECRET-KEY", "correct horse"} {
					if strings.Contains(file+"\n"+content, canary) {
						t.Errorf("%s contains %q", file, canary)
					}
				}
			}
		})
	}
}

// TestRecipientsOnly checks that a vault that knows only public keys can add, list, and
// verify snapshots.
func TestRecipientsOnly(t *testing.T) {
	opts := allFormats(t)["recipients"]
	keys := opts.Decryption
	opts.Decryption = Decryption{}
	dir := filepath.Join(t.TempDir(), "backup")
	h := newTestVault("a deed", "another")
	opts.Now = func() time.Time { return h.now }
	h.backUp(t, dir, opts)
	h.addDocuments("a third")
	h.backUp(t, dir, opts)
	if h.opened != 3 {
		t.Errorf("read %d documents", h.opened)
	}
	if info, err := openArchive(t, dir, opts).Info(Latest); err != nil || info.Blobs != 3 {
		t.Errorf("Info = %+v, %v", info, err)
	}
	if err := h.checkSnapshot(dir, opts, Latest); !errors.Is(err, ErrDecrypt) {
		t.Errorf("read without a key: %v", err)
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || !r.NotDecrypted || r.Blobs != 3 {
		t.Errorf("Verify = %+v", r)
	}
	p, err := openArchive(t, dir, opts).Prune(context.Background(), Retention{}, false, func(int64, int64) {})
	if err != nil || len(p.Removed) != 1 || p.Blobs != 0 {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	// Without any key: encrypted content is not damage.
	nothing := Options{Now: opts.Now}
	if r, err := openArchive(t, dir, nothing).Verify(context.Background(), "", func(int64, int64) {}); !errors.Is(err, ErrDecrypt) || len(r.Findings) != 0 {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	// With the identity, but without the vault's secret.
	restoreOpts := Options{Decryption: keys, Now: opts.Now}
	if err := h.checkSnapshot(dir, restoreOpts, Latest); err != nil {
		t.Errorf("checkSnapshot: %v", err)
	}
	if _, err := openArchive(t, dir, Options{Now: opts.Now}).Info(Latest); !errors.Is(err, ErrDecrypt) {
		t.Errorf("read with nothing: %v", err)
	}
}

func TestBackUpRejectsDirectory(t *testing.T) {
	all := allFormats(t)
	plainOpts, phrase := all["plain"], all["passphrase"]
	h := newTestVault("a deed")
	other := plainOpts
	other.Vault = "fedcba9876543210"
	changed := phrase
	changed.Encryption.Passphrase = "another passphrase"
	full := plainOpts
	full.FreeSpace, full.Reserve = func(string) (uint64, error) { return 1 << 20, nil }, 1<<20
	newArchive := func(opts Options) func(t *testing.T) string {
		return func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "backup")
			h.backUp(t, dir, opts)
			return dir
		}
	}
	with := func(name string) func(t *testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatalf("create directory: %v", err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			return dir
		}
	}
	rows := []struct {
		name    string
		dir     func(t *testing.T) string
		opts    Options
		want    error
		message string
	}{
		{"archive of another vault", newArchive(plainOpts), other, ErrForeign, "another vault"},
		{"plain where encryption is set", newArchive(plainOpts), phrase, ErrForeign, "not encrypted"},
		{"encrypted where none is set", newArchive(phrase), plainOpts, ErrForeign, "encrypted for passphrase"},
		{"another passphrase in the settings", newArchive(phrase), changed, ErrDecrypt, "passphrase in the settings"},
		{"other files", with("taxes.xls"), plainOpts, ErrForeign, "taxes.xls"},
		{"header is missing", with("blobs/ab/x"), plainOpts, ErrDamaged, headerName},
		{"disk full", newArchive(plainOpts), full, ErrDiskFull, "are free"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := row.dir(t)
			before := readTree(t, dir)
			_, _, err := h.tryBackUp(context.Background(), t, dir, row.opts)
			if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.message) {
				t.Errorf("tryBackUp = %v, want %v", err, row.want)
			}
			after := readTree(t, dir)
			delete(after, lockName)
			delete(before, lockName)
			if len(after) != len(before) {
				t.Errorf("files changed: %d before, %d after", len(before), len(after))
			}
		})
	}
}

func TestOpenMissingArchive(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("Open = %v, want ErrNotFound", err)
		}
	}
}

// TestTwoWritersAndClockSetBack checks that the second writer gets ErrLocked, and that
// names still sort by age after the clock was set back.
func TestTwoWritersAndClockSetBack(t *testing.T) {
	opts := allFormats(t)["plain"]
	dir := filepath.Join(t.TempDir(), "backup")
	h := newTestVault("a deed")
	opts.Now = func() time.Time { return h.now }
	h.backUp(t, dir, opts)
	s, err := openArchive(t, dir, opts).NewSnapshot(context.Background(), nil)
	if err != nil {
		t.Fatalf("NewSnapshot: %v", err)
	}
	if _, _, err := h.tryBackUp(context.Background(), t, dir, opts); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	h.now = h.now.Add(-time.Hour)
	info, _ := h.backUp(t, dir, opts)
	if info.Snapshot != "20261121T071501Z" || !info.CreatedAt.Equal(h.now) {
		t.Errorf("info = %+v", info)
	}
}

func TestLease(t *testing.T) {
	opts := allFormats(t)["plain"]
	dir := filepath.Join(t.TempDir(), "backup")
	h := newTestVault()
	opts.Now = func() time.Time { return h.now }
	h.backUp(t, dir, opts)
	a := openArchive(t, dir, opts)
	release, err := a.acquireLease()
	if err != nil {
		t.Fatalf("lease: %v", err)
	}
	if _, err := a.acquireLease(); !errors.Is(err, ErrLocked) {
		t.Errorf("a second: %v", err)
	}
	held, err := os.ReadFile(filepath.Join(dir, leaseName))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	release()
	release, err = a.acquireLease()
	if err != nil {
		t.Fatalf("lease: %v", err)
	}
	release()
	// An expired lease of a killed process, and a lease without an expiry.
	for _, content := range []string{string(held), "", "words"} {
		if err := os.WriteFile(filepath.Join(dir, leaseName), []byte(content), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		h.now = h.now.Add(leaseDuration + time.Second)
		if release, err = a.acquireLease(); err != nil {
			t.Fatalf("lease %q: %v", content, err)
		}
		release()
	}
}
