package vault

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// recordOps contains functions to read and write one type of record. Operations that all types share, such as patch and
// trash, use them.
type recordOps[T any] struct {
	Name              string
	get               func(*store.Tx, uint64) (T, error) // NotFound if the record is in the trash
	getIncludingTrash func(*store.Tx, uint64) (T, error) // live or trashed
	version           func(T) uint64                     // checked against If-Match
	trashed           func(T) *model.Trashed             // nil if the record is not in the trash
	changes           func(old, now T) []model.Change    // for the audit log

	// partOf returns the record that this one is a part of, and details that identify the part. The audit entries are about
	// that record, and those for a deletion have what the part contained. The function is nil for other types.
	partOf func(T) (record string, detail map[string]string)

	// keep stores what a record contained before and after a change, so that a user can undo it; see Vault.UndoEdit. The
	// function is nil for types whose changes aren't undone that way.
	keep func(t *store.Tx, v *Vault, e Edit, actor model.Actor, at time.Time, before, after T) error

	// save writes the next version.
	save func(v *Vault, t *store.Tx, now T, at time.Time) (T, error)

	// retainedUntil returns the end of the retention period, or zero if there is none. The function is nil for types
	// without retention.
	retainedUntil func(v *Vault, t *store.Tx, in T) (time.Time, error)
}

// entry returns the audit entry for an event of a record.
func (r recordOps[T]) entry(at time.Time, actor model.Actor, event string, id uint64, in T) model.Event {
	e := model.Event{At: at, Actor: actor, Kind: r.Name + "." + event, Record: model.RecordRef(r.Name, id)}
	if r.partOf != nil {
		e.Record, e.Detail = r.partOf(in)
	}
	return e
}

// list returns a page of records.
func list[T any](ctx context.Context, v *Vault, q Query, read func(*store.Tx, Query) (Page[T], error)) (Page[T], error) {
	return store.Read(ctx, v.Store, func(t *store.Tx) (Page[T], error) { return read(t, q) })
}

// patch replaces a live record with the result of change. If change leaves the record unchanged, patch writes nothing:
// the version stays the same, and there is no audit entry.
func patch[T any](ctx context.Context, v *Vault, ops recordOps[T], actor model.Actor, id uint64, match Match,
	change func(t *store.Tx, old T) (T, error)) (now T, err error) {
	_, err = v.run(ctx, actor, patching(v, ops, actor, id, match, change, &now))
	return now, err
}

