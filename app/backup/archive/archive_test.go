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

// allFormats returns the options for each archive format, by format name.
func allFormats(t testing.TB) map[string]Options {
	t.Helper()
	own, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatalf("GenerateX25519Identity: %v", err)
	}
	h := newTestVault()
	passphrase := h.options(Encryption{Passphrase: "correct horse battery"})
	recipients := h.options(Encryption{Recipients: []string{own.Recipient().String()}})
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
				t.Errorf("info = %+v, want snapshot 20261121T071500Z with 4 documents of %d bytes", info, 29+2_400_000)
			}
			if err := h.checkSnapshot(dir, opts, Latest); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
			if h.openCount != 4 {
				t.Errorf("the first snapshot read %d documents, want 4", h.openCount)
			}
			h.addDocuments("the third deed")
			h.now = h.now.Add(time.Hour)
			_, second := h.backUp(t, dir, opts)
			if h.openCount != 5 {
				t.Errorf("the second snapshot read %d documents, want 1", h.openCount-4)
			}
			if second > first/100 {
				t.Errorf("first snapshot wrote %d bytes, second %d, want fewer", first, second)
			}
			if err := h.checkSnapshot(dir, opts, "20261121T081500Z"); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
			r := verifyAll(t, dir, opts)
			if len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 5 || r.Orphans+r.Leftovers != 0 || r.NotDecrypted {
				t.Errorf("Verify = %+v, want 2 snapshots of 5 documents, no findings, orphans, or leftovers", r)
			}
		})
	}
}

// TestStoredSizeIsExact checks that storedSize predicts the exact size of a file.
func TestStoredSizeIsExact(t *testing.T) {
	for name, opts := range allFormats(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "backup")
			h := newTestVault("", "x", strings.Repeat("y", ageChunkSize-1), strings.Repeat("y", ageChunkSize),
				strings.Repeat("y", ageChunkSize+1), strings.Repeat("z", 3*ageChunkSize))
			h.backUp(t, dir, opts)
			a := openArchive(t, dir, opts)
			_, err := a.Manifest(Latest, func(e Entry) error {
				if want := a.format.storedSize(e.Size); e.Stored != want {
					t.Errorf("stored size of %d bytes = %d, want %d", e.Size, e.Stored, want)
				}
				return nil
			})
			if err != nil {
				t.Errorf("Manifest: %v", err)
			}
		})
	}
}

// TestEncryptedArchiveRevealsNothing checks that no content, and no name of a document,
// appears in an encrypted archive.
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
						t.Errorf("%s contains %q, want no plain text", file, canary)
					}
				}
			}
		})
	}
}

// TestRecipientsOnly checks that a vault that has only public keys can add, list, and
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
	if h.openCount != 3 {
		t.Errorf("the snapshots read %d documents, want 3", h.openCount)
	}
	if info, err := openArchive(t, dir, opts).Info(Latest); err != nil || info.Blobs != 3 {
		t.Errorf("Info = %+v, %v; want 3 documents", info, err)
	}
	if err := h.checkSnapshot(dir, opts, Latest); !errors.Is(err, ErrDecrypt) {
		t.Errorf("checkSnapshot without a key = %v, want ErrDecrypt", err)
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || !r.NotDecrypted || r.Blobs != 3 {
		t.Errorf("Verify = %+v, want 3 documents that aren't decrypted, and no findings", r)
	}
	p, err := openArchive(t, dir, opts).Prune(context.Background(), Retention{}, false, func(int64, int64) {})
	if err != nil || len(p.Removed) != 1 || p.Blobs != 0 {
		t.Errorf("Prune = %+v, %v; want 1 removed snapshot and no removed documents", p, err)
	}
	// Without any key, encrypted content is not reported as damage.
	noKeys := Options{Now: opts.Now}
	if r, err := openArchive(t, dir, noKeys).Verify(context.Background(), "", func(int64, int64) {}); !errors.Is(err, ErrDecrypt) ||
		len(r.Findings) != 0 {
		t.Errorf("Verify without keys = %+v, %v; want ErrDecrypt and no findings", r, err)
	}
	// With the identity, a restore doesn't need the vault's secret.
	restoreOpts := Options{Decryption: keys, Now: opts.Now}
	if err := h.checkSnapshot(dir, restoreOpts, Latest); err != nil {
		t.Errorf("checkSnapshot: %v", err)
	}
	if _, err := openArchive(t, dir, noKeys).Info(Latest); !errors.Is(err, ErrDecrypt) {
		t.Errorf("Info without keys = %v, want ErrDecrypt", err)
	}
}

func TestBackUpRejectsDirectory(t *testing.T) {
	all := allFormats(t)
	plain, passphrase := all["plain"], all["passphrase"]
	h := newTestVault("a deed")
	other := plain
	other.Vault = "fedcba9876543210"
	changed := passphrase
	changed.Encryption.Passphrase = "another passphrase"
	full := plain
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
		{"archive of another vault", newArchive(plain), other, ErrForeign, "belong to server"},
		{"plain where encryption is set", newArchive(plain), passphrase, ErrForeign, "not encrypted"},
		{"encrypted where none is set", newArchive(passphrase), plain, ErrForeign, "encrypted with a passphrase"},
		{"another passphrase in the settings", newArchive(passphrase), changed, ErrDecrypt, "the passphrase in the settings is not"},
		{"other files", with("taxes.xls"), plain, ErrForeign, "taxes.xls"},
		{"header is missing", with("blobs/ab/x"), plain, ErrDamaged, headerName},
		{"disk full", newArchive(plain), full, ErrDiskFull, "are free"},
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
				t.Errorf("files after the attempt = %d, want %d", len(after), len(before))
			}
		})
	}
}

func TestOpenMissingArchive(t *testing.T) {
	for name, dir := range map[string]string{"empty directory": t.TempDir(), "absent directory": filepath.Join(t.TempDir(), "absent")} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(dir, Options{}); !errors.Is(err, ErrNotFound) {
				t.Errorf("Open = %v, want ErrNotFound", err)
			}
		})
	}
}

// TestTwoWritersAndClockSetBack checks that a second writer gets ErrLocked, and that
// names still sort by age after the clock is set back.
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
		t.Errorf("second writer: got %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	h.now = h.now.Add(-time.Hour)
	info, _ := h.backUp(t, dir, opts)
	if info.Snapshot != "20261121T071501Z" || !info.CreatedAt.Equal(h.now) {
		t.Errorf("info = %+v, want snapshot 20261121T071501Z created at %v", info, h.now)
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
		t.Errorf("second lease: got %v, want ErrLocked", err)
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
	// Neither an expired lease of a killed process nor a lease without an expiry keeps
	// others from writing.
	for _, row := range []struct{ name, content string }{{"expired", string(held)}, {"empty", ""}, {"no expiry", "words"}} {
		t.Run(row.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, leaseName), []byte(row.content), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			h.now = h.now.Add(leaseDuration + time.Second)
			release, err := a.acquireLease()
			if err != nil {
				t.Fatalf("lease: %v", err)
			}
			release()
		})
	}
}
