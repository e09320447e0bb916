// Package txn runs transactions on a vault's database. It checks the actor in the same
// transaction, requires free disk space, and adds audit log entries. It also starts and
// stops background tasks and slows them down during uploads.
package txn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// DB is the database of a vault. Its methods check the actor within the transaction, check
// the free disk space, and add audit log entries.
type DB struct {
	Store   *store.Store
	Dir     string           // absolute path of the data directory
	Version string           // version of deedkeep; "" in tests
	Now     func() time.Time // in UTC, truncated to microseconds
	Rand    io.Reader
	Log     *slog.Logger
	MinFree uint64 // minimum free disk space in bytes; nothing is written if there is less

	Reserve  *Reserve  // disk space for deletions when the disk is full
	Activity *Activity // uploads in progress, which have priority over background work
	Tasks    *Tasks    // long-running tasks, which Close stops

	// SessionLimits and RequireTwoFactor return the settings that are in effect. Until they are set, no session is valid.
	SessionLimits    func() model.SessionLimits
	RequireTwoFactor func() bool
	// LastSeen returns when a session was last used. This time may not have been written to
	// the database yet.
	LastSeen func(model.Session) time.Time

	// RecordName returns the display name of a record, such as "order:7", or "". Describer returns what
	// the words of an audit log entry need besides these names.
	RecordName func(t *store.Tx, record string) string
	Describer  func(t *store.Tx, e model.Event) model.Describer

	// BeforeDerive, if set, is called before each part of Derive is computed. Tests make parts fail with it.
	BeforeDerive func(part string) error

	Queued      Signal // a document was queued for processing
	Orphans     Signal // blobs may have lost their last record
	MissingText Signal // the text of a document is missing from the search index
}

// NewDB returns a copy of db with its tasks, signals, and disk space reserve. The caller
// sets the other fields. reserveFile is the size of the reserve file in bytes; 0 disables
// it.
func NewDB(db DB, reserveFile int64) *DB {
	db.Activity, db.Tasks = &Activity{}, NewTasks()
	db.Reserve = &Reserve{path: filepath.Join(db.Dir, ReserveFile), Size: reserveFile, rand: db.Rand}
	db.Queued, db.Orphans, db.MissingText = NewSignal(), NewSignal(), NewSignal()
	db.SessionLimits = func() (none model.SessionLimits) { return none }
	db.RequireTwoFactor = func() bool { return false }
	db.LastSeen = func(s model.Session) time.Time { return s.LastSeenAt }
	db.RecordName = func(*store.Tx, string) string { return "" }
	db.Describer = func(*store.Tx, model.Event) model.Describer { return model.Describer{} }
	return &db
}

// Signal wakes one goroutine. Notifications that are sent before the receiver reads are
// combined into one.
type Signal chan struct{}

// NewSignal returns a signal without a notification.
func NewSignal() Signal { return make(Signal, 1) }

// Notify wakes the receiver. It never blocks.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Ready returns nil if records can be written. Otherwise, the error says why they can't.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.Store.Failure(); err != nil {
		return errs.DiskFailed(err)
	}
	if err := db.Store.CheckFile(); err != nil {
		return err
	}
	if err := db.Store.View(ctx, func(*store.Tx) error { return nil }); err != nil {
		return err
	}
	return db.CheckSpace()
}

// CheckSpace returns an InsufficientStorage error if the disk has less than MinFree bytes
// of free space.
func (db *DB) CheckSpace() error {
	if db.Store.ReadOnly() {
		return db.Store.Failure()
	}
	if err := db.Store.CheckFile(); err != nil {
		return err
	}
	free, err := blobstore.FreeSpace(db.Dir)
	if err != nil {
		return fmt.Errorf("get free disk space: %w", err)
	}
	if free < db.MinFree {
		return errs.DiskFull(nil)
	}
	return nil
}

