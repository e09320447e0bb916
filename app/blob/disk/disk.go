// Package disk keeps blobs as files on the local disk:
//
//	dir/                 0700   blobs/ of the data directory
//	  00/ … ff/          0700   256 shards, created when the folder is first opened
//	    ab/ab12…         0400   64 lower-case hex digits, so `sha256sum` can check a file
//
// The package also has the operations by which app/blobstore changes temporary files and partial uploads.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"deedkeep/app/blob"
	"deedkeep/app/durable"
)

// MaxSyncs is the maximum number of concurrent syncs. A journaling file system commits
// them together, so concurrent syncs cost little more than one.
const MaxSyncs = 16

// Engine is the blobs in one folder. It implements blob.Engine.
type Engine struct {
	dir   string
	files Files
	slots chan struct{} // for syncs of shards
}

// Open opens the blobs in dir, with the files for Put in tmp. If needed, it creates both
// directories and the 256 shards with mode 0700 and syncs their parents. It rejects a tmp
// directory on another file system, because moving a file between file systems is not
// atomic.
func Open(dir, tmp string, files Files) (*Engine, error) {
	e := &Engine{dir, files, make(chan struct{}, MaxSyncs)}
	err := e.prepare(tmp)
	if err == nil {
		err = e.probe(tmp)
	}
	return e, err
}

// OpenReadOnly opens the blobs in dir for reading.
func OpenReadOnly(dir string) (*Engine, error) {
	_, err := os.Stat(dir)
	return &Engine{dir: dir}, err
}

func (e *Engine) prepare(tmp string) error {
	for _, dir := range []string{e.dir, tmp} {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return err
		}
		if err := Mkdir(e.files, dir); err != nil {
			return err
		}
	}
	for i := range 256 {
		if err := Mkdir(e.files, filepath.Join(e.dir, fmt.Sprintf("%02x", i))); err != nil {
			return err
		}
	}
	// Always sync. An earlier process may have been killed between creating a directory and
	// syncing it.
	dirs := []string{e.dir, filepath.Dir(e.dir)}
	if tmpParent := filepath.Dir(tmp); tmpParent != dirs[1] {
		dirs = append(dirs, tmpParent)
	}
	for _, dir := range dirs {
		if err := SyncDir(e.files, dir); err != nil {
			return err
		}
	}
	return nil
}

// probe checks that tmp and the blobs are on one file system by renaming a file between them.
// Nothing else proves that: two bind mounts of one device have the same device number,
// but renames between them fail.
func (e *Engine) probe(tmp string) error {
	from, to := filepath.Join(tmp, "probe"), filepath.Join(e.dir, "probe")
	f, err := e.files.Create(from)
	if errors.Is(err, fs.ErrExist) {
		// An earlier process was killed between the create and the rename.
		if err = e.files.Remove(from); err == nil {
			f, err = e.files.Create(from)
		}
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, e.files.Remove(from))
	}
	if err := e.files.Rename(from, to); err != nil {
		return errors.Join(fmt.Errorf("%s and %s must be on the same file system: %w", tmp, e.dir, err), e.files.Remove(from))
	}
	return e.files.Remove(to)
}

func (e *Engine) shard(d blob.Digest) string { return filepath.Join(e.dir, d.String()[:2]) }

// Path returns the path of a blob's file.
func (e *Engine) Path(d blob.Digest) string { return filepath.Join(e.shard(d), d.String()) }

// Put implements blob.Engine. It renames the file.
func (e *Engine) Put(_ context.Context, d blob.Digest, path string) error {
	return e.files.Rename(path, e.Path(d))
}

// Sync implements blob.Engine. It syncs each shard once, and the shards concurrently, which is
// faster because the file system commits concurrent syncs together.
func (e *Engine) Sync(_ context.Context, digests ...blob.Digest) error {
	shards := map[string]bool{}
	for _, d := range digests {
		shards[e.shard(d)] = true
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(shards))
	for dir := range shards {
		wg.Go(func() { errs <- e.syncShard(dir) })
	}
	wg.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

func (e *Engine) syncShard(dir string) error {
	e.slots <- struct{}{}
	defer func() { <-e.slots }()
	if err := SyncDir(e.files, dir); err != nil {
		return fmt.Errorf("sync shard %s: %w", filepath.Base(dir), err)
	}
	return nil
}

// openFile is an open blob.
type openFile struct{ *os.File }

// Open implements blob.Engine.
func (e *Engine) Open(_ context.Context, d blob.Digest) (blob.Reader, error) {
	f, err := os.Open(e.Path(d))
	if err != nil {
		return nil, err
	}
	return openFile{f}, nil
}

// State returns the state of the open file, so that it is correct even if the blob was replaced.
func (f openFile) State() (blob.State, error) { return stateOf(f.File) }

// Uncache drops the clean pages of the file from the page cache.
func (f openFile) Uncache() { dropPageCache(f.Fd()) }

// Stat implements blob.Engine. It leaves Version empty.
func (e *Engine) Stat(_ context.Context, d blob.Digest) (blob.State, error) {
	info, err := os.Lstat(e.Path(d))
	if err != nil {
		return blob.State{}, err
	}
	if !info.Mode().IsRegular() {
		return blob.State{}, fmt.Errorf("not a regular file: %w", fs.ErrNotExist)
	}
	return blob.State{Size: info.Size(), Modified: info.ModTime().UnixNano()}, nil
}

// Delete implements blob.Engine.
func (e *Engine) Delete(_ context.Context, d blob.Digest) error { return e.files.Remove(e.Path(d)) }

// List implements blob.Engine. It doesn't lock the folder.
func (e *Engine) List(ctx context.Context, visit func(blob.Entry) error, stray func(path string) error) error {
	return Walk(ctx, e.dir, visit, stray)
}

// Mkdir creates a directory with mode 0700 unless it exists.
func Mkdir(files Files, path string) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", path)
	}
	return files.Mkdir(path)
}

// SyncDir makes the entries of a directory durable. The error is the same as of SyncError.
func SyncDir(files Files, dir string) error {
	err := files.SyncDir(dir)
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Op == "open" {
		return MarkFull(err) // no sync was attempted
	}
	return SyncError(err)
}

// SyncError converts an error from a sync. It returns blob.ErrFull if the disk is full,
// and blob.ErrSync otherwise.
func SyncError(err error) error {
	if err == nil || durable.IsDiskFull(err) {
		return MarkFull(err)
	}
	return fmt.Errorf("%w: %w", blob.ErrSync, err)
}

// MarkFull wraps err with blob.ErrFull if it is an operating system error for a full
// disk.
func MarkFull(err error) error {
	if err != nil && durable.IsDiskFull(err) && !errors.Is(err, blob.ErrFull) {
		return fmt.Errorf("%w: %w", blob.ErrFull, err)
	}
	return err
}
