package blobstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"deedkeep/app/blob/disk"
)

var partialTime = time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)

// openPartials opens a store and its uploads, as the server does at startup.
func openPartials(t *testing.T, dir string, files disk.Files) (*Store, *Partials, []*Partial) {
	t.Helper()
	s, err := Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), Options{Files: files})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	p, loaded, err := s.OpenPartials(filepath.Join(dir, "uploads"), func() time.Time { return partialTime })
	if err != nil {
		t.Fatalf("OpenPartials: %v", err)
	}
	return s, p, loaded
}

func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestPartialBecomesABlob uploads a document in three requests, with a restart between
// requests.
func TestPartialBecomesABlob(t *testing.T) {
	t.Parallel()
	dir, all := t.TempDir(), content(700_000)
	_, p, _ := openPartials(t, dir, nil)
	x, err := p.Create("abc", []byte("mine"))
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	if err := x.Append(t.Context(), bytes.NewReader(all[:300_000]), int64(len(all))); err != nil || x.Offset() != 300_000 {
		t.Fatalf("Append = %v, offset %d, want offset 300000", err, x.Offset())
	}
	errConnection := errors.New("connection lost")
	err = x.Append(t.Context(), io.MultiReader(bytes.NewReader(all[300_000:300_500]), iotest.ErrReader(errConnection)), int64(len(all)))
	if !errors.Is(err, ErrSource) || !errors.Is(err, errConnection) || x.Offset() != 300_500 {
		t.Fatalf("Append = %v, offset %d, want %v, offset 300500", err, x.Offset(), errConnection)
	}
	s, _, loaded := openPartials(t, dir, nil)
	if len(loaded) != 1 || loaded[0].Name() != "abc" || string(loaded[0].OwnerData) != "mine" || loaded[0].Offset() != 300_500 ||
		!loaded[0].UpdatedAt().Equal(partialTime) {
		t.Fatalf("uploads after the restart = %+v, want one at 300500", loaded)
	}
	x = loaded[0]
	if err := x.Append(t.Context(), bytes.NewReader(all[300_500:]), int64(len(all))); err != nil || x.Offset() != int64(len(all)) {
		t.Fatalf("Append = %v, offset %d, want offset %d", err, x.Offset(), len(all))
	}
	for _, commit := range []bool{false, true} { // first Discard, then Commit
		staged, err := x.Adopt(t.Context())
		if err != nil {
			t.Fatalf("Adopt: %v", err)
		}
		if staged.Digest() != Digest(sha256.Sum256(all)) || staged.Size() != int64(len(all)) {
			t.Fatalf("staged %s of %d bytes, want %x of %d", staged.Digest(), staged.Size(), sha256.Sum256(all), len(all))
		}
		if !commit {
			if err := errors.Join(staged.Discard(), x.Flush()); err != nil {
				t.Fatalf("Discard: %v", err)
			}
			continue
		}
		release, err := s.Commit(t.Context(), staged)
		if err != nil {
			t.Fatalf("Commit: %v", err)
		}
		release()
	}
	if err := errors.Join(s.Check(t.Context(), Digest(sha256.Sum256(all))), x.Remove(), x.Remove()); err != nil {
		t.Fatalf("Check: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "uploads")); err != nil || len(entries) > 0 {
		t.Errorf("entries of uploads/ = %v, %v, want none", entries, err)
	}
}

// TestPartialPowerCut checks that after a power failure, the offset covers only synced
// bytes, and that bytes after the offset never become part of the document.
func TestPartialPowerCut(t *testing.T) {
	t.Parallel()
	all := content(200_000)
	for _, row := range []struct {
		name   string
		cut    func(part, note string) error
		want   int64
		loaded int
	}{
		{"no damage", func(string, string) error { return nil }, 100_000, 1},
		{"bytes beyond the offset", func(part, _ string) error { return os.Truncate(part, 150_000) }, 100_000, 1},
		{"latest slot torn", func(_, note string) error { return overwrite(note, slotBlock, make([]byte, 30)) }, 50_000, 1},
		{"previous slot torn", func(_, note string) error { return overwrite(note, 0, []byte("garbage")) }, 100_000, 1},
		{"both slots torn", func(_, note string) error {
			return errors.Join(overwrite(note, 0, make([]byte, 30)), overwrite(note, slotBlock, make([]byte, 30)))
		}, 0, 0},
		{"owner data torn", func(_, note string) error { return overwrite(note, ownerDataAt+ownerDataHeader, []byte("y")) }, 0, 0},
		{"empty note", func(_, note string) error { return os.Truncate(note, 0) }, 0, 0},
		{"file shorter than the offset", func(part, _ string) error { return os.Truncate(part, 99_999) }, 0, 1},
		{"no file", func(part, _ string) error { return os.Remove(part) }, 0, 1},
		{"no note", func(_, note string) error { return os.Remove(note) }, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, p, _ := openPartials(t, dir, nil)
			x, err := p.Create("abc", []byte("mine"))
			if err != nil {
				t.Fatalf("Create: %v", err)
			}
			for _, end := range []int64{50_000, 100_000} {
				if err := x.Append(t.Context(), bytes.NewReader(all[x.Offset():end]), int64(len(all))); err != nil {
					t.Fatalf("Append: %v", err)
				}
			}
			if err := row.cut(x.path(partSuffix), x.path(noteSuffix)); err != nil {
				t.Fatalf("cut: %v", err)
			}
			_, _, loaded := openPartials(t, dir, nil)
			if len(loaded) != row.loaded {
				t.Fatalf("%d uploads after the restart, want %d", len(loaded), row.loaded)
			}
			if row.loaded == 0 {
				if entries, err := os.ReadDir(filepath.Join(dir, "uploads")); err != nil || len(entries) > 0 {
					t.Errorf("entries of uploads/ = %v, %v, want none", entries, err)
				}
				return
			}
			x = loaded[0]
			if x.Offset() != row.want {
				t.Fatalf("offset %d, want %d", x.Offset(), row.want)
			}
			if err := x.Append(t.Context(), bytes.NewReader(all[row.want:]), int64(len(all))); err != nil {
				t.Fatalf("Append: %v", err)
			}
			staged, err := x.Adopt(t.Context())
			if err != nil {
				t.Fatalf("Adopt: %v", err)
			}
			if staged.Digest() != Digest(sha256.Sum256(all)) {
				t.Errorf("digest = %s, want %x", staged.Digest(), sha256.Sum256(all))
			}
			if err := staged.Discard(); err != nil {
				t.Errorf("Discard: %v", err)
			}
		})
	}
}

