// Package bulk changes many records at once, and undoes that.
package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Max is the maximum number of records of a bulk change.
const Max = 1000

// workers is how many records are changed at the same time. Changes that wait together share a commit.
const workers = 64

// Changed is the outcome for one record. If Err isn't nil, the record is as it was.
type Changed struct {
	ID    uint64
	Edits []vault.Edit // for Undo
	Err   error
}

// Change calls change for each record, which changes it in a transaction of its own, and returns the outcomes in the
// sequence of ids. If ctx ends, it returns its error, and the records that were changed by then stay changed.
func Change(ctx context.Context, v *vault.Vault, actor model.Actor, ids []uint64,
	change func(ctx context.Context, id uint64) ([]vault.Edit, error), idempotency vault.Idempotency[[]Changed]) ([]Changed, error) {
	list := make([]Changed, len(ids))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, len(ids)) {
		group.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(ids)) && ctx.Err() == nil; n = next.Add(1) - 1 {
				edits, err := change(ctx, ids[n])
				list[n] = Changed{ids[n], edits, err}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil || idempotency.Render == nil {
		return list, err
	}
	return list, v.UpdateFromReserve(ctx, actor, func(t *store.Tx) error { return idempotency.CheckUnused(t, v) }, func(t *store.Tx) error {
		return idempotency.SaveResponse(t, v.Now(), list)
	})
}

// Done is what Undo needs.
type Done struct {
	Type    string       `json:"type"`              // of the records
	By      uint64       `json:"by"`                // user
	Edits   []vault.Edit `json:"edits,omitempty"`   // changed values
	Trashed []uint64     `json:"trashed,omitempty"` // records that were moved to the trash
}

// Store stores what Undo needs, for as long as responses are stored.
func Store(ctx context.Context, v *vault.Vault, key [32]byte, done Done) error {
	body, err := json.Marshal(done)
	if err != nil {
		return err
	}
	return v.Store.Update(ctx, nil, func(t *store.Tx) error {
		return t.PutStoredResponse(key, model.StoredResponse{Body: body, At: v.Now()})
	})
}

// Undo undoes a bulk change of the actor, except of records that were changed in the meantime. It returns Conflict if what
// it needs isn't stored any longer, or for a change of another user.
func Undo(ctx context.Context, v *vault.Vault, actor model.Actor, key [32]byte) (recordType string, list []Changed, err error) {
	stored, found, err := v.StoredResponse(ctx, key)
	if err != nil {
		return "", nil, err
	}
	var done Done
	if !found || json.Unmarshal(stored.Body, &done) != nil || done.By != actor.ID {
		return "", nil, &errs.Error{Kind: errs.Conflict, Message: "These changes can no longer be undone."}
	}
	ids, edits := done.Trashed, map[uint64][]vault.Edit{}
	for _, e := range done.Edits {
		if edits[e.ID] == nil {
			ids = append(ids, e.ID)
		}
		edits[e.ID] = append(edits[e.ID], e)
	}
	if done.Type == vault.FileOps.Name {
		list, err = restoreFiles(ctx, v, actor, ids)
		return done.Type, list, err
	}
	list, err = Change(ctx, v, actor, ids, func(ctx context.Context, id uint64) (none []vault.Edit, err error) {
		if edits[id] == nil {
			return nil, v.Trash.Restore(ctx, actor, done.Type, id)
		}
		for _, e := range edits[id] {
			if _, undoErr := v.UndoEdit(ctx, actor, e); undoErr != nil {
				err = errors.Join(err, undoErr)
			}
		}
		return nil, err
	}, vault.Idempotency[[]Changed]{})
	return done.Type, list, err
}

// restoreFiles restores documents from the trash in the opposite sequence, so that each gets its place in its abstract
// again.
func restoreFiles(ctx context.Context, v *vault.Vault, actor model.Actor, ids []uint64) ([]Changed, error) {
	list := make([]Changed, len(ids))
	for n := len(ids) - 1; n >= 0 && ctx.Err() == nil; n-- {
		list[n] = Changed{ID: ids[n], Err: v.Trash.Restore(ctx, actor, vault.FileOps.Name, ids[n])}
	}
	return list, ctx.Err()
}
