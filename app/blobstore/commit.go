package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/blob"
	"deedkeep/app/blob/disk"
)

// Commit turns staged files into blobs. It waits until each file is synced, passes the
// files to the engine, and then syncs the engine once. If it returns nil, all blobs survive a
// power failure. Their digests stay pinned until release is called, which the caller does
// after committing the records that reference them. If Commit returns an error, the
// caller must treat none of the files as stored. All files that didn't become blobs are
// discarded; blobs without a reference may remain until the next sweep. The error is
// ErrSync, ErrDiskFull, ErrFinished, ErrReadOnly, a context error, or an operating system
// error. release is never nil.
func (s *Store) Commit(ctx context.Context, files ...*Staged) (release func(), err error) {
	noop := func() {}
	if s.readOnly {
		return noop, ErrReadOnly
	}
	var owned []*Staged
	for _, f := range files {
		if f.store != s || !f.finished.CompareAndSwap(false, true) {
			err = ErrFinished
			continue
		}
		owned = append(owned, f)
	}
	if err == nil {
		release, err = s.pinAndCommit(ctx, owned)
	}
	if err == nil {
		return release, nil
	}
	for _, f := range owned {
		if !f.published {
			err = errors.Join(err, f.release())
		}
	}
	return noop, fmt.Errorf("commit staged files: %w", disk.MarkFull(err))
}

func (s *Store) pinAndCommit(ctx context.Context, files []*Staged) (release func(), err error) {
	digests := make([]Digest, len(files))
	for i, f := range files {
		digests[i] = f.digest
	}
	// Pin before the first rename. Until the record is committed, only the pin protects the
	// blobs from the sweep.
	if release, err = s.Pin(ctx, digests...); err != nil {
		return release, err
	}
	if err = s.commitPinned(ctx, files, digests); err != nil {
		release()
	}
	return release, err
}

func (s *Store) commitPinned(ctx context.Context, files []*Staged, digests []Digest) error {
	for _, f := range files {
		select {
		case <-f.synced:
		case <-ctx.Done():
			return ctx.Err()
		}
		if f.syncErr != nil {
			return f.syncErr
		}
	}
	for _, f := range files {
		if err := s.publish(ctx, f); err != nil {
			return err
		}
	}
	return s.engine.Sync(ctx, digests...)
}

// publish passes a synced file to the engine. It replaces an existing blob, because that
// blob may be damaged, or its directory entry may not be synced yet by another Commit. A
// partial upload with confirmed bytes keeps its file until it is removed, because without a
// record, the blob is not an upload that can resume.
func (s *Store) publish(ctx context.Context, f *Staged) (err error) {
	from := f.path
	if f.partial.isConfirmed() {
		if from, err = s.linkOrCopy(f); err != nil {
			return err
		}
	}
	f.closed = true // Windows can't rename an open file
	if err = f.file.Close(); err == nil {
		err = s.engine.Put(ctx, f.digest, from)
	}
	if errors.Is(err, blob.ErrInUse) && s.Check(ctx, f.digest) == nil {
		// Windows can't replace a file that is being read. Keep the existing blob: it is
		// intact, and its rename was written through to the disk.
		err = s.files.Remove(from)
	}
	if from != f.path {
		// The engine does nothing if an earlier Commit has linked the same file to the blob.
		err = errors.Join(err, s.removeTmp(from))
	}
	if err != nil {
		return err
	}
	s.recordWritten(ctx, f.digest)
	f.published = true
	s.disown(f.path)
	return nil
}

// linkOrCopy creates another name for a synced file in tmp. If the file system doesn't support
// links, it copies the file.
func (s *Store) linkOrCopy(f *Staged) (path string, err error) {
	path, err = s.newTmp()
	if err != nil {
		return "", err
	}
	if err = s.files.Link(f.path, path); err == nil {
		return path, nil
	}
	s.disown(path)
	s.log.Debug("file copied because it can't be linked", "error", err)
	return s.copyToTmp(f.file, f.size)
}

// copyToTmp copies the first size bytes of r to a temporary file, which is read-only and
// synced.
func (s *Store) copyToTmp(r io.ReaderAt, size int64) (path string, err error) {
	f, path, err := s.create()
	if err != nil {
		return "", err
	}
	if _, err = io.Copy(f, io.NewSectionReader(r, 0, size)); err == nil {
		err = s.makeReadOnly(f)
	}
	if err == nil {
		if err = f.Sync(); err != nil {
			err = disk.SyncError(err)
		}
	}
	if err != nil {
		return "", errors.Join(err, s.closeAndRemove(f, path))
	}
	if err = f.Close(); err != nil {
		return "", errors.Join(err, s.removeTmp(path))
	}
	return path, nil
}
