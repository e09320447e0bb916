package store

import (
	"context"
	"errors"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
)

// LiveCopy gives a Copy that is the store's file itself, for a disk that has no space for
// one. Check reads the records of one moment, in one transaction, while changes are
// made: the file may grow by as much as they replace, and uses that again afterward. It
// waits for a Rebuild in progress. Digests and View read what is there when they are
// called. Path may be read where nothing changes the file (Fixed).
func (s *Store) LiveCopy() *Copy {
	return &Copy{db: s.db, live: s, path: s.db.Path(), fingerprint: s.fingerprint, hash: s.hash}
}

// ReadOnly reports whether nothing changes the file while it is open (OpenReadOnly).
func (s *Store) ReadOnly() bool { return errors.Is(s.Failure(), errReadOnlyDisk) }

// viewFile runs fn in a transaction, with the bytes of the file at the same moment.
func (c *Copy) viewFile(ctx context.Context, fn func(t *Tx, file io.ReaderAt, length int64) error) error {
	if c.live == nil {
		return c.viewFileOnce(func(*Tx) bool { return true }, fn)
	}
	return c.live.withCompleteIndexes(ctx, func(whole func(*Tx) bool) error { return c.viewFileOnce(whole, fn) })
}

func (c *Copy) viewFileOnce(whole func(*Tx) bool, fn func(t *Tx, file io.ReaderAt, length int64) error) (err error) {
	file, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from
	tx, held, length, err := c.beginView(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	t := &Tx{tx: tx, caches: new(caches), hash: c.hash}
	err = recoverPanic(func() error {
		if !whole(t) {
			return errRebuilding
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fn(t, held, length)
}

// beginView begins a transaction. Commits write pages that it doesn't use, and the two that
// say where the records begin: those are read while nothing is committed.
func (c *Copy) beginView(file *os.File) (tx *bolt.Tx, held io.ReaderAt, length int64, err error) {
	if c.live != nil {
		c.live.writeMu.Lock()
		defer c.live.writeMu.Unlock()
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, 0, err
	}
	head := make([]byte, 2*c.db.Info().PageSize)
	n, err := readFull(file.ReadAt, head, 0)
	if err != nil {
		return nil, nil, 0, err
	}
	tx, err = c.db.Begin(false)
	return tx, &headCachedFile{head: head[:n], rest: file}, info.Size(), err
}

// headCachedFile is a file whose beginning was read before.
type headCachedFile struct {
	head []byte
	rest io.ReaderAt
}

func (f *headCachedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.rest.ReadAt(p, at)
	if at < int64(len(f.head)) {
		copy(p[:n], f.head[at:])
	}
	return n, err
}

// checkStructure has bbolt check the file, which must not change in that time.
func (c *Copy) checkStructure(report func(error)) error {
	if c.live != nil {
		c.live.writeMu.Lock()
		defer c.live.writeMu.Unlock()
	}
	return c.db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			report(err)
		}
		return nil
	})
}
