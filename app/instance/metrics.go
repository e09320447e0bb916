package instance

import (
	"context"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/stats"
	"deedkeep/app/store"
)

// Metrics are what a monitor watches. What counts up does so since Open.
type Metrics struct {
	Health
	DatabaseBytes   int64
	OldestTask      time.Time         // since when the oldest of Status.Queue is due; zero: nothing waits
	Uploaded        uint64            // documents
	UploadedBytes   uint64            // of them
	Rejected        uint64            // documents, by what they are
	Processed       map[string]uint64 // processings that came to their end, by Outcomes
	SignIns         map[string]uint64 // by SignInOutcomes
	BackupsVerified time.Time         // when a verification of backups that BeginVerify began ended; zero: none
	BackupsIntact   bool              // it found nothing
	Commits         store.CommitStats
	Search          search.SearchState
	Searches        map[string]uint64 // by SearchOutcomes
	SearchSeconds   stats.Read        // of those that were answered
}

// Metrics reads them; it walks nothing, and costs the same however much is stored.
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
	n.Uploaded, n.UploadedBytes, n.Rejected = in.UploadCounts.Uploaded.Load(), in.UploadCounts.UploadedBytes.Load(), in.UploadCounts.Rejected.Load()
	n.Processed, n.SignIns = in.Processing.OutcomeCounts(), in.auth.SignIns()
	n.Searches, n.SearchSeconds = in.Search.Counts()
	if err == nil {
		n.Search, err = in.Search.State(ctx)
	}
	if last := in.Backups.VerifyProgress(); !last.Ended.IsZero() && last.Err == nil {
		n.BackupsVerified, n.BackupsIntact = last.Ended, len(last.Result.Findings) == 0
	}
	return n, err
}
