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

// forms are the kinds of archive that every promise is held against.
func forms(t testing.TB) map[string]Options {
	t.Helper()
	own, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse()
	passphrase, recipients := h.options(Encryption{Passphrase: "correct horse battery"}), h.options(Encryption{Recipients: []string{own.Recipient().String()}})
	recipients.Decryption = Decryption{Identities: own.String()}
	return map[string]Options{"plain": h.options(Encryption{}), "passphrase": passphrase, "recipients": recipients}
}

func TestThereAndBack(t *testing.T) {
	for name, opts := range forms(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "to", "backup")
			h := newHouse("the first deed", "the second deed", "", strings.Repeat("a long plat ", 200_000))
			opts.Now = func() time.Time { return h.now }
			info, first := h.take(t, dir, opts)
			if info.Snapshot != "20261121T071500Z" || info.Blobs != 4 || info.Bytes != 29+2_400_000 {
				t.Errorf("%+v", info)
			}
			if err := h.back(dir, opts, Latest); err != nil {
				t.Error(err)
			}
			if h.opened != 4 {
				t.Errorf("%d documents were read", h.opened)
			}
			h.file("the third deed")
			h.now = h.now.Add(time.Hour)
			_, second := h.take(t, dir, opts)
			if h.opened != 5 {
				t.Errorf("the second snapshot read %d documents", h.opened-4)
			}
			if second > first/100 {
				t.Errorf("the first snapshot wrote %d bytes, the second %d", first, second)
			}
			if err := h.back(dir, opts, "20261121T081500Z"); err != nil {
				t.Error(err)
			}
			r := verifyAll(t, dir, opts)
			if len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 5 || r.Orphans+r.Leftovers != 0 || r.NotDecrypted {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The room that a sealed file takes is known before it is written.
func TestStoredIsExact(t *testing.T) {
	for name, opts := range forms(t) {
		dir := filepath.Join(t.TempDir(), "backup")
		h := newHouse("", "x", strings.Repeat("y", agePiece-1), strings.Repeat("y", agePiece), strings.Repeat("y", agePiece+1), strings.Repeat("z", 3*agePiece))
		h.take(t, dir, opts)
		a := openArchive(t, dir, opts)
		_, err := a.Manifest(Latest, func(e Entry) error {
			if e.Stored != a.form.stored(e.Size) {
				t.Errorf("%s: %d bytes are stored in %d, not in %d", name, e.Size, e.Stored, a.form.stored(e.Size))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What an encrypted archive shows: nothing of what is in it.
func TestCanary(t *testing.T) {
	for name, opts := range forms(t) {
		if name == "plain" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "backup")
			h := newHouse("CANARYDOCUMENT of Smith to Jones")
			h.database = []byte(strings.Repeat("CANARYNAME Smith.pdf ", 100))
			h.take(t, dir, opts)
			digest := h.digests()[0].String()
			for file, content := range tree(t, dir) {
				for _, canary := range []string{"CANARY", "Smith", digest, digest[:16], "AGE-SECRET-KEY", "correct horse"} {
					if strings.Contains(file+"\n"+content, canary) {
						t.Errorf("%s shows %q", file, canary)
					}
				}
			}
		})
	}
}

// A vault that knows public keys only goes on adding, lists, and checks every sum.
func TestRecipientsOnly(t *testing.T) {
	opts := forms(t)["recipients"]
	keys := opts.Decryption
	opts.Decryption = Decryption{}
	dir := filepath.Join(t.TempDir(), "backup")
	h := newHouse("a deed", "another")
	opts.Now = func() time.Time { return h.now }
	h.take(t, dir, opts)
	h.file("a third")
	h.take(t, dir, opts)
	if h.opened != 3 {
		t.Errorf("%d documents were read", h.opened)
	}
	if info, err := openArchive(t, dir, opts).Info(Latest); err != nil || info.Blobs != 3 {
		t.Errorf("%+v, %v", info, err)
	}
	if err := h.back(dir, opts, Latest); !errors.Is(err, ErrDecrypt) {
		t.Errorf("read without a key: %v", err)
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || !r.NotDecrypted || r.Blobs != 3 {
		t.Errorf("%+v", r)
	}
	p, err := openArchive(t, dir, opts).Prune(context.Background(), Retention{}, false, func(int64, int64) {})
	if err != nil || len(p.Removed) != 1 || p.Blobs != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	// Elsewhere, with nothing: that is no damage.
	nothing := Options{Now: opts.Now}
	if r, err := openArchive(t, dir, nothing).Verify(context.Background(), "", func(int64, int64) {}); !errors.Is(err, ErrDecrypt) || len(r.Findings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	// Elsewhere, with the identity and without the vault's secret.
	elsewhere := Options{Decryption: keys, Now: opts.Now}
	if err := h.back(dir, elsewhere, Latest); err != nil {
		t.Error(err)
	}
	if _, err := openArchive(t, dir, Options{Now: opts.Now}).Info(Latest); !errors.Is(err, ErrDecrypt) {
		t.Errorf("read with nothing: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	all := forms(t)
	plainOpts, phrase := all["plain"], all["passphrase"]
	h := newHouse("a deed")
	other := plainOpts
	other.Vault = "fedcba9876543210"
	changed := phrase
	changed.Encryption.Passphrase = "another passphrase"
	full := plainOpts
	full.FreeSpace, full.Reserve = func(string) (uint64, error) { return 1 << 20, nil }, 1<<20
	taken := func(opts Options) func(t *testing.T) string {
		return func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "backup")
			h.take(t, dir, opts)
			return dir
		}
	}
	with := func(name string) func(t *testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	rows := []struct {
		name string
		dir  func(t *testing.T) string
		opts Options
		want error
		says string
	}{
		{"another vault's", taken(plainOpts), other, ErrForeign, "another vault"},
		{"plain where encryption is set", taken(plainOpts), phrase, ErrForeign, "not encrypted"},
		{"encrypted where none is set", taken(phrase), plainOpts, ErrForeign, "encrypted for passphrase"},
		{"another passphrase in the settings", taken(phrase), changed, ErrDecrypt, "passphrase in the settings"},
		{"somebody's files", with("taxes.xls"), plainOpts, ErrForeign, "taxes.xls"},
		{"a head that is lost", with("blobs/ab/x"), plainOpts, ErrDamaged, headName},
		{"no room", taken(plainOpts), full, ErrDiskFull, "are free"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := row.dir(t)
			before := tree(t, dir)
			_, _, err := h.try(context.Background(), t, dir, row.opts)
			if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v", err)
			}
			after := tree(t, dir)
			delete(after, lockName)
			delete(before, lockName)
			if len(after) != len(before) {
				t.Errorf("files before %d, after %d", len(before), len(after))
			}
		})
	}
}

func TestNothingThere(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
}

// Two writers: the second is told. A clock that went back: names go on sorting.
func TestTwoWritersAndAClockThatWentBack(t *testing.T) {
	opts := forms(t)["plain"]
	dir := filepath.Join(t.TempDir(), "backup")
	h := newHouse("a deed")
	opts.Now = func() time.Time { return h.now }
	h.take(t, dir, opts)
	s, err := openArchive(t, dir, opts).NewSnapshot(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.try(context.Background(), t, dir, opts); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(-time.Hour)
	info, _ := h.take(t, dir, opts)
	if info.Snapshot != "20261121T071501Z" || !info.CreatedAt.Equal(h.now) {
		t.Errorf("%+v", info)
	}
}

func TestLease(t *testing.T) {
	opts := forms(t)["plain"]
	dir := filepath.Join(t.TempDir(), "backup")
	h := newHouse()
	opts.Now = func() time.Time { return h.now }
	h.take(t, dir, opts)
	a := openArchive(t, dir, opts)
	release, err := a.lease()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.lease(); !errors.Is(err, ErrLocked) {
		t.Errorf("a second: %v", err)
	}
	held, err := os.ReadFile(filepath.Join(dir, leaseName))
	if err != nil {
		t.Fatal(err)
	}
	release()
	release, err = a.lease()
	if err != nil {
		t.Fatal(err)
	}
	release()
	// A holder that was killed, ten minutes ago; and one that never said until when.
	for _, content := range []string{string(held), "", "words"} {
		if err := os.WriteFile(filepath.Join(dir, leaseName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(leaseTime + time.Second)
		if release, err = a.lease(); err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		release()
	}
}
