package integrity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// RepairResult is what a Repair did, and what the verification after it found.
type RepairResult struct {
	Report         Report
	Applied        bool // false: the database is not fit to be written to, and nothing was touched
	FindingsBefore int  // findings about records and indexes, before
	TasksAdded     int  // tasks that were missing, of files that wait for their processing
	TasksRemoved   int  // tasks that were damaged, or of files that are missing
	Leftovers      int  // files that were removed from tmp
	Orphans        int  // documents that no record names, removed
}

const repairBatchSize = 256 // tasks of one commit

// Repair makes all that follows from records anew: indexes, counters, the queue of
// processing; it removes leftovers and orphans, and then verifies. Damaged records and
// documents are never touched: they stay findings, and a backup brings them back.
// Changes wait meanwhile, and lists are refused. It touches nothing at all where the
// file of the database is damaged, or where an index is all that is left of a
// document: the findings say so then. Closing on a vault that takes no writes.
func (c *Checker) Repair(ctx context.Context, actor model.Actor, progress func(done, total int)) (r RepairResult, err error) {
	if err := c.Store.Failure(); err != nil {
		return r, txn.ReadOnlyError(err)
	}
	var against []store.Finding
	err = c.ViewAsAdmin(ctx, actor, nil)
	if _, damaged := store.DescribeDamage(err); err == nil || damaged {
		r.FindingsBefore, against, err = c.checkRepairable(ctx)
	}
	if err != nil {
		return r, err
	}
	if r.Applied = len(against) == 0; r.Applied {
		if err := c.repair(ctx, actor, &r); err != nil {
			return r, fmt.Errorf("repair: %w", err)
		}
	}
	r.Report, err = c.Verify(ctx, progress)
	r.Report.Findings = append(r.Report.Findings, against...)
	return r, err
}

// checkRepairable counts what is wrong with records and indexes, and gives what stands
// against a repair.
func (c *Checker) checkRepairable(ctx context.Context) (wrong int, against []store.Finding, err error) {
	unsound := store.Finding{Kind: "database", Subject: "repair", Problem: "nothing was repaired: the file itself is damaged, restore a backup"}
	copied, done, err := c.snapshot(ctx, "repair")
	if _, damaged := store.DescribeDamage(err); damaged {
		return 1, []store.Finding{unsound}, nil
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	census, err := copied.Check(ctx, func(store.Finding) { wrong++ })
	switch {
	case err != nil:
		return 0, nil, err
	case census.Corrupt:
		return wrong, []store.Finding{unsound}, nil
	}
	if against, err = c.findLostRecords(copied); err != nil || len(against) > 0 {
		return wrong, against, err
	}
	against, err = c.findUncountedLoss(ctx, copied)
	return wrong, against, err
}

// findUncountedLoss is a finding when there are fewer records of files than were
// counted, and documents that no record names: they may be theirs, and counted anew
// they would go to the sweep.
func (c *Checker) findUncountedLoss(ctx context.Context, copied *store.Copy) ([]store.Finding, error) {
	var there, counted uint64
	err := copied.View(func(t *store.Tx) error {
		there, counted = t.FileRecordCount(), t.Count(store.CountFileRecords)
		return nil
	})
	if err != nil || there >= counted {
		return nil, err
	}
	orphans := 0
	err = c.Vault.Blobs.Walk(ctx, func(e blobstore.Entry) error {
		return c.Store.View(ctx, func(t *store.Tx) error {
			if !t.DigestInUse(e.Digest) {
				orphans++
			}
			return nil
		})
	}, nil)
	if err != nil || orphans == 0 {
		return nil, err
	}
	return []store.Finding{{Kind: "database", Subject: "repair", Problem: fmt.Sprintf(
		"nothing was repaired: %d records of files are there, %d were counted, and %d documents have no record; restore a backup", there, counted, orphans)}}, nil
}

// findLostRecords names the documents that are there while their records are gone, and
// nothing but the index of digests tells of them. Made anew, it would hand them over
// to the sweep.
func (c *Checker) findLostRecords(copied *store.Copy) (lost []store.Finding, err error) {
	err = copied.EachDigest(func(d [32]byte, files []model.File) error {
		gone := 0
		err := copied.View(func(t *store.Tx) error {
			for _, file := range files {
				if _, err := t.FileIncludingTrash(file.ID); errs.KindOf(err) == errs.NotFound {
					gone++
				}
			}
			return nil
		})
		if err != nil || gone < len(files) {
			return err
		}
		if _, err := c.Vault.Blobs.Size(d); !errors.Is(err, fs.ErrNotExist) {
			lost = append(lost, store.Finding{Kind: "database", Subject: "repair",
				Problem: fmt.Sprintf("nothing was repaired: the record of file %d is gone, its document %s is there; restore a backup", files[0].ID, blobstore.Digest(d))})
		}
		return nil
	})
	return lost, err
}

func (c *Checker) repair(ctx context.Context, actor model.Actor, r *RepairResult) (err error) {
	// What it finds on the way, the verification finds again.
	if err := c.Store.Rebuild(ctx, func(store.Finding) {}); err != nil {
		return err
	}
	if err := c.repairQueue(ctx, actor, r); err != nil {
		return err
	}
	if r.Leftovers, err = c.Vault.Blobs.ClearTmp(ctx); err != nil {
		return err
	}
	if err := c.sweepOrphans(ctx, r); err != nil {
		return err
	}
	return c.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		return c.AddEvent(t, c.Now(), actor, "vault.repaired", "", map[string]string{
			"findings": fmt.Sprint(r.FindingsBefore), "tasks_added": fmt.Sprint(r.TasksAdded), "tasks_removed": fmt.Sprint(r.TasksRemoved),
			"leftovers_removed": fmt.Sprint(r.Leftovers), "orphans_removed": fmt.Sprint(r.Orphans),
		})
	})
}

