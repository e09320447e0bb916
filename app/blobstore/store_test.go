package blobstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/blob/blobtest"
	"deedkeep/app/blob/disk"
)

func TestOpenCreatesShardsAndEmptiesTmp(t *testing.T) {
	base := t.TempDir()
	dir, tmp := filepath.Join(base, "data", "blobs"), filepath.Join(base, "data", "tmp")
	rec := &recorder{Files: disk.OSFiles()}
	s, err := Open(dir, tmp, Options{Files: rec})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if n := count(rec.recorded(), "mkdir "); n != 258 {
		t.Errorf("Open created %d directories, want 258", n)
	}
	for _, name := range []string{"blobs", "data"} {
		if n := count(rec.recorded(), "syncdir "+name); n != 1 {
			t.Errorf("Open synced %s %d times, want once", name, n)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "ff")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("stat of shard ff = %v, %v, want mode 0700", info, err)
	}
	d := commitAll(t, s, sample(10, 60))[0]
	if err := os.WriteFile(filepath.Join(tmp, "left"), []byte("abc"), 0o400); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if n, size, err := s.StaleTmp(); n != 1 || size != 3 || err != nil {
		t.Errorf("StaleTmp() = %d, %d, %v, want 1 file of 3 bytes", n, size, err)
	}
	rec.forget()
	if s, err = Open(dir, tmp, Options{Files: rec}); err != nil {
		t.Fatalf("Open: %v", err)
	}
	if n := count(rec.recorded(), "mkdir "); n != 0 {
		t.Errorf("second Open created %d directories, want 0", n)
	}
	s.clean(t, rec)
	if err := s.Check(t.Context(), d); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// TestOperatingSystem uses the real file system with real syncs.
func TestOperatingSystem(t *testing.T) {
	base := t.TempDir()
	s, err := Open(filepath.Join(base, "blobs"), filepath.Join(base, "tmp"), Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	a, b := sample(100, 69), sample(2*writeBackInterval, 71)
	for _, d := range commitAll(t, s, a, b, a) {
		if err := s.Check(t.Context(), d); err != nil {
			t.Errorf("Check: %v", err)
		}
	}
	if got, err := s.Sweep(t.Context(), func(Digest) (bool, error) { return false, nil }); err != nil || got.Removed != 2 {
		t.Errorf("Sweep = %+v, %v, want 2 removed", got, err)
	}
}

func TestOpenRejectsDirectories(t *testing.T) {
	base := t.TempDir()
	crossDevice := &recorder{Files: disk.OSFiles(), fail: func(_ int, step string) error {
		if strings.HasPrefix(step, "rename probe") {
			return syscall.EXDEV
		}
		return nil
	}}
	rows := []struct {
		name, dir, tmp string
		opts           Options
		want           error
	}{
		{"same directory", "a", "a", Options{}, nil},
		{"tmp inside", "a", "a/tmp", Options{}, nil},
		{"dir inside", "a/blobs", "a", Options{}, nil},
		{"two file systems", "b/blobs", "b/tmp", Options{Files: crossDevice}, syscall.EXDEV},
		{"missing and read-only", "c/blobs", "c/tmp", Options{ReadOnly: true}, fs.ErrNotExist},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := Open(filepath.Join(base, row.dir), filepath.Join(base, row.tmp), row.opts)
			if err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("Open = %v, want %v", err, row.want)
			}
		})
	}
}

