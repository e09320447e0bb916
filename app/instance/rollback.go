package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault/storage"
)

// RollbackResult is the outcome of RollBack. Copy is "" if the database isn't one of a newer version.
type RollbackResult struct {
	Copy string // name of the file that is the database now
	Kept string // name that the upgraded database has now
	Lost uint64 // audit log entries since the upgrade
	// Unknown means that the upgraded database can't be read, so Lost isn't known.
	Unknown bool
}

// RollBack replaces a database that a newer version upgraded with the copy from before the upgrade, which must have the
// schema of this version. It keeps the upgraded one under another name. It returns Conflict if anything was changed since
// the upgrade, unless discard is true, or if there is no copy, and Locked if another process has the vault open.
//
// The copy gets an audit log entry before it becomes the database. If RollBack is interrupted, there is either the
// upgraded database or the complete copy, and the next call resumes. If changes are lost, the generation of the copy isn't
// accepted: the server then deletes no documents that have no record (see storage.GenerationFile).
func RollBack(ctx context.Context, opts Options, discard bool) (r RollbackResult, err error) {
	rb := rollback{opts: opts}
	if rb.opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return r, err
	}
	rb.path = filepath.Join(rb.opts.Dir, "vault.db")
	if err := errors.Join(checkNotRestoring(rb.opts.Dir, false), rb.findCopy()); err != nil {
		return r, err
	}
	release, err := rb.openCurrent(&r)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if !r.Unknown && rb.current.Schema <= store.Schema {
		return r, rb.checkNotNewer()
	}
	if rb.copy == "" {
		return r, backup.Conflict("%s has no copy of the database from before the upgrade that this version can use; "+
			"restore a backup from before the upgrade into another directory", rb.opts.Dir)
	}
	if !discard && (r.Unknown || r.Lost > 0) {
		return r, lostError(r)
	}
	if err := rb.prepareCopy(ctx, r); err != nil {
		return r, err
	}
	r.Copy, r.Kept, err = filepath.Base(rb.copy), filepath.Base(rb.kept), rb.swap(release)
	return r, err
}

// lostError returns the error for changes since the upgrade.
func lostError(r RollbackResult) error {
	what := fmt.Sprintf("the audit log has %d entries since the upgrade", r.Lost)
	if r.Unknown {
		what = "the upgraded database can't be read, so the changes since the upgrade are unknown"
	}
	return backup.Conflict("%s; if you accept that these changes are lost, run the command again with --discard", what)
}

type rollback struct {
	opts    Options
	path    string // of vault.db
	current store.Description
	moved   bool              // the upgraded database is already at kept, and there is none at path
	copy    string            // path; "" if there is none that this version can use
	copied  store.Description // of the copy
	resumed bool              // the copy has the audit log entry
	older   string            // label of the copy of an older version, which this version must not use
	kept    string            // path of the upgraded database
}

// findCopy finds the newest copy from before an upgrade that this version can use.
func (rb *rollback) findCopy() error {
	for _, path := range store.UpgradeFiles(rb.path) {
		label, ok := strings.CutPrefix(path, rb.path+store.CopySuffix)
		if !ok {
			continue
		}
		var last model.Event
		d, err := describe(path, func(t *store.Tx) (err error) { last, err = t.LastEvent(); return err })
		switch {
		case errs.KindOf(err) == errs.Locked:
			return err
		case err == nil && d.Schema < store.Schema:
			rb.older = label
		case err == nil && d.Schema == store.Schema && (rb.copy == "" || d.LastEvent > rb.copied.LastEvent):
			rb.copy, rb.copied, rb.resumed = path, d, last.Kind == rolledBack
		}
	}
	return nil
}

const rolledBack = "vault.rolled_back"

// describe returns what state a database is in. read also reads it if it has the schema of this version.
func describe(path string, read func(*store.Tx) error) (d store.Description, err error) {
	c, err := store.OpenCopy(path)
	if err != nil {
		return d, err
	}
	if d, err = c.Describe(); err == nil && d.Schema == store.Schema {
		err = c.View(read)
	}
	return d, errors.Join(err, c.Release())
}

