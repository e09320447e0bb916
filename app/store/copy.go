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