// patching returns the step that patch runs. It sets now.
func patching[T any](v *Vault, ops recordOps[T], actor model.Actor, id uint64, match Match, change func(t *store.Tx, old T) (T, error),
	now *T) step {
	var old T
	var changes []model.Change
	var edit func() Edit
	if ops.keep != nil {
		edit = func() Edit { return Edit{Type: ops.Name, ID: id, Version: ops.version(*now)} }
	}
	return step{edit, func(t *store.Tx) (err error) {
		if old, err = ops.get(t, id); err != nil {
			return err
		}
		if err := match.check(ops.version(old)); err != nil {
			return err
		}
		if *now, err = change(t, old); err != nil {
			return err
		}
		if changes = ops.changes(old, *now); len(changes) == 0 {
			*now = old
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) (err error) {
		at := v.Now()
		entry := ops.entry(at, actor, "changed", id, *now)
		entry.Changes = changes
		if err := v.AddEntry(t, entry); err != nil {
			return err
		}
		if *now, err = ops.save(v, t, *now, at); err != nil || edit == nil {
			return err
		}
		return ops.keep(t, v, edit(), actor, at, old, *now)
	}}
}

// step is a part of a transaction. check returns txn.ErrNoChange if there is nothing to write. edit returns what UndoEdit
// needs to undo it; it is nil if it can't be undone that way.
type step struct {
	edit         func() Edit
	check, write func(*store.Tx) error
}

// run runs all steps in one transaction, or none. It returns the edits of those that changed something.
func (v *Vault) run(ctx context.Context, actor model.Actor, steps ...step) (edits []Edit, err error) {
	var changing []step
	err = v.Write(ctx, actor, func(t *store.Tx) error {
		changing = nil
		for _, s := range steps {
			err := s.check(t)
			if errors.Is(err, txn.ErrNoChange) {
				continue
			}
			if err != nil {
				return err
			}
			changing = append(changing, s)
		}
		if len(changing) == 0 {
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) error {
		for _, s := range changing {
			if err := s.write(t); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, txn.ErrNoChange) {
		return nil, nil
	}
	for _, s := range changing {
		if err == nil && s.edit != nil {
			edits = append(edits, s.edit())
		}
	}
	return edits, err
}

// trash moves a live record to the trash. put writes the trashed record and returns additional details for the audit
// entry.
func trash[T any](ctx context.Context, v *Vault, ops recordOps[T], actor model.Actor, id uint64, match Match, event string,
	put func(t *store.Tx, live T, in model.Trashed) (map[string]string, error)) error {
	var live T
	return v.UpdateFromReserve(ctx, actor, func(t *store.Tx) (err error) {
		if live, err = ops.get(t, id); err != nil {
			return err
		}
		return match.check(ops.version(live))
	}, func(t *store.Tx) error {
		at := v.Now()
		detail, err := put(t, live, model.Trashed{At: at, By: actor})
		if err != nil {
			return err
		}
		entry := ops.entry(at, actor, event, id, live)
		if ops.partOf == nil {
			entry.Detail = detail
		} else {
			var none T
			entry.Changes = ops.changes(live, none)
		}
		return v.AddEntry(t, entry)
	})
}

// restore restores a record from the trash if check returns no error. If the record is not in the trash, it changes
// nothing. It returns NotFound if the record has expired, even if it has not been purged yet.
func restore[T any](ctx context.Context, v *Vault, ops recordOps[T], actor model.Actor, id uint64, idempotency Idempotency[T],
	check func(t *store.Tx, in T) error, put func(t *store.Tx, in T, at time.Time) (T, map[string]string, error)) (T, error) {
	var in, out T
	err := v.UpdateFromReserve(ctx, actor, func(t *store.Tx) (err error) {
		if in, err = ops.getIncludingTrash(t, id); err != nil {
			return err
		}
		out = in
		trashed := ops.trashed(in)
		switch {
		case actor.Undoes && trashed != nil && !trashed.By.Is(actor):
			return errTrashedSince
		case trashed == nil && !idempotency.enabled():
			return txn.ErrNoChange
		case trashed == nil:
			return idempotency.CheckUnused(t, v)
		}
		if expired, err := ops.expired(v, t, in); expired || err != nil {
			return cmp.Or(err, errs.RecordNotFound(ops.Name, id))
		}
		if err := idempotency.CheckUnused(t, v); err != nil || check == nil {
			return err
		}
		return check(t, in)
	}, func(t *store.Tx) (err error) {
		at := v.Now()
		if ops.trashed(in) != nil {
			var detail map[string]string
			if out, detail, err = put(t, in, at); err != nil {
				return err
			}
			entry := ops.entry(at, actor, "restored", id, out)
			if entry.Changes = ops.changes(in, out); ops.partOf == nil {
				entry.Detail = detail
			} else {
				var none T
				entry.Changes = ops.changes(none, out)
			}
			if err := v.AddEntry(t, entry); err != nil {
				return err
			}
		}
		return idempotency.SaveResponse(t, at, out)
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return out, err
}

// expired reports whether it is too late to restore a record from the trash.
func (r recordOps[T]) expired(v *Vault, t *store.Tx, in T) (expired bool, err error) {
	var retained time.Time
	if r.retainedUntil != nil {
		if retained, err = r.retainedUntil(v, t, in); err != nil {
			return false, err
		}
	}
	return v.trashExpired(*r.trashed(in), retained), nil
}

// NextVersion increments the version of a record and sets the time of its last change to at. If the record was changed at
// that time or later, it is the first time after that, so that each version has a later time than the previous one.
func NextVersion(version *uint64, updated *time.Time, at time.Time) {
	*version++
	if !at.After(*updated) {
		at = updated.Add(time.Microsecond)
	}
	*updated = at
}

// Match is the condition in an If-Match header (RFC 9110, section 13.1.1). It is checked
// in the transaction that makes the change. The zero value accepts every version.
type Match struct {
	Given    bool     // false: accept every version
	Any      bool     // accept every version of an existing record
	Versions []uint64 // accept one of these versions
}

// MatchVersion returns the condition that the record still has a version.
func MatchVersion(version uint64) Match { return Match{Given: true, Versions: []uint64{version}} }

// maxEdits is how many times an edit is attempted if other users change the same record at the same time.
const maxEdits = 5

// RetryEdit calls edit, and calls it again if it failed because the record changed after edit had read it. edit
// merges its change with what is stored then.
func RetryEdit(edit func() error) (err error) {
	for range maxEdits {
		if err = edit(); errs.KindOf(err) != errs.PreconditionFailed {
			break
		}
	}
	return err
}

// check returns PreconditionFailed if the condition does not accept the version.
func (m Match) check(version uint64) error {
	if !m.Given || m.Any || slices.Contains(m.Versions, version) {
		return nil
	}
	return &errs.Error{Kind: errs.PreconditionFailed, Message: "The record has changed since you read it. Read it again.",
		Err: errors.New("version in If-Match doesn't match")}
}
