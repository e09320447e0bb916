package blobstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var partialTime = time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)

// partials opens a store and its uploads in a directory, as a start of the server does.
func partials(t *testing.T, dir string, files Files) (*Store, *Partials, []*Partial) {
	t.Helper()
	s, err := Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	p, left, err := s.OpenPartials(filepath.Join(dir, "uploads"), func() time.Time { return partialTime })
	if err != nil {
		t.Fatal(err)
	}
	return s, p, left
}

func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// What arrives in three requests, with a restart between them, becomes the same blob.
func TestPartialBecomesABlob(t *testing.T) {
	t.Parallel()
	dir, all := t.TempDir(), content(700_000)
	_, p, _ := partials(t, dir, nil)
	x, err := p.Create("abc", []byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Append(t.Context(), bytes.NewReader(all[:300_000]), int64(len(all))); err != nil || x.Offset() != 300_000 {
		t.Fatalf("%v, offset %d", err, x.Offset())
	}
	broke := errors.New("broke off")
	err = x.Append(t.Context(), io.MultiReader(bytes.NewReader(all[300_000:300_500]), iotest.ErrReader(broke)), int64(len(all)))
	if !errors.Is(err, ErrSource) || !errors.Is(err, broke) || x.Offset() != 300_500 {
		t.Fatalf("%v, offset %d", err, x.Offset())
	}
	s, _, left := partials(t, dir, nil)
	if len(left) != 1 || left[0].Name() != "abc" || string(left[0].OwnerData) != "mine" || left[0].Offset() != 300_500 || !left[0].UpdatedAt().Equal(partialTime) {
		t.Fatalf("%+v", left)
	}
	x = left[0]
	if err := x.Append(t.Context(), bytes.NewReader(all[300_500:]), int64(len(all))); err != nil || x.Offset() != int64(len(all)) {
		t.Fatalf("%v, offset %d", err, x.Offset())
	}
	for _, keep := range []bool{false, true} { // given back once
		staged, err := x.Adopt(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if staged.Digest() != Digest(sha256.Sum256(all)) || staged.Size() != int64(len(all)) {
			t.Fatal("other bytes")
		}
		if !keep {
			if err := errors.Join(staged.Discard(), x.Flush()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		release, err := s.Commit(t.Context(), staged)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if err := errors.Join(s.Check(t.Context(), Digest(sha256.Sum256(all))), x.Remove(), x.Remove()); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "uploads")); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// After a power cut the offset is one of bytes that were synced, and what lies behind
// them never gets into the document.
func TestPartialPowerCut(t *testing.T) {
	t.Parallel()
	all := content(200_000)
	for _, row := range []struct {
		name string
		cut  func(part, note string) error
		want int64
		left int
	}{
		{"nothing", func(string, string) error { return nil }, 100_000, 1},
		{"zeros behind", func(part, _ string) error { return os.Truncate(part, 150_000) }, 100_000, 1},
		{"the last slot torn", func(_, note string) error { return overwrite(note, slotBlock, make([]byte, 30)) }, 50_000, 1},
		{"the slot before torn", func(_, note string) error { return overwrite(note, 0, []byte("garbage")) }, 100_000, 1},
		{"both slots torn", func(_, note string) error {
			return errors.Join(overwrite(note, 0, make([]byte, 30)), overwrite(note, slotBlock, make([]byte, 30)))
		}, 0, 0},
		{"the head torn", func(_, note string) error { return overwrite(note, headAt+headOpens, []byte("y")) }, 0, 0},
		{"an empty note", func(_, note string) error { return os.Truncate(note, 0) }, 0, 0},
		{"fewer bytes than were synced", func(part, _ string) error { return os.Truncate(part, 99_999) }, 0, 1},
		{"no bytes", func(part, _ string) error { return os.Remove(part) }, 0, 1},
		{"no note", func(_, note string) error { return os.Remove(note) }, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, p, _ := partials(t, dir, nil)
			x, err := p.Create("abc", []byte("mine"))
			if err != nil {
				t.Fatal(err)
			}
			for _, end := range []int64{50_000, 100_000} {
				if err := x.Append(t.Context(), bytes.NewReader(all[x.Offset():end]), int64(len(all))); err != nil {
					t.Fatal(err)
				}
			}
			if err := row.cut(x.path(partEnd), x.path(noteEnd)); err != nil {
				t.Fatal(err)
			}
			_, _, left := partials(t, dir, nil)
			if len(left) != row.left {
				t.Fatalf("%d left", len(left))
			}
			if row.left == 0 {
				if entries, err := os.ReadDir(filepath.Join(dir, "uploads")); err != nil || len(entries) > 0 {
					t.Errorf("%v, %v", entries, err)
				}
				return
			}
			x = left[0]
			if x.Offset() != row.want {
				t.Fatalf("offset %d, want %d", x.Offset(), row.want)
			}
			if err := x.Append(t.Context(), bytes.NewReader(all[row.want:]), int64(len(all))); err != nil {
				t.Fatal(err)
			}
			staged, err := x.Adopt(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if staged.Digest() != Digest(sha256.Sum256(all)) {
				t.Error("other bytes")
			}
			if err := staged.Discard(); err != nil {
				t.Error(err)
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

// The order of the steps is the promise: bytes, their names, and only then that they
// are there.
func TestPartialStepsInOrder(t *testing.T) {
	t.Parallel()
	r := &recorder{Files: OSFiles()}
	_, p, _ := partials(t, t.TempDir(), r)
	r.forget()
	x, err := p.Create("abc", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := x.Append(t.Context(), strings.NewReader("abc"), 9); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(r.recorded(), "\n")
	var at int
	for _, step := range []string{"create abc.part", "rename abc.note.new abc.note", "sync abc.part", "syncdir uploads", "writeat abc.note", "sync abc.note", "sync abc.part", "writeat abc.note", "sync abc.note"} {
		i := strings.Index(got[at:], step)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", step, at, got)
		}
		at += i + len(step)
	}
	if strings.Count(got, "syncdir") != 1 {
		t.Errorf("the names are synced again:\n%s", got)
	}
}

// A disk that fails on the way leaves an offset that is true.
func TestPartialFailingDisk(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, row := range []struct {
		step string
		kind error
	}{{"writeat abc.part", broken}, {"sync abc.part", ErrSync}, {"syncdir uploads", ErrSync}, {"writeat abc.note", broken}, {"sync abc.note", ErrSync}} {
		t.Run(row.step, func(t *testing.T) {
			t.Parallel()
			r := &recorder{Files: OSFiles()}
			dir := t.TempDir()
			_, p, _ := partials(t, dir, r)
			x, err := p.Create("abc", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.failWith(func(_ int, step string) error {
				if strings.HasPrefix(step, row.step) {
					return broken
				}
				return nil
			})
			if err := x.Append(t.Context(), strings.NewReader("abc"), 9); !errors.Is(err, row.kind) || x.Offset() != 0 {
				t.Errorf("%v, offset %d", err, x.Offset())
			}
			r.failWith(nil)
			if err := x.Append(t.Context(), strings.NewReader("abc"), 9); err != nil || x.Offset() != 3 {
				t.Errorf("again: %v, offset %d", err, x.Offset())
			}
			if r.open != 0 {
				t.Errorf("%d files stay open", r.open)
			}
		})
	}
}

func TestPartialRefuses(t *testing.T) {
	t.Parallel()
	_, p, _ := partials(t, t.TempDir(), nil)
	for _, name := range []string{"", "../x", "a.b", "A"} {
		if _, err := p.Create(name, nil); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	x, err := p.Create("abc", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Create("abc", nil); err == nil {
		t.Error("twice")
	}
	if err := x.Append(t.Context(), strings.NewReader("abcd"), 3); !errors.Is(err, ErrTooLarge) || x.Offset() != 0 {
		t.Errorf("too many: %v, offset %d", err, x.Offset())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Append(ctx, strings.NewReader("abc"), 3); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

func FuzzParseNote(f *testing.F) {
	good := settled{turn: 2, offset: 77, at: partialTime}.note([]byte(`{"size":1}`))
	f.Add(good)
	f.Add(good[:headAt])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		last, head, err := parseNote(raw)
		if err == nil && (last.turn == 0 || last.offset < 0 || !bytes.HasSuffix(raw, head)) {
			t.Errorf("%+v %q", last, head)
		}
	})
}
