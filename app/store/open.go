package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
	"deedkeep/app/stats"
)

// Options contains the parameters of Open and OpenReadOnly.
type Options struct {
	Now         func() time.Time
	Fingerprint string        // fingerprint of the vault's secret.key
	LockTimeout time.Duration // how long to wait if another process has the database locked; 0 means one second
	Workspace   model.Workspace
}

// Open opens the database at path and migrates it to the current schema. If the file
// doesn't exist, Open creates it with opts.Workspace. The error has kind errs.Locked if
// another process has the database open. If the schema is too new or the database belongs
// to a different secret.key, the error says what to do.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	db, err := boltkv.Open(ctx, path, boltkv.Options{LockTimeout: opts.LockTimeout, Fill: func(tx kv.Tx) error {
		return initialize(&Tx{tx: tx, ctx: ctx, writable: true, caches: new(caches)}, opts)
	}})
	if err != nil {
		return nil, err
	}
	s := newStore(db, opts)
	s.failure = db.AtOpen().WriteError
	if err := s.upgrade(ctx); err != nil {
		return nil, errors.Join(err, db.Close(s.failure == nil)) // a vault of another version keeps its clean mark
	}
	db.RemoveUnfinished()
	go s.runWriter()
	return s, nil
}

// newStore returns a store. The caller has to start its writer.
func newStore(db kv.DB, opts Options) *Store {
	return &Store{
		db:            db,
		fingerprint:   opts.Fingerprint,
		commitTx:      func(tx kv.Tx) error { return tx.Commit(context.Background()) },
		rebuildBatch:  defaultRebuildBatch,
		batchSizes:    stats.NewHistogram(batchSizeBounds...),
		commitSeconds: stats.NewHistogram(commitSecondsBounds...),
		wake:          make(chan struct{}, 1),
		writerDone:    make(chan struct{}),
		changed:       make(chan struct{}, 1),
	}
}

var errReadOnlyDisk = errs.NotNow(errs.ReadOnly,
	"The data directory can't be written to (read-only disk, or permissions). "+
		"You can read, verify, and back up the vault, but not change it.", nil)

// OpenReadOnly opens the database at path for the case that its directory isn't writable.
// The store rejects all updates. If the database has an older schema, OpenReadOnly returns
// an error, because it can't migrate it.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Store, error) {
	db, err := boltkv.OpenReadOnly(path, opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	s := newStore(db, opts)
	s.failure = errReadOnlyDisk
	close(s.writerDone) // there is no writer to wait for
	err = s.View(ctx, func(t *Tx) error {
		have, err := checkSchema(t, opts.Fingerprint, Schema)
		if err == nil && have != Schema {
			err = fmt.Errorf(
				"%s has schema %d and can't be migrated to schema %d because the directory is read-only; copy the data directory to another disk",
				path, have, Schema)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close(false))
	}
	return s, nil
}

// CheckFile returns nil if the opened database is still at its path. Otherwise, the error
// has kind errs.Unavailable.
func (s *Store) CheckFile() error { return fileError(s.db.Available()) }

// fileError returns the error for one of the database's file.
func fileError(err error) error {
	switch {
	case errors.Is(err, kv.ErrGone):
		return errs.NotNow(errs.ReadOnly, "The data directory is missing: it was moved, or its disk is not mounted. "+
			"The server accepts changes again when the directory is back.", err)
	case errors.Is(err, kv.ErrReplaced):
		return errs.NotNow(errs.ReadOnly, "vault.db was replaced while the server was running. Restart the server.", err)
	default:
		return err
	}
}

// errNotVault is wrapped by Open's error if the file lacks something that every vault has.
var errNotVault = errors.New("this file is not a deedkeep database")

// DescribeDamage returns the message for an error that was caused by a damaged database
// file. damaged is false for all other errors.
func DescribeDamage(err error) (message string, damaged bool) {
	if caught, ok := errors.AsType[*kv.PanicError](err); ok {
		return fmt.Sprint(caught.Reason), true
	}
	if damage, ok := errors.AsType[*kv.DamageError](err); ok {
		return damage.Message, true
	}
	if errors.Is(err, errNotVault) {
		return errNotVault.Error(), true
	}
	return "", false
}

// ProblemText returns the text of err for an integrity finding.
func ProblemText(err error) string {
	if message, damaged := DescribeDamage(err); damaged {
		return message
	}
	return err.Error()
}

// describeProblem returns the text of err for a Finding. If err is a kv.PanicError, it omits
// the stack trace.
func describeProblem(err error) string {
	if message, damaged := DescribeDamage(err); damaged {
		return message
	}
	return err.Error()
}