func overwrite(path string, at int64, with []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(with, at)
	return errors.Join(err, f.Close())
}

// TestPartialSyncsInOrder checks that the bytes are synced first, then the directory, and
// that the offset is written to the note only after that.
func TestPartialSyncsInOrder(t *testing.T) {
	t.Parallel()
	r := &recorder{Files: disk.OSFiles()}
	_, p, _ := openPartials(t, t.TempDir(), r)
	r.forget()
	x, err := p.Create("abc", nil)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	for range 2 {
		if err := x.Append(t.Context(), strings.NewReader("abc"), 9); err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
	got := strings.Join(r.recorded(), "\n")
	var at int
	for _, step := range []string{"create abc.note", "create abc.part", "sync abc.part", "syncdir uploads",
		"writeat abc.note", "sync abc.note", "sync abc.part", "writeat abc.note", "sync abc.note"} {
		i := strings.Index(got[at:], step)
		if i < 0 {
			t.Fatalf("got\n%s\nwant %q after byte %d", got, step, at)
		}
		at += i + len(step)
	}
	if strings.Count(got, "syncdir") != 1 {
		t.Errorf("want one syncdir in:\n%s", got)
	}
}

// TestPartialOffsetAfterDiskErrors checks that the offset covers only durable bytes after
// a disk error.
func TestPartialOffsetAfterDiskErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, row := range []struct {
		step string
		kind error
	}{{"writeat abc.part", broken}, {"sync abc.part", ErrSync}, {"syncdir uploads", ErrSync}, {"writeat abc.note", broken},
		{"sync abc.note", ErrSync}} {
		t.Run(row.step, func(t *testing.T) {
			t.Parallel()
			r := &recorder{Files: disk.OSFiles()}
			dir := t.TempDir()
			_, p, _ := openPartials(t, dir, r)
			x, err := p.Create("abc", nil)
			if err != nil {
				t.Fatalf("Create: %v", err)
			}
			r.failWith(func(_ int, step string) error {
				if strings.HasPrefix(step, row.step) {
					return broken
				}
				return nil
			})
			if err := x.Append(t.Context(), strings.NewReader("abc"), 9); !errors.Is(err, row.kind) || x.Offset() != 0 {
				t.Errorf("Append = %v, offset %d, want %v and offset 0", err, x.Offset(), row.kind)
			}
			r.failWith(nil)
			if err := x.Append(t.Context(), strings.NewReader("abc"), 9); err != nil || x.Offset() != 3 {
				t.Errorf("second Append = %v, offset %d, want no error and offset 3", err, x.Offset())
			}
			if r.open != 0 {
				t.Errorf("%d files are open, want 0", r.open)
			}
		})
	}
}

