package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
)

// Copy is a consistent private copy of a store's file, or the live file itself (see
// LiveCopy). Reading it never blocks writers of the store.
type Copy struct {
	db          kv.DB
	live        *Store // nil for a private copy
	path        string
	fingerprint string              // fingerprint of the secret.key that the store was opened with
	hash        func(string) uint64 // see Store.hash
	unreadable  bool                // set by Check
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
	err = s.View(ctx, func(t *Tx) error {
		if !complete(t) {
			return errRebuilding
		}
		return t.tx.Copy(ctx, file)
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

// openCopy opens a copy.
func openCopy(path string) (*Copy, error) {
	db, err := boltkv.OpenReadOnly(path, time.Second)
	if err != nil {
		return nil, err
	}
	return &Copy{db: db, path: path}, nil
}

// ReadSettings returns the stored settings of the database at path, without the checks and migrations of Open. The error
// has kind errs.Locked if another process has the database open.
func ReadSettings(path string) (settings map[string]string, err error) {
	c, err := openCopy(path)
	if err != nil {
		return nil, err
	}
	err = c.view(func(t *Tx) (err error) { settings, err = t.Settings(); return err })
	return settings, errors.Join(err, c.db.Close(false))
}

// Close closes the copy and removes its file. It does nothing for a LiveCopy.
func (c *Copy) Close() error {
	if c.live != nil {
		return nil
	}
	return errors.Join(c.db.Close(false), os.Remove(c.path))
}

// view runs fn in a read transaction on the copy.
func (c *Copy) view(fn func(*Tx) error) error {
	tx, err := c.db.Begin(context.Background(), false)
	if err != nil {
		return err
	}
	return runView(tx, c.newTx(context.Background(), tx), fn)
}

func (c *Copy) newTx(ctx context.Context, tx kv.Tx) *Tx {
	return &Tx{tx: tx, ctx: ctx, caches: new(caches), hash: c.hash}
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
// short. If Check found that the database can't be read, EachDigest returns an error.
func (c *Copy) EachDigest(fn func(digest [32]byte, files []model.File) error) error {
	if c.unreadable {
		return boltkv.ErrBrokenPages
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

// OpenCopy opens a database file for reading, such as one from a backup. No other process
// may use the file. Records are not migrated to the current schema. Close removes the file.
func OpenCopy(path string) (c *Copy, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return openCopy(path)
}

// Release closes the copy and leaves its file in place.
func (c *Copy) Release() error { return c.db.Close(false) }

// Describe returns what state the copy is in. It reads databases of any schema.
func (c *Copy) Describe() (d Description, err error) {
	err = c.view(func(t *Tx) error { d, err = describe(t); return err })
	return d, err
}

// CheckFile checks the database file at path completely, and that it belongs to the secret.key with a fingerprint. In a
// database of another schema, it checks the pages and the keys, but not the records. No process may have the file open.
func CheckFile(ctx context.Context, path, fingerprint string) (err error) {
	c, err := openCopy(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Release()) }()
	c.fingerprint = fingerprint
	var first *Finding
	found := func(f Finding) {
		if first == nil {
			first = &f
		}
	}
	var d Description
	_, err = c.CheckPages(ctx, found)
	if err == nil && first == nil {
		err = c.view(func(t *Tx) (err error) {
			if d, err = describe(t); err == nil {
				_, err = checkSchema(t, fingerprint, max(d.Schema, Schema))
			}
			return err
		})
	}
	if err == nil && first == nil && d.Schema == Schema {
		_, err = c.Check(ctx, found)
	}
	if err == nil && first != nil {
		err = &kv.DamageError{Message: first.Problem, Err: fmt.Errorf("%s is damaged: %s %s: %s", path, first.Kind, first.Subject, first.Problem)}
	}
	return err
}

// CheckPages checks only the pages and the keys of a database of any schema. The summary has the numbers of files and
// audit log entries that the database itself has counted.
func (c *Copy) CheckPages(ctx context.Context, report func(Finding)) (summary checkSummary, err error) {
	err = c.beginCheck(ctx, func(t *Tx, check kv.Check) (err error) {
		readable, err := check.Stored(ctx, func(subject, problem string) { report(Finding{"database", subject, problem}) })
		summary.Corrupt, c.unreadable = !readable, !readable
		if err != nil || !readable {
			return err
		}
		d, err := describe(t)
		summary.Events, summary.Files = int(d.LastEvent), int(t.Count(CountFileRecords))
		return err
	})
	if err != nil || c.unreadable {
		return summary, err
	}
	return summary, c.db.CheckOrder(ctx, func(problem error) { report(Finding{"database", "pages", problem.Error()}) })
}

// View runs fn in a read transaction on the copy.
func (c *Copy) View(fn func(*Tx) error) error { return c.view(fn) }

// Path returns the path of the copy's file.
func (c *Copy) Path() string { return c.path }

// LiveCopy returns a Copy that reads the store's own file. Use it if the disk doesn't have
// enough space for a private copy. Check reads one snapshot in one transaction while
// updates continue, so the file may grow by the pages that the updates replace. That space is
// reused later. Check waits for a Rebuild in progress. EachDigest and View read
// the current state. The file at Path doesn't change only if the store is ReadOnly.
func (s *Store) LiveCopy() *Copy {
	return &Copy{db: s.db, live: s, path: s.db.Path(), fingerprint: s.fingerprint, hash: s.hash}
}

// beginCheck runs fn in a read transaction whose stored form can be checked. It waits for a Rebuild in progress.
func (c *Copy) beginCheck(ctx context.Context, fn func(*Tx, kv.Check) error) error {
	if c.live == nil {
		return c.checkOnce(ctx, func(*Tx) bool { return true }, fn)
	}
	return c.live.withCompleteIndexes(ctx, func(complete func(*Tx) bool) error { return c.checkOnce(ctx, complete, fn) })
}

// checkOnce is like beginCheck but doesn't wait for a Rebuild. It returns errRebuilding if
// complete returns false.
func (c *Copy) checkOnce(ctx context.Context, complete func(*Tx) bool, fn func(*Tx, kv.Check) error) (err error) {
	check, err := c.db.BeginCheck(ctx)
	if err != nil {
		return beginError(err)
	}
	defer func() { err = errors.Join(err, check.End()) }()
	t := c.newTx(ctx, check.Tx())
	err = RecoverPanic(func() error {
		if !complete(t) {
			return errRebuilding
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fn(t, check)
}