// Write is like Update but calls CheckSpace first. Use it for changes that need disk space.
func (db *DB) Write(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	if err := db.CheckSpace(); err != nil {
		return err
	}
	return db.Update(ctx, actor, check, write)
}

// Update runs check and write in one transaction, like store.Store.Update. In the same
// transaction, it checks the actor's API key or session, which may have expired while
// documents were uploaded. It ignores MinFree, so that records can be deleted if the disk
// is full.
func (db *DB) Update(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	return db.Store.Update(ctx, func(t *store.Tx) error {
		if err := db.CheckActor(t, actor); err != nil || check == nil {
			return err
		}
		return check(t)
	}, write)
}

// UpdateFromReserve is like Update but uses the space of the reserve file if the disk is
// full. Use it for changes that free disk space or need very little.
func (db *DB) UpdateFromReserve(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	return db.fromReserve(func() error { return db.Update(ctx, actor, check, write) })
}

// StoreFromReserve is like store.Store.Update but uses the space of the reserve file if the
// disk is full. It checks no actor. Use it for signing in and for changes to an account.
func (db *DB) StoreFromReserve(ctx context.Context, check, write func(*store.Tx) error) error {
	return db.fromReserve(func() error { return db.Store.Update(ctx, check, write) })
}

// fromReserve calls update. If the disk is full, it calls update again with the space of the
// reserve file.
func (db *DB) fromReserve(update func() error) error {
	err := update()
	if errs.KindOf(err) != errs.InsufficientStorage || db.Reserve.Size == 0 {
		return err
	}
	return db.Reserve.Lend(db.Log, update)
}

// AddEvent adds an audit log entry in the transaction.
func (db *DB) AddEvent(t *store.Tx, at time.Time, actor model.Actor, kind, record string, detail map[string]string) error {
	return db.AddEntry(t, model.Event{At: at, Actor: actor, Kind: kind, Record: record, Detail: detail})
}

// maxEntryBytes is the maximum size of the changes of an audit log entry. Larger changes are written
// as several entries.
const maxEntryBytes = 128 << 10

// AddEntry adds an audit log entry in the transaction, with the names that its records have now and
// its changes in words. Call it before the record is changed, so that the entry has the name before.
func (db *DB) AddEntry(t *store.Tx, e model.Event) error {
	name := func(record string) string { return db.RecordName(t, record) }
	e.SetNames(name)
	if e.Actor.Undoes {
		detail := maps.Clone(e.Detail) // the caller may run twice
		if detail == nil {
			detail = map[string]string{}
		}
		detail["undo"] = "1"
		e.Detail = detail
	}
	if len(e.Changes) == 0 {
		return t.AddEvent(e)
	}
	changes := slices.Clone(e.Changes) // the caller may run twice
	e.Changes = changes
	d := db.Describer(t, e)
	d.Name = name
	e.Describe(d)
	for len(changes) > 0 {
		n, size := 0, 0
		for n < len(changes) && (n == 0 || size < maxEntryBytes) {
			size += len(changes[n].From) + len(changes[n].To) + len(changes[n].Text)
			n++
		}
		e.Changes, changes = changes[:n], changes[n:]
		if err := t.AddEvent(e); err != nil {
			return err
		}
	}
	return nil
}

// ShouldContinue logs the error of one run of a background job and reports whether the job
// may run again. If the store is read-only, the job must not run again until the server is
// restarted. Errors that mean that the disk is full or the vault is closing are not logged.
func (db *DB) ShouldContinue(ctx context.Context, job string, err error) bool {
	if err != nil && !errs.NotWritable(err) && ctx.Err() == nil {
		db.Log.Error(job, "error", err)
	}
	return db.Store.Failure() == nil
}

// IsMissingOrDamaged reports whether err means that a record doesn't exist or can't be
// decoded. Batch jobs skip such records so that they don't block the others.
func IsMissingOrDamaged(err error) bool {
	return errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged)
}

// ErrNoChange ends a transaction that has nothing to write.
var ErrNoChange = errors.New("nothing to write")