// repairQueue gives every file that waits for its processing its task, and takes out
// those that lead nowhere.
func (c *Checker) repairQueue(ctx context.Context, actor model.Actor, r *RepairResult) error {
	defer c.Queued.Notify()
	for done := repairBatchSize; done == repairBatchSize; r.TasksRemoved += done {
		err := c.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) (err error) {
			done, err = t.RemoveOrphanTasks(repairBatchSize)
			return err
		})
		if err != nil {
			return err
		}
	}
	for from := uint64(1); ; {
		var waiting []uint64
		err := c.Store.View(ctx, func(t *store.Tx) error {
			waiting = t.FilesWithoutTask(from, repairBatchSize)
			return nil
		})
		if err != nil || len(waiting) == 0 {
			return err
		}
		added := 0
		err = c.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) (err error) {
			added, err = c.requeue(t, actor, waiting) // perhaps twice
			return err
		})
		if err != nil {
			return err
		}
		r.TasksAdded, from = r.TasksAdded+added, waiting[len(waiting)-1]+1
	}
}

// requeue looks once more: a file may have been processed or purged meanwhile.
func (c *Checker) requeue(t *store.Tx, actor model.Actor, files []uint64) (added int, err error) {
	for _, id := range files {
		file, err := t.FileIncludingTrash(id)
		switch {
		case txn.IsMissingOrDamaged(err), err == nil && (!file.Processing || t.HasTask(id)):
			continue
		case err != nil:
			return 0, err
		}
		if err := t.AddTask(model.ProcessingTask{FileID: id, Owner: actor.Record(), DueAt: c.Now()}); err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// sweepOrphans removes orphans where that is safe; where it is not, they stay notes.
func (c *Checker) sweepOrphans(ctx context.Context, r *RepairResult) error {
	_, own, err := c.Vault.CheckGeneration(ctx)
	if err != nil {
		return err
	}
	if !own {
		c.Log.Warn("orphans stay: vault.db is not the one that was last used here")
		return nil
	}
	swept, err := c.Vault.Sweeper.SweepBlobs(ctx)
	r.Orphans = swept.Removed
	if err != nil && ctx.Err() == nil && errs.KindOf(err) != errs.Unavailable {
		c.Log.Warn("orphans stay", "error", err) // a damaged record may name any of them
		return nil
	}
	return err
}