// TestOpenFaults checks that if Open fails at any step, the next Open succeeds.
func TestOpenFaults(t *testing.T) {
	base := t.TempDir()
	for _, step := range []string{"mkdir tmp", "mkdir 7f", "syncdir blobs", "create probe", "close probe", "remove probe"} {
		t.Run(step, func(t *testing.T) {
			rec := &recorder{Files: disk.OSFiles(), fail: func(_ int, s string) error {
				if s == step {
					return syscall.EIO
				}
				return nil
			}}
			if _, err := Open(filepath.Join(base, "blobs"), filepath.Join(base, "tmp"), Options{Files: rec}); !errors.Is(err, syscall.EIO) {
				t.Errorf("Open = %v, want syscall.EIO", err)
			}
			if rec.open != 0 {
				t.Errorf("%d files are open, want 0", rec.open)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	s, rec := newStore(t)
	d := commitAll(t, s, sample(10, 61))[0]
	leftover := filepath.Join(s.tmp, "left")
	if err := os.WriteFile(leftover, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	rec.forget()
	ro, err := Open(s.dir, s.tmp, Options{Files: rec, ReadOnly: true})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if err := ro.Check(t.Context(), d); err != nil {
		t.Errorf("Check: %v", err)
	}
	if n, _, err := ro.StaleTmp(); n != 1 || err != nil {
		t.Errorf("StaleTmp() = %d, %v, want 1", n, err)
	}
	_, stageErr := ro.Stage(t.Context(), strings.NewReader("x"), -1)
	_, commitErr := ro.Commit(t.Context())
	_, sweepErr := ro.Sweep(t.Context(), nil)
	for _, err := range []error{stageErr, commitErr, sweepErr} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("got %v, want %v", err, ErrReadOnly)
		}
	}
	if steps := rec.recorded(); len(steps) > 0 {
		t.Errorf("steps on disk = %v, want none", steps)
	}
	if err := os.Remove(leftover); err != nil {
		t.Errorf("remove file: %v", err)
	}
}

func TestCheck(t *testing.T) {
	s, _ := newStore(t)
	d := commitAll(t, s, sample(3*chunkSize, 62), sample(100, 63), sample(10, 64), sample(70, 65))
	damage(t, s.path(d[0]))
	if err := os.Remove(s.path(d[1])); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := os.WriteFile(s.path(d[1]), nil, 0o400); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if err := os.Remove(s.path(d[2])); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	rows := []struct {
		name string
		d    Digest
		want error
	}{
		{"one bit", d[0], ErrDamaged},
		{"empty", d[1], ErrDamaged},
		{"gone", d[2], ErrMissing},
		{"sound", d[3], nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if err := s.Check(t.Context(), row.d); !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Errorf("Check = %v, want %v", err, row.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Check(ctx, d[3]); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDamaged) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestWalk(t *testing.T) {
	s, _ := newStore(t)
	d := commitAll(t, s, sample(1, 66), sample(2, 67), sample(3, 68))
	seen := map[Digest]int64{}
	err := s.Walk(t.Context(), func(e Entry) error {
		seen[e.Digest] = e.Size
		return nil
	}, nil)
	if err != nil || len(seen) != 3 || seen[d[0]] != 1 || seen[d[1]] != 2 || seen[d[2]] != 3 {
		t.Errorf("Walk visited %v, %v, want 3 blobs of 1, 2, and 3 bytes", seen, err)
	}
	stop := errors.New("stop")
	if err := s.Walk(t.Context(), func(Entry) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("Walk = %v, want %v", err, stop)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Walk(ctx, func(Entry) error { return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Walk = %v, want context.Canceled", err)
	}
}

func TestVolume(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "not", "there", "yet")} {
		if free, err := FreeSpace(path); err != nil || free == 0 {
			t.Errorf("FreeSpace(%s) = %d, %v, want a positive number", path, free, err)
		}
		if name, _, err := FileSystemType(path); err != nil || name == "" {
			t.Errorf("FileSystemType(%s) = %q, %v, want a name", path, name, err)
		}
	}
}

// TestOpenAfterKilledProbe checks that Open succeeds if an earlier probe left its file.
func TestOpenAfterKilledProbe(t *testing.T) {
	root := t.TempDir()
	dir, tmp := filepath.Join(root, "blobs"), filepath.Join(root, "tmp")
	for _, leftover := range []string{tmp, dir} {
		if err := os.MkdirAll(leftover, 0o700); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		if err := os.WriteFile(filepath.Join(leftover, "probe"), nil, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		if _, err := Open(dir, tmp, Options{}); err != nil {
			t.Fatalf("Open: %v", err)
		}
		if _, err := os.Stat(filepath.Join(leftover, "probe")); !os.IsNotExist(err) {
			t.Errorf("probe in %s: stat error = %v, want it removed", leftover, err)
		}
	}
}

// TestOtherEngine checks that the store needs nothing of the disk engine that isn't in blob.Engine.
func TestOtherEngine(t *testing.T) {
	base := t.TempDir()
	engine := &blobtest.Memory{}
	s, err := Open(filepath.Join(base, "blobs"), filepath.Join(base, "tmp"), Options{Engine: engine, VerifyOnOpenMax: 10})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	content := sample(200<<10, 80)
	d := commitAll(t, s, content, sample(10, 81))
	if err := s.Check(t.Context(), d[0]); err != nil {
		t.Errorf("Check: %v", err)
	}
	if got, err := download(t, s, d[0], int64(len(content))); err != nil || !bytes.Equal(got, content) {
		t.Errorf("download = %d bytes, %v; want %d", len(got), err, len(content))
	}
	damaged := filepath.Join(base, "tmp", "damaged")
	if err := errors.Join(os.WriteFile(damaged, sample(10, 82), 0o600), engine.Put(t.Context(), d[1], damaged)); err != nil {
		t.Fatalf("Put: %v", err)
	}
	if _, err := download(t, s, d[1], 10); !errors.Is(err, ErrDamaged) {
		t.Errorf("download of a damaged blob = %v, want %v", err, ErrDamaged)
	}
	got, err := s.Sweep(t.Context(), func(d2 Digest) (bool, error) { return d2 == d[0], nil })
	if err != nil || got.Removed != 1 || got.Kept != 1 {
		t.Errorf("Sweep = %+v, %v, want 1 removed and 1 kept", got, err)
	}
	if _, err := os.Stat(filepath.Join(base, "blobs")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of the folder of the disk engine = %v, want %v", err, fs.ErrNotExist)
	}
}
