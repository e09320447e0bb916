package blobstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
)

// Commit turns staged files into blobs: each is synced and renamed, then each
// shard touched is synced once. When it returns nil all of them survive a power
// cut, and their digests are pinned until release is called, after the caller
// has committed the record that names them. On an error none is acknowledged,
// every file is discarded, and at most blobs that nobody names remain for the
// sweep: ErrSync, ErrDiskFull, ErrFinished, the context's error or one of the operating
// system. release is never nil.
func (s *Store) Commit(ctx context.Context, files ...*Staged) (release func(), err error) {
	nothing := func() {}
	if s.readOnly {
		return nothing, ErrReadOnly
	}
	var taken []*Staged
	for _, f := range files {
		if f.store != s || !f.ended.CompareAndSwap(false, true) {
			err = ErrFinished
			continue
		}
		taken = append(taken, f)
	}
	if err == nil {
		release, err = s.keepTaken(ctx, taken)
	}
	if err == nil {
		return release, nil
	}
	for _, f := range taken {
		if !f.published {
			err = errors.Join(err, f.drop())
		}
	}
	return nothing, fmt.Errorf("keep: %w", mark(err))
}

func (s *Store) keepTaken(ctx context.Context, files []*Staged) (release func(), err error) {
	digests := make([]Digest, len(files))
	for i, f := range files {
		digests[i] = f.digest
	}
	// Before the first rename: between rename and record only the pin protects.
	if release, err = s.Pin(ctx, digests...); err != nil {
		return release, err
	}
	if err = s.keepPinned(ctx, files); err != nil {
		release()
	}
	return release, err
}

func (s *Store) keepPinned(ctx context.Context, files []*Staged) error {
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
	shards := map[string]bool{}
	for _, f := range files {
		if err := s.publish(ctx, f); err != nil {
			return err
		}
		shards[s.shard(f.digest)] = true
	}
	return s.syncShards(shards)
}

// publish renames a synced file to its digest. A copy already there is
// replaced: that heals a damaged one, and nobody trusts an entry that another
// keeper has renamed and not yet synced.
func (s *Store) publish(ctx context.Context, f *Staged) error {
	f.closed = true // Windows renames no open file
	if err := f.file.Close(); err != nil {
		return err
	}
	err := s.files.Rename(f.path, s.path(f.digest))
	if errors.Is(err, errFileInUse) && s.Check(ctx, f.digest) == nil {
		// Windows replaces no file that is being read; this one is sound, so it
		// may stay. The rename that made it was written through.
		err = s.files.Remove(f.path)
	}
	if err != nil {
		return err
	}
	s.vouch(f.digest)
	f.published = true
	s.forget(f.path)
	return nil
}

// syncShards syncs each directory once, all at the same time: they share the
// file system's journal commit.
func (s *Store) syncShards(shards map[string]bool) error {
	if len(shards) == 1 {
		for dir := range shards {
			return s.syncShard(dir)
		}
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(shards))
	for dir := range shards {
		wg.Go(func() { errs <- s.syncShard(dir) })
	}
	wg.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

func (s *Store) syncShard(dir string) error {
	s.gate <- struct{}{}
	defer func() { <-s.gate }()
	if err := s.syncDir(dir); err != nil {
		return fmt.Errorf("shard %s: %w", filepath.Base(dir), err)
	}
	return nil
}
