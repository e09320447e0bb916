package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/errs"
	"deedkeep/app/stats"
)

var errReadOnlyDisk = &errs.Error{Kind: errs.Unavailable, Message: "The data directory can't be written to (read-only disk, or permissions). You can read, verify, and back up the vault, but not change it."}

// OpenReadOnly opens vault.db at path in a directory that can't be written to. It refuses
// every change, and a database of an older schema, which it can't migrate.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	var db *bolt.DB
	err := recoverPanic(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.LockTimeout, ReadOnly: true})
		return err
	})
	switch {
	case errors.As(err, new(*panicError)):
		return nil, fmt.Errorf("open %s: %w", path, errBrokenPages)
	case errors.Is(err, berrors.ErrTimeout):
		return nil, &errs.Error{Kind: errs.Locked, Message: "another process has this vault open", Err: err}
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &Store{db: db, fingerprint: opts.Fingerprint, failure: errReadOnlyDisk, commitTx: (*bolt.Tx).Commit, rebuildBatch: defaultRebuildBatch, wake: make(chan struct{}, 1), writerDone: make(chan struct{}), changed: make(chan struct{}, 1)}
	s.batchSizes, s.commitSeconds = stats.NewHistogram(batchSizeBounds...), stats.NewHistogram(commitSecondsBounds...)
	close(s.writerDone) // nothing commits
	err = s.View(ctx, func(t *Tx) error {
		have, err := checkSchema(t.tx, opts.Fingerprint, Schema)
		if err == nil && have != Schema {
			err = fmt.Errorf("%s has schema %d and can't be migrated to %d, because its directory can't be written to: copy the data directory to another disk", path, have, Schema)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}
