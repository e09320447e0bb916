package instance

import (
	"context"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/stats"
	"deedkeep/app/store"
)

// Metrics contains the values for monitoring. Counters start at 0 when the instance is
// opened.
type Metrics struct {
	Health
	DatabaseBytes   int64
	OldestTask      time.Time         // when the first task in the processing queue was due; zero: the queue is empty
	Uploaded        uint64            // number of uploaded documents
	UploadedBytes   uint64            // total size of the uploaded documents
	Rejected        uint64            // number of rejected documents
	Processed       map[string]uint64 // number of finished processing runs, by jobs.Outcomes
	PagesRead       map[string]uint64 // number of pages that OCR has tried to read, by jobs.PageOutcomes
	SignIns         map[string]uint64 // number of sign-in attempts, by auth.SignInOutcomes
	BackupsVerified time.Time         // when the last verification started by StartVerify ended; zero: never
	BackupsIntact   bool              // whether that verification found no damage
	Commits         store.CommitStats
	Search          search.State
	Searches        map[string]uint64 // number of searches, by search.Outcomes
	SearchSeconds   stats.Snapshot    // duration of completed searches
}

// Metrics returns the current values. It takes the same time no matter how many records
// are stored.
func (in *Instance) Metrics(ctx context.Context) (n Metrics, err error) {
	if n.Health, err = in.Health(ctx); err != nil {
		return n, err
	}
	err = in.Store.View(ctx, func(t *store.Tx) error {
		var oldest []model.ProcessingTask
		oldest, err = t.Tasks(1)
		for _, task := range oldest {
			n.OldestTask = task.DueAt
		}
		return err
	})
	n.DatabaseBytes, n.Commits = in.Store.Size(), in.Store.CommitStats()
	n.Uploaded, n.UploadedBytes, n.Rejected = in.UploadCounts.Uploaded.Load(), in.UploadCounts.UploadedBytes.Load(),
		in.UploadCounts.Rejected.Load()
	n.Processed, n.PagesRead, n.SignIns = in.Processing.OutcomeCounts(), in.OCR.PageCounts(), in.auth.SignIns()
	n.Searches, n.SearchSeconds = in.Search.Counts()
	if err == nil {
		n.Search, err = in.Search.State(ctx)
	}
	if last := in.Backups.VerifyProgress(); !last.Ended.IsZero() && last.Err == nil {
		n.BackupsVerified, n.BackupsIntact = last.Ended, len(last.Result.Findings) == 0
	}
	return n, err
}
