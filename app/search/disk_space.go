package search

import (
	"fmt"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
)

const (
	// growthReserves is how many reserves must be free for the index to grow. It can be made
	// anew, and documents cannot: it stops before they are refused.
	growthReserves = 2
	// rebuildReserves is how many must be free for one that is made beside one that answers: it
	// stops before that one can follow no more.
	rebuildReserves = 3
)

// checkGrowthSpace is Full when the disk has too little room for an index to grow.
func (x *Indexer) checkGrowthSpace(in *generation) error {
	most := uint64(growthReserves)
	if in != nil && in == x.building && x.live != nil {
		most = rebuildReserves
	}
	enough, err := x.hasFreeSpace(0, most)
	if err != nil {
		return err
	}
	if !enough {
		return &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is nearly full, and what is left is for documents; search goes on when twice disk.reserve is free."}
	}
	return nil
}

// allowMerge tells whether a merge may take so many bytes. Where the disk does not
// say how much is free, it waits.
func (x *Indexer) allowMerge(bytes int64) bool {
	enough, err := x.hasFreeSpace(uint64(max(bytes, 0)), growthReserves)
	return err == nil && enough
}

// CheckRebuildSpace is Full when the disk has too little room for a second index beside the one
// that answers.
func (x *Indexer) CheckRebuildSpace() error {
	in := x.acquireLive()
	if in == nil {
		return nil
	}
	defer in.readers.Done()
	_, bytes, _ := in.Size()
	enough, err := x.hasFreeSpace(uint64(max(bytes, 0)), rebuildReserves)
	if err != nil || enough {
		return err
	}
	free, reserve, err := x.freeSpace()
	if err != nil {
		return err
	}
	return &errs.Error{Kind: errs.InsufficientStorage, Message: fmt.Sprintf("There isn't enough free space to build a second search index beside the current one, which stays in use: %d MB are needed (the index, and %d times disk.reserve) and %d MB are free. "+
		"Free some disk space. Or stop the server and delete the folder %s: search isn't available until the next start has rebuilt it.", (uint64(max(bytes, 0))+rebuildReserves*reserve)>>20+1, rebuildReserves, free>>20, x.dir)}
}

// checkBuildSpace is Full when the disk has too little room for another index.
func (x *Indexer) checkBuildSpace() error {
	if x.live == nil {
		return x.checkGrowthSpace(nil)
	}
	return x.CheckRebuildSpace()
}

// abandonBuild drops an index that is made, or was asked for, beside one that answers, for want
// of room: that one needs what is left, and goes on. Await tells those who wait.
func (x *Indexer) abandonBuild(why error) {
	why = &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk has no room for a second search index; the one there is goes on.", Err: why}
	x.log.Warn("the new search index is given up; the one there is goes on", "reason", why)
	in := x.building
	x.withLock(func() { x.building, x.rebuildRequested, x.abandonErr, x.since = nil, false, why, x.clock() })
	x.discard(in)
}

// diskFullError is an error of the disk as checkGrowthSpace would have said it, where that is full.
func diskFullError(err error) error {
	if err == nil || !durable.IsDiskFull(err) {
		return err
	}
	return &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full, or what of it is given to the service; search goes on when there is room.", Err: err}
}

// hasFreeSpace tells whether so much is free above so many reserves.
func (x *Indexer) hasFreeSpace(bytes, reserves uint64) (bool, error) {
	free, reserve, err := x.freeSpace()
	if err != nil {
		return false, fmt.Errorf("free room: %w", err)
	}
	return free >= bytes && (free-bytes)/reserves >= reserve, nil
}
