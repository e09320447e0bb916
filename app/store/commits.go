package store

import "deedkeep/app/stats"

var (
	batchSizeBounds     = []float64{1, 2, 4, 8, 16, 32, 64, 128, maxBatch}
	commitSecondsBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}
)

// CommitStats are the commits that succeeded since the store was opened.
type CommitStats struct {
	Changes stats.Read // how many changes shared each
	Seconds stats.Read // how long each took to be written and synced
}

// CommitStats gives the counts of the moment; it waits for no transaction.
func (s *Store) CommitStats() CommitStats {
	return CommitStats{Changes: s.batchSizes.Read(), Seconds: s.commitSeconds.Read()}
}
