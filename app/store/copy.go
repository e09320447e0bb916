package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/pagecache"
)

// Copy is a consistent private copy of a store's file, or the live file itself (see
// LiveCopy). Reading it never blocks writers of the store.
type Copy struct {
	db          *bolt.DB
	live        *Store // nil for a private copy
	path        string
	fingerprint string              // fingerprint of the secret.key that the store was opened with
	hash        func(string) uint64 // see Store.hash
	brokenPages bool                // set by Check
}

// Snapshot writes a Copy to path, which must not exist, and opens it. If a Rebuild is in
// progress, Snapshot waits for it, so the Copy has complete indexes. The error has kind
// errs.InsufficientStorage if the disk is full. If there is an error, the file is removed.
func (s *Store) Snapshot(ctx context.Context, path string) (c *Copy, err error) {
	err = s.withCompleteIndexes(ctx, func(complete func(*Tx) bool) error {
		c, err = s.writeSnapshot(ctx, path, complete)
		return err
	})
	return c, err
}

// writeSnapshot writes and opens one Copy. complete reports whether the indexes that a
// transaction sees are complete.
func (s *Store) writeSnapshot(ctx context.Context, path string, complete func(*Tx) bool) (*Copy, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	out := &ctxWriter{ctx: ctx, w: file}
	err = s.View(ctx, func(t *Tx) error {
		if !complete(t) {
			return errRebuilding
		}
		_, err := t.tx.WriteTo(out)
		return errors.Join(err, out.err) // bbolt formats some errors without wrapping them
	})
	if err = errors.Join(err, file.Close()); durable.IsFullWrite(err) {
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

// openCopy opens a copy read-only so that bbolt doesn't load the freelist. If the freelist
// is damaged, Check reports that.
func openCopy(path string) (*Copy, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open the copy of the database: %w", err)
	}
	return &Copy{db: db, path: path}, nil
}

// Close closes the copy and removes its file. It does nothing for a LiveCopy.
func (c *Copy) Close() error {
	if c.live != nil {
		return nil
	}
	return errors.Join(c.db.Close(), os.Remove(c.path))
}

// view runs fn in a read transaction on the copy.
func (c *Copy) view(fn func(*Tx) error) error {
	return c.db.View(func(tx *bolt.Tx) error {
		return RecoverPanic(func() error { return fn(&Tx{tx: tx, caches: new(caches), hash: c.hash}) })
	})
}

// digestBatch is the approximate number of files that EachDigest reads per transaction.
const digestBatch = 256

// digestFiles contains a content digest and all files with that content.
type digestFiles struct {
	digest [32]byte
	files  []model.File
}

// EachDigest calls fn once for each content digest, in order, with the files that have it,
// until fn returns an error. If the record of a file is damaged, only the file's ID is set,
// its size is -1, and Check reports the damage. fn runs outside the transactions, which are
// short. If Check found broken pages, EachDigest returns an error.
func (c *Copy) EachDigest(fn func(digest [32]byte, files []model.File) error) error {
	if c.brokenPages {
		return errBrokenPages
	}
	for from := make([]byte, 0, 32); from != nil; {
		var batch []digestFiles
		if err := c.view(func(t *Tx) error { batch, from = t.readDigests(from); return nil }); err != nil {
			return err
		}
		for _, entry := range batch {
			if err := fn(entry.digest, entry.files); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDigests reads about digestBatch files, ordered by digest, starting with the digest
// from. It returns the digest to continue with, or nil at the end.
func (t *Tx) readDigests(from []byte) (list []digestFiles, next []byte) {
	cursor, read := t.bucket(bucketFileDigests).Cursor(), 0
	for k, _ := cursor.Seek(from); k != nil; k, _ = cursor.Next() {
		if len(k) != 40 {
			continue // Check reports invalid keys
		}
		if len(list) == 0 || list[len(list)-1].digest != [32]byte(k[:32]) {
			if read >= digestBatch {
				return list, append(from[:0], k[:32]...)
			}
			list = append(list, digestFiles{digest: [32]byte(k[:32])})
		}
		id, _ := decodeUint64(k[32:])
		file, err := files.get(t, id)
		if err != nil {
			file = model.File{ID: id, Size: -1}
		}
		last := &list[len(list)-1]
		last.files = append(last.files, file)
		read++
	}
	return list, nil
}

// ctxWriter is a writer that fails when its context is canceled.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
	err error // last error
}

func (s *ctxWriter) Write(p []byte) (n int, err error) {
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, s.err = s.w.Write(p)
	return n, s.err
}

// OpenCopy opens a database file for reading, such as one from a backup. No other process
// may use the file. Records are not migrated to the current schema. Close removes the file.
func OpenCopy(path string) (c *Copy, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	err = RecoverPanic(func() (err error) {
		c, err = openCopy(path)
		return err
	})
	return c, err
}

// View runs fn in a read transaction on the copy.
func (c *Copy) View(fn func(*Tx) error) error { return c.view(fn) }

// Path returns the path of the copy's file.
func (c *Copy) Path() string { return c.path }

// LiveCopy returns a Copy that reads the store's own file. Use it if the disk doesn't have
// enough space for a private copy. Check reads one snapshot in one transaction while
// updates continue, so the file may grow by the pages that the updates replace. bbolt
// reuses that space later. Check waits for a Rebuild in progress. EachDigest and View read
// the current state. The file at Path doesn't change only if the store is ReadOnly.
func (s *Store) LiveCopy() *Copy {
	return &Copy{db: s.db, live: s, path: s.db.Path(), fingerprint: s.fingerprint, hash: s.hash}
}

// viewFile runs fn in a read transaction. The file content that fn gets is consistent with
// the transaction.
func (c *Copy) viewFile(ctx context.Context, fn func(t *Tx, file io.ReaderAt, length int64) error) error {
	if c.live == nil {
		return c.viewFileOnce(func(*Tx) bool { return true }, fn)
	}
	return c.live.withCompleteIndexes(ctx, func(complete func(*Tx) bool) error { return c.viewFileOnce(complete, fn) })
}

// viewFileOnce is like viewFile but doesn't wait for a Rebuild. It returns errRebuilding if
// complete returns false.
func (c *Copy) viewFileOnce(complete func(*Tx) bool, fn func(t *Tx, file io.ReaderAt, length int64) error) (err error) {
	file, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // the file was only read
	tx, contents, length, err := c.beginView(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	t := &Tx{tx: tx, caches: new(caches), hash: c.hash}
	err = RecoverPanic(func() error {
		if !complete(t) {
			return errRebuilding
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fn(t, contents, length)
}

// beginView starts a read transaction. Later commits don't overwrite the pages that the
// transaction uses, except for the two meta pages. beginView copies those while no commit
// can run.
func (c *Copy) beginView(file *os.File) (tx *bolt.Tx, contents io.ReaderAt, length int64, err error) {
	if c.live != nil {
		c.live.writeMu.Lock()
		defer c.live.writeMu.Unlock()
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, 0, err
	}
	head := make([]byte, 2*c.db.Info().PageSize)
	n, err := pagecache.ReadFull(file.ReadAt, head, 0)
	if err != nil {
		return nil, nil, 0, err
	}
	tx, err = c.db.Begin(false)
	return tx, &headCachedFile{head: head[:n], rest: file}, info.Size(), err
}

// headCachedFile is a file whose first bytes were read earlier and are returned from
// memory.
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

// checkStructure runs bbolt's own check. No commit may change the file during the check.
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