func TestPartialRejectsInput(t *testing.T) {
	t.Parallel()
	_, p, _ := openPartials(t, t.TempDir(), nil)
	for _, name := range []string{"", "../x", "a.b", "A"} {
		if _, err := p.Create(name, nil); err == nil {
			t.Errorf("Create(%q): got no error", name)
		}
	}
	x, err := p.Create("abc", nil)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	if _, err := p.Create("abc", nil); err == nil {
		t.Error("second Create with the same name: got no error")
	}
	if err := x.Append(t.Context(), strings.NewReader("abcd"), 3); !errors.Is(err, ErrTooLarge) || x.Offset() != 0 {
		t.Errorf("Append of too many bytes = %v, offset %d, want %v and offset 0", err, x.Offset(), ErrTooLarge)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Append(ctx, strings.NewReader("abc"), 3); !errors.Is(err, context.Canceled) {
		t.Errorf("Append = %v, want %v", err, context.Canceled)
	}
}

// TestPartialSync checks that an upload without bytes is found after a restart once Sync has synced its note and then
// the directory.
func TestPartialSync(t *testing.T) {
	t.Parallel()
	r := &recorder{Files: disk.OSFiles()}
	dir := t.TempDir()
	_, p, _ := openPartials(t, dir, r)
	x, err := p.Create("abc", []byte("mine"))
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	r.forget()
	if err := x.Sync(); err != nil {
		t.Fatalf("Sync: %v", err)
	}
	if got, want := r.recorded(), []string{"open abc.note", "sync abc.note", "close abc.note", "syncdir uploads"}; !slices.Equal(got, want) {
		t.Errorf("steps of Sync = %q, want %q", got, want)
	}
	if _, _, loaded := openPartials(t, dir, nil); len(loaded) != 1 || loaded[0].Name() != "abc" || loaded[0].Offset() != 0 {
		t.Errorf("uploads after the restart = %+v, want abc at 0", loaded)
	}
}

// unlinkable is a file system without links.
type unlinkable struct{ disk.Files }

func (unlinkable) Link(string, string) error { return errors.ErrUnsupported }

// TestPartialSurvivesCommit checks that after Commit, an upload still has its confirmed bytes if its record was not
// committed, and that continuing it doesn't change the blob, which may belong to another record.
func TestPartialSurvivesCommit(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]disk.Files{"linked": disk.OSFiles(), "copied": unlinkable{disk.OSFiles()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, all := t.TempDir(), content(100_000)
			s, p, _ := openPartials(t, dir, files)
			x, err := p.Create("abc", nil)
			if err != nil {
				t.Fatalf("Create: %v", err)
			}
			for _, end := range []int{90_000, len(all)} {
				if err := x.Append(t.Context(), bytes.NewReader(all[x.Offset():end]), int64(len(all))); err != nil {
					t.Fatalf("Append: %v", err)
				}
			}
			commitPartial(t, s, x, all)
			commitPartial(t, s, x, all) // the first record was not committed
			s, _, loaded := openPartials(t, dir, files)
			if len(loaded) != 1 || loaded[0].Offset() != 90_000 {
				t.Fatalf("uploads after the restart = %+v, want one at 90000", loaded)
			}
			x = loaded[0]
			other := bytes.Clone(all)
			other[95_000]++
			if err := x.Append(t.Context(), bytes.NewReader(other[90_000:]), int64(len(all))); err != nil {
				t.Fatalf("Append: %v", err)
			}
			commitPartial(t, s, x, other)
			if err := x.Remove(); err != nil {
				t.Errorf("Remove: %v", err)
			}
			for _, body := range [][]byte{all, other} {
				d := Digest(sha256.Sum256(body))
				if err := s.Check(t.Context(), d); err != nil {
					t.Errorf("Check: %v, want an intact blob", err)
				}
				if info, err := os.Stat(s.path(d)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o400 {
					t.Errorf("blob = %v, %v; want mode 0400", info, err)
				}
			}
			if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
				t.Errorf("entries of tmp/ = %v, %v; want none", left, err)
			}
		})
	}
}

// commitPartial makes an upload with the given content a blob.
func commitPartial(t *testing.T, s *Store, x *Partial, content []byte) {
	t.Helper()
	staged, err := x.Adopt(t.Context())
	if err != nil {
		t.Fatalf("Adopt: %v", err)
	}
	if staged.Digest() != Digest(sha256.Sum256(content)) {
		t.Fatalf("digest = %s, want %x", staged.Digest(), sha256.Sum256(content))
	}
	release, err := s.Commit(t.Context(), staged)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	release()
}

func FuzzParseNote(f *testing.F) {
	good := checkpoint{sequence: 2, offset: 77, at: partialTime}.newNote([]byte(`{"size":1}`))
	f.Add(good)
	f.Add(good[:ownerDataAt])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		last, ownerData, err := parseNote(raw)
		if err == nil && (last.sequence == 0 || last.offset < 0 || !bytes.HasSuffix(raw, ownerData)) {
			t.Errorf("parseNote(%q) = %+v, %q, want a positive sequence and the end of the note", raw, last, ownerData)
		}
	})
}
