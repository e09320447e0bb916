package search

import (
	"fmt"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
)

const (
	// growthReserves is the multiple of disk.reserve that must stay free when the index grows. The
	// index stops growing before uploads are rejected because it can be rebuilt and documents cannot.
	growthReserves = 2
	// rebuildReserves is the same multiple for an index that is built next to the live one. It is
	// higher so that the new index runs out of space first.
	rebuildReserves = 3
)

// checkGrowthSpace returns InsufficientStorage if there is too little free disk space for an index to
// grow.
func (in *Indexer) checkGrowthSpace(gen *generation) error {
	limit := uint64(growthReserves)
	if gen != nil && gen == in.building && in.live != nil {
		limit = rebuildReserves
	}
	enough, err := in.hasFreeSpace(0, limit)
	if err != nil {
		return err
	}
	if !enough {
		return &errs.Error{Kind: errs.InsufficientStorage,
			Message: "The disk is nearly full, and the remaining space is reserved for documents. Search indexing resumes when twice disk.reserve is free."}
	}
	return nil
}

// allowMerge reports whether there is enough disk space for a merge that writes the given number of
// bytes. If the free space is unknown, it returns false, and the merge is retried later.
func (in *Indexer) allowMerge(bytes int64) bool {
	enough, err := in.hasFreeSpace(uint64(max(bytes, 0)), growthReserves)
	return err == nil && enough
}

// CheckRebuildSpace returns InsufficientStorage if there is too little free disk space for a second
// index next to the live one.
func (in *Indexer) CheckRebuildSpace() error {
	gen := in.acquireLive()
	if gen == nil {
		return nil
	}
	defer gen.readers.Done()
	bytes := uint64(gen.Stats().Bytes)
	enough, err := in.hasFreeSpace(bytes, rebuildReserves)
	if err != nil || enough {
		return err
	}
	free, reserve, err := in.options.FreeSpace()
	if err != nil {
		return err
	}
	return &errs.Error{Kind: errs.InsufficientStorage,
		Message: fmt.Sprintf(
			"There isn't enough free space to build a new search index next to the current one, which stays in use. The build needs %d MB (the index plus %d times disk.reserve), but only %d MB are free. "+
				"Free up disk space. Or stop the server, delete the folder %s, and start the server: search isn't available until it has rebuilt the index.",
			(bytes+rebuildReserves*reserve)>>20+1, rebuildReserves, free>>20, in.options.Dir)}
}

// checkBuildSpace returns InsufficientStorage if there is too little free disk space for a new index.
func (in *Indexer) checkBuildSpace() error {
	if in.live == nil {
		return in.checkGrowthSpace(nil)
	}
	return in.CheckRebuildSpace()
}

// abandonBuild drops the new index, or the request for one, because the live index needs the remaining
// disk space. Await returns the reason.
func (in *Indexer) abandonBuild(reason error) {
	reason = &errs.Error{Kind: errs.InsufficientStorage,
		Message: "There isn't enough free space for a new search index. The current one stays in use.", Err: reason}
	in.options.Log.Warn("rebuild of the search index stopped; the current one stays in use", "reason", reason)
	gen := in.building
	in.withLock(func() {
		in.building, in.rebuildRequested, in.abandonErr, in.since = nil, false, reason, in.options.Now()
	})
	in.discard(gen)
}

// diskFullError converts an error caused by a full disk to InsufficientStorage. It returns other errors
// unchanged.
func diskFullError(err error) error {
	if err == nil || !durable.IsDiskFull(err) {
		return err
	}
	return &errs.Error{Kind: errs.InsufficientStorage,
		Message: "The disk or its quota is full. Search indexing resumes when there is free space.", Err: err}
}

// hasFreeSpace reports whether the given number of reserves stays free after bytes are written.
func (in *Indexer) hasFreeSpace(bytes, reserves uint64) (bool, error) {
	free, reserve, err := in.options.FreeSpace()
	if err != nil {
		return false, fmt.Errorf("get free disk space: %w", err)
	}
	return free >= bytes && (free-bytes)/reserves >= reserve, nil
}
