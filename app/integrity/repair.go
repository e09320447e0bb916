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

// RepairResult is the result of Repair. Report is the result of the verification after the
// repair.
type RepairResult struct {
	Report         Report
	Applied        bool // false if the database is too damaged to repair, so nothing was changed
	FindingsBefore int  // number of findings about records and indexes before the repair
	TasksAdded     int  // number of tasks added for files that were waiting for processing without one
	TasksRemoved   int  // number of tasks removed because they were damaged or had no file
	Leftovers      int  // number of files removed from tmp
	Orphans        int  // number of documents removed because they had no record
	OCRQueued      int  // number of documents queued for OCR because results of their pages were damaged or missing
}

const repairBatchSize = 256 // tasks per transaction

// Repair rebuilds data that can be derived from records: the indexes, the counters, and the
// processing queue. It removes leftovers and orphans, and then verifies the vault. It never
// changes damaged records or documents. They remain as findings and have to be restored
// from a backup. During the repair, writes wait and lists fail. Repair changes nothing if
// the database file is damaged or if only an index still refers to a document. In these
// cases, the findings say so. It returns Unavailable if the vault is read-only.
func (c *Checker) Repair(ctx context.Context, actor model.Actor, progress func(done, total int)) (r RepairResult, err error) {
	if err := c.Store.Failure(); err != nil {
		return r, errs.DiskFailed(err)
	}
	var blockers []store.Finding
	err = c.ViewAsAdmin(ctx, actor, nil)
	if _, damaged := store.DescribeDamage(err); err == nil || damaged {
		r.FindingsBefore, blockers, err = c.checkRepairable(ctx)
	}
	if err != nil {
		return r, err
	}
	if r.Applied = len(blockers) == 0; r.Applied {
		if err := c.repair(ctx, actor, &r); err != nil {
			return r, fmt.Errorf("repair database: %w", err)
		}
	}
	r.Report, err = c.Verify(ctx, progress)
	r.Report.Findings = append(r.Report.Findings, blockers...)
	return r, err
}

// checkRepairable returns the number of findings about records and indexes, and the
// findings that prevent a repair.
func (c *Checker) checkRepairable(ctx context.Context) (findings int, blockers []store.Finding, err error) {
	damagedFile := store.Finding{Kind: "database", Subject: "repair",
		Problem: "nothing was repaired: the database file is damaged; restore a backup"}
	copied, done, err := c.snapshot(ctx, "repair")
	if _, damaged := store.DescribeDamage(err); damaged {
		return 1, []store.Finding{damagedFile}, nil
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	summary, err := copied.Check(ctx, func(store.Finding) { findings++ })
	switch {
	case err != nil:
		return 0, nil, err
	case summary.Corrupt:
		return findings, []store.Finding{damagedFile}, nil
	}
	if blockers, err = c.findLostRecords(ctx, copied); err != nil || len(blockers) > 0 {
		return findings, blockers, err
	}
	blockers, err = c.findUncountedLoss(ctx, copied)
	return findings, blockers, err
}

// findUncountedLoss returns a finding if there are fewer file records than the counter says
// and some documents have no record. These documents may belong to the lost records. If the
// counter were rebuilt, the sweeper would delete them.
func (c *Checker) findUncountedLoss(ctx context.Context, copied *store.Copy) ([]store.Finding, error) {
	var found, counted uint64
	err := copied.View(func(t *store.Tx) error {
		found, counted = t.FileRecordCount(), t.Count(store.CountFileRecords)
		return nil
	})
	if err != nil || found >= counted {
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
		"nothing was repaired: found %d file records, expected %d, and %d documents have no record; restore a backup",
		found, counted, orphans)}}, nil
}

// findLostRecords returns a finding for each stored document whose records are missing but
// whose digest is still in the index. If the index were rebuilt, the sweeper would delete
// the document.
func (c *Checker) findLostRecords(ctx context.Context, copied *store.Copy) (lost []store.Finding, err error) {
	err = copied.EachDigest(func(d [32]byte, files []model.File) error {
		missing := 0
		err := copied.View(func(t *store.Tx) error {
			for _, file := range files {
				if _, err := t.FileIncludingTrash(file.ID); errs.KindOf(err) == errs.NotFound {
					missing++
				}
			}
			return nil
		})
		if err != nil || missing < len(files) {
			return err
		}
		if _, err := c.Vault.Blobs.Size(ctx, d); !errors.Is(err, fs.ErrNotExist) {
			lost = append(lost, store.Finding{Kind: "database", Subject: "repair",
				Problem: fmt.Sprintf("nothing was repaired: document %d has no record, but the file %s exists; restore a backup",
					files[0].ID, blobstore.Digest(d))})
		}
		return nil
	})
	return lost, err
}

func (c *Checker) repair(ctx context.Context, actor model.Actor, r *RepairResult) (err error) {
	// Ignore these findings, because the verification reports them again.
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
	if r.OCRQueued, err = c.repairOCR(ctx); err != nil {
		return err
	}
	return c.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		return c.AddEvent(t, c.Now(), actor, "vault.repaired", "", map[string]string{
			"findings": fmt.Sprint(r.FindingsBefore), "tasks_added": fmt.Sprint(r.TasksAdded), "tasks_removed": fmt.Sprint(r.TasksRemoved),
			"leftovers_removed": fmt.Sprint(r.Leftovers), "orphans_removed": fmt.Sprint(r.Orphans),
		})
	})
}

// repairQueue adds missing tasks for files that are waiting for processing and removes
// tasks without a file.
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
			added, err = c.requeue(t, actor, waiting) // a transaction may run twice
			return err
		})
		if err != nil {
			return err
		}
		r.TasksAdded, from = r.TasksAdded+added, waiting[len(waiting)-1]+1
	}
}

// requeue adds tasks for the given files. It checks each file again, because it may have
// been processed or purged in the meantime.
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

// sweepOrphans removes documents without a record if that is safe. Otherwise, it keeps
// them.
func (c *Checker) sweepOrphans(ctx context.Context, r *RepairResult) error {
	_, current, err := c.Vault.CheckGeneration(ctx)
	if err != nil {
		return err
	}
	if !current {
		c.Log.Warn("orphaned files not deleted: vault.db is not the database last used in this data directory")
		return nil
	}
	result, err := c.Vault.Sweeper.SweepBlobs(ctx)
	r.Orphans = result.Removed
	if err != nil && ctx.Err() == nil && errs.KindOf(err) != errs.Unavailable {
		c.Log.Warn("orphaned files not deleted", "error", err) // a damaged record may refer to any of them
		return nil
	}
	return err
}
