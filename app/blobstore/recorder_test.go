package blobstore

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"deedkeep/app/blob/disk"
)

// recorder is a Files that records each step and can make a step fail. It doesn't sync:
// the tests open many stores, and don't simulate power failures with it.
type recorder struct {
	disk.Files
	fail func(n int, step string) error // n is the number of earlier steps

	mu    sync.Mutex
	steps []string
	open  int
}

func (r *recorder) step(format string, args ...any) error {
	s := fmt.Sprintf(format, args...)
	r.mu.Lock()
	n, fail := len(r.steps), r.fail
	r.steps = append(r.steps, s)
	r.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(n, s)
}

// failWith sets the function that decides whether a step fails. If fail is nil, all steps
// succeed.
func (r *recorder) failWith(fail func(n int, step string) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = fail
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = nil
}

func (r *recorder) recorded() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.steps...)
}

func (r *recorder) Mkdir(path string) error {
	if err := r.step("mkdir %s", filepath.Base(path)); err != nil {
		return err
	}
	return r.Files.Mkdir(path)
}

func (r *recorder) Create(path string) (disk.File, error) {
	name := filepath.Base(path)
	if err := r.step("create %s", name); err != nil {
		return nil, err
	}
	f, err := r.Files.Create(path)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.open++
	r.mu.Unlock()
	return &recordedFile{File: f, r: r, name: name}, nil
}

func (r *recorder) Open(path string) (disk.File, error) {
	name := filepath.Base(path)
	if err := r.step("open %s", name); err != nil {
		return nil, err
	}
	f, err := r.Files.Open(path)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.open++
	r.mu.Unlock()
	return &recordedFile{File: f, r: r, name: name}, nil
}

func (r *recorder) Link(from, to string) error {
	if err := r.step("link %s %s", filepath.Base(from), filepath.Base(to)); err != nil {
		return err
	}
	return r.Files.Link(from, to)
}

func (r *recorder) Rename(from, to string) error {
	if err := r.step("rename %s %s", filepath.Base(from), filepath.Base(to)); err != nil {
		return err
	}
	return r.Files.Rename(from, to)
}

func (r *recorder) SyncDir(path string) error {
	return r.step("syncdir %s", filepath.Base(path))
}

func (r *recorder) Remove(path string) error {
	if err := r.step("remove %s", filepath.Base(path)); err != nil {
		return err
	}
	return r.Files.Remove(path)
}

type recordedFile struct {
	disk.File
	r    *recorder
	name string
}

func (f *recordedFile) Write(p []byte) (int, error) {
	if err := f.r.step("write %s", f.name); err != nil {
		// Write only half of the bytes, as on a disk that fills up.
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *recordedFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.r.step("writeat %s", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, at)
}

func (f *recordedFile) Chmod(mode fs.FileMode) error {
	if err := f.r.step("chmod %s", f.name); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *recordedFile) Sync() error {
	return f.r.step("sync %s", f.name)
}

func (f *recordedFile) Close() error {
	err := f.r.step("close %s", f.name)
	closeErr := f.File.Close()
	if closeErr == nil {
		f.r.mu.Lock()
		f.r.open--
		f.r.mu.Unlock()
	}
	if err != nil {
		return err
	}
	return closeErr
}

// newStore opens a store with a recorder. At the end of the test, it checks that no open
// file, temporary file, pin, or pending removal is left.
func newStore(t testing.TB) (*Store, *recorder) {
	t.Helper()
	rec := &recorder{Files: disk.OSFiles()}
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), Options{Files: rec})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	rec.forget()
	t.Cleanup(func() { s.clean(t, rec) })
	return s, rec
}

// path returns the path of a blob's file.
func (s *Store) path(d Digest) string { return s.engine.(*disk.Engine).Path(d) }

func (s *Store) clean(t testing.TB, rec *recorder) {
	t.Helper()
	if rec.open != 0 {
		t.Errorf("%d files are open, want 0", rec.open)
	}
	if len(s.ownedTmp) != 0 {
		t.Errorf("owned temporary files = %v, want none", s.ownedTmp)
	}
	if n, _, err := s.StaleTmp(); n != 0 || err != nil {
		t.Errorf("StaleTmp() = %d, %v, want 0", n, err)
	}
	if len(s.pins.pinned) != 0 || len(s.pins.removing) != 0 {
		t.Errorf("pins = %v, removals = %v, want none", s.pins.pinned, s.pins.removing)
	}
	if len(s.syncSlots) != 0 {
		t.Errorf("%d syncs are running, want 0", len(s.syncSlots))
	}
}