// openCurrent reads the upgraded database. Until release is called, no other process can write to it.
func (rb *rollback) openCurrent(r *RollbackResult) (release func() error, err error) {
	path := rb.path
	if !Exists(rb.opts.Dir) { // an interrupted rollback on a file system without hard links moved it
		rb.moved = true
		for _, kept := range store.UpgradeFiles(rb.path) {
			if strings.HasPrefix(kept, rb.path+store.UpgradedSuffix) {
				path = kept
			}
		}
	}
	if rb.moved && (path == rb.path || rb.copy == "") {
		return nil, &errs.Error{Kind: errs.NotFound, Message: "no deedkeep data in " + rb.opts.Dir, Err: ErrNoVault}
	}
	release = func() error { return nil }
	c, err := store.OpenCopy(path)
	if errs.KindOf(err) == errs.Locked || errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	label := "damaged"
	if err == nil {
		closed := false
		release = func() error {
			if closed {
				return nil
			}
			closed = true
			return c.Release()
		}
		if rb.current, err = c.Describe(); err == nil {
			label = rb.current.Label()
		}
	}
	r.Unknown = err != nil
	if rb.kept = rb.path + store.UpgradedSuffix + label; rb.moved {
		rb.kept = path
	}
	before := rb.copied.LastEvent
	if !rb.resumed {
		before++ // the entry of the upgrade itself
	}
	if rb.current.LastEvent > before {
		r.Lost = rb.current.LastEvent - before
	}
	return release, nil
}

// checkNotNewer returns nil if this version can open the database, so that there is nothing to do. It returns an error if
// this is the version that upgraded it.
func (rb *rollback) checkNotNewer() error {
	if rb.copy != "" || rb.older == "" {
		return nil
	}
	return backup.Conflict("this version upgraded the database, so it can't restore the copy from before the upgrade; "+
		"install version %s, and run its command \"deedkeep rollback\"", rb.older)
}

// prepareCopy checks the copy and adds an audit log entry to it. It is a copy of its own, so nothing else changes.
func (rb *rollback) prepareCopy(ctx context.Context, r RollbackResult) error {
	keys, err := openKeys(rb.opts.Dir, rb.copy, rb.opts.Rand)
	if err != nil {
		return err
	}
	if err := store.CheckFile(ctx, rb.copy, keys.Fingerprint()); err != nil {
		if message, damaged := store.DescribeDamage(err); damaged {
			err = &errs.Error{Kind: errs.Conflict, Err: errors.Join(archive.ErrDamaged, err), Message: fmt.Sprintf(
				"%s is damaged (%s); restore a backup from before the upgrade into another directory", rb.copy, message)}
		}
		return err
	}
	if rb.resumed {
		return rb.acceptGeneration(r)
	}
	db, err := store.Open(ctx, rb.copy, store.Options{Now: rb.opts.Now, Fingerprint: keys.Fingerprint()})
	if err != nil {
		return err
	}
	detail := map[string]string{"from": rb.current.Label(), "to": rb.copied.Label(), "lost_entries": fmt.Sprint(r.Lost)}
	if r.Unknown {
		detail["from"], detail["lost_entries"] = "unknown", "unknown"
	}
	err = db.Update(ctx, nil, func(t *store.Tx) error {
		if r.Lost > 0 || r.Unknown {
			if err := removeSessionsAndResponses(t); err != nil {
				return err
			}
		}
		return t.AddEvent(model.Event{At: rb.opts.Now().UTC(), Actor: model.Actor{Kind: "operator"}, Kind: rolledBack, Detail: detail})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	_ = os.Remove(rb.copy + ".clean") // of no use under the name of the copy
	return rb.acceptGeneration(r)
}

// acceptGeneration makes the server accept the copy as the newest database, if nothing is lost.
func (rb *rollback) acceptGeneration(r RollbackResult) error {
	path := filepath.Join(rb.opts.Dir, storage.GenerationFile)
	file, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (r.Lost > 0 || r.Unknown):
		return nil
	case err != nil:
		return err
	case rb.copied.Generation == "": // no server has ever used it
		return os.Remove(path)
	}
	tokens := strings.Fields(string(file))
	if slices.Contains(tokens, rb.copied.Generation) {
		return nil
	}
	return durable.WriteLine(path, []byte(strings.Join(append(tokens, rb.copied.Generation), "\n")))
}

// swap makes the copy the database. release closes the upgraded one: Windows can't replace an open file.
func (rb *rollback) swap(release func() error) error {
	if !rb.moved {
		if err := keepAs(rb.path, rb.kept); err != nil {
			return err
		}
		if err := durable.SyncDir(rb.opts.Dir); err != nil {
			return err
		}
	}
	if err := release(); err != nil {
		return err
	}
	if err := durable.Rename(rb.copy, rb.path); err != nil {
		return err
	}
	return durable.SyncDir(rb.opts.Dir)
}

// keepAs links a file to a second name. If the file system doesn't support that, keepAs renames the file.
func keepAs(path, kept string) error {
	if here, err := os.Stat(path); err == nil {
		if there, err := os.Stat(kept); err == nil && os.SameFile(here, there) {
			return nil // an interrupted rollback
		}
	}
	if err := os.Remove(kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(path, kept); err == nil {
		return nil
	}
	return durable.Rename(path, kept)
}
