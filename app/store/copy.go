package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Copy is a private, complete copy of a store's file at one moment, or the file itself
// (Live). Reading it, however slowly, holds up no one.
type Copy struct {
	db          *bolt.DB
	live        *Store // nil: a copy
	path        string
	fingerprint string              // of the secret.key that the store was opened with
	hash        func(string) uint64 // of words, as the store's
	brokenPages bool                // its pages are; only Check finds that out
}

// Snapshot writes a Copy to path, which must not exist, and opens it. A Copy has
// complete indexes: Snapshot waits for a Rebuild in progress. It returns Full when the
// disk has no room for it; whatever the error, no file stays behind.
func (s *Store) Snapshot(ctx context.Context, path string) (c *Copy, err error) {
	err = s.withCompleteIndexes(ctx, func(whole func(*Tx) bool) error {
		c, err = s.writeSnapshot(ctx, path, whole)
		return err
	})
	return c, err
}

func (s *Store) writeSnapshot(ctx context.Context, path string, whole func(*Tx) bool) (*Copy, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	out := &ctxWriter{ctx: ctx, w: file}
	err = s.View(ctx, func(t *Tx) error {
		if !whole(t) {
			return errRebuilding
		}
		_, err := t.tx.WriteTo(out)
		return errors.Join(err, out.err) // bbolt keeps only the words of some
	})
	if err = errors.Join(err, file.Close()); isDiskFull(err) {
		err = &errs.Error{Kind: errs.InsufficientStorage, Message: errFull.Message, Err: err}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the database: %w", err), os.Remove(path))
	}
	c, err := openCopy(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	c.fingerprint, c.hash = s.fingerprint, s.hash
	return c, nil
}

// openCopy leaves the list of free pages alone: what bbolt would make of a damaged
// one, Check reports.
func openCopy(path string) (*Copy, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open the copy of the database: %w", err)
	}
	return &Copy{db: db, path: path}, nil
}

// Close closes the copy and removes its file.
func (c *Copy) Close() error {
	if c.live != nil {
		return nil
	}
	return errors.Join(c.db.Close(), os.Remove(c.path))
}

func (c *Copy) view(fn func(*Tx) error) error {
	return c.db.View(func(tx *bolt.Tx) error {
		return recoverPanic(func() error { return fn(&Tx{tx: tx, caches: new(caches), hash: c.hash}) })
	})
}

// digestBatch is how many files one look at their digests reads, or a few more.
const digestBatch = 256

// digestFiles is a document's bytes, and the files that have them.
type digestFiles struct {
	digest [32]byte
	files  []model.File
}

// EachDigest calls fn for each document's bytes once, in order of digest, with the
// files that have them, until fn returns an error. A file whose record is damaged
// is handed over with nothing but its number and a size of -1; Check reports it.
// fn runs outside of the transactions, which are short.
// After a Check that found the pages broken it is an error.
func (c *Copy) EachDigest(fn func(digest [32]byte, files []model.File) error) error {
	if c.brokenPages {
		return errBrokenPages
	}
	for from := make([]byte, 0, 32); from != nil; {
		var some []digestFiles
		if err := c.view(func(t *Tx) error { some, from = t.readDigests(from); return nil }); err != nil {
			return err
		}
		for _, one := range some {
			if err := fn(one.digest, one.files); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDigests reads some from a digest on, and the first of those that remain; nil at the end.
func (t *Tx) readDigests(from []byte) (some []digestFiles, next []byte) {
	cursor, read := t.bucket(bucketFileDigests).Cursor(), 0
	for k, _ := cursor.Seek(from); k != nil; k, _ = cursor.Next() {
		if len(k) != 40 {
			continue // Check reports it
		}
		if len(some) == 0 || some[len(some)-1].digest != [32]byte(k[:32]) {
			if read >= digestBatch {
				return some, append(from[:0], k[:32]...)
			}
			some = append(some, digestFiles{digest: [32]byte(k[:32])})
		}
		id, _ := decodeUint64(k[32:]) // eight bytes
		file, err := files.get(t, id)
		if err != nil {
			file = model.File{ID: id, Size: -1}
		}
		last := &some[len(some)-1]
		last.files = append(last.files, file)
		read++
	}
	return some, nil
}

// ctxWriter is a writer that gives up when its context ends.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
	err error // the last one
}

func (s *ctxWriter) Write(p []byte) (n int, err error) {
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, s.err = s.w.Write(p)
	return n, s.err
}

// OpenCopy opens a database file that nobody else has, such as one out of a backup,
// for reading. Its records are those of the schema it was written with. Close removes
// the file.
func OpenCopy(path string) (c *Copy, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	err = recoverPanic(func() (err error) {
		c, err = openCopy(path)
		return err
	})
	return c, err
}

// View runs fn on the copy.
func (c *Copy) View(fn func(*Tx) error) error { return c.view(fn) }

// Path is the copy's file.
func (c *Copy) Path() string { return c.path }

// LiveCopy gives a Copy that is the store's file itself, for a disk that has no space for
// one. Check reads the records of one moment, in one transaction, while changes are
// made: the file may grow by as much as they replace, and uses that again afterward. It
// waits for a Rebuild in progress. Digests and View read what is there when they are
// called. Path may be read where nothing changes the file (Fixed).
func (s *Store) LiveCopy() *Copy {
	return &Copy{db: s.db, live: s, path: s.db.Path(), fingerprint: s.fingerprint, hash: s.hash}
}

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
