package search

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/store"
)

// generation is an open index that is live or being built. Other goroutines than that of a pass may only
// use the atomic fields and number.
type generation struct {
	Index
	number        uint64 // the number of its folder
	checkpoint    checkpoint
	target        uint64 // the last change that it must contain before it goes live
	staleReported bool   // its failure to update has been logged
	// when a rebuild was last requested because the feed no longer contains the next change of this
	// index; zero if the feed contains it
	fellBehindAt time.Time
	singleRecord bool                       // batches contain one record, to isolate a record that the index rejects
	published    atomic.Pointer[checkpoint] // the checkpoint
	buildTotal   atomic.Uint64              // number of records of the build
	damaged      atomic.Bool                // a search or check found damage
	readErrors   atomic.Int64               // number of searches that failed with a disk error
	readers      sync.WaitGroup
}

// closeGeneration closes an index. gen may be nil.
func (x *Indexer) closeGeneration(gen *generation) error {
	if gen == nil {
		return nil
	}
	return gen.Close()
}

// openGeneration opens the index in a folder. It returns nil if the index cannot be used and has to be
// deleted.
func (x *Indexer) openGeneration(ctx context.Context, number uint64) (*generation, error) {
	index, err := x.options.Open(x.folder(number), x.options.Search)
	if isUnusable(err) {
		x.options.Log.Warn("the search index can't be used and will be rebuilt", "folder", x.folder(number), "error", err)
		return nil, nil //nolint:nilnil // nil means unusable
	}
	if err != nil {
		return nil, err
	}
	cp, ok := decodeCheckpoint(index.Checkpoint())
	if ok {
		ok, err = store.Read(ctx, x.options.Store, func(t *store.Tx) (bool, error) { return cp.matches(t, x.foreignDB) })
	}
	if !ok || err != nil {
		if err == nil && len(index.Checkpoint()) > 0 {
			x.options.Log.Warn("the search index belongs to another database and will be rebuilt", "folder", x.folder(number))
		}
		return nil, errors.Join(err, index.Close())
	}
	return newGeneration(index, number, cp), nil
}

func newGeneration(index Index, number uint64, cp checkpoint) *generation {
	gen := &generation{Index: index, number: number, target: math.MaxUint64}
	gen.setCheckpoint(cp)
	return gen
}

// startBuild creates an empty index and starts to build it.
func (x *Indexer) startBuild(ctx context.Context) error {
	if err := x.checkBuildSpace(); err != nil {
		return err
	}
	folders, _, err := x.listFolders()
	if err != nil {
		return err
	}
	number := uint64(1)
	if len(folders) > 0 {
		number = folders[len(folders)-1] + 1
	}
	if x.live != nil { // its folder may have been deleted
		number = max(number, x.live.number+1)
	}
	cp := checkpoint{Format: checkpointFormat, Build: &buildProgress{Type: buildOrder[0], NextID: 1}}
	err = x.options.Store.View(ctx, func(t *store.Tx) error {
		// Read the end of the feed before the records, so that a record that changes during the build
		// is indexed again.
		cp.Change = t.LastChange()
		cp.Build.Total = t.Count(store.CountAbstracts) + t.Count(store.CountOrders) + t.Count(store.CountInstruments) + t.Count(store.CountFiles)
		return cp.stamp(t)
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(x.options.Dir, 0o700); err != nil {
		return err
	}
	index, err := x.options.Open(x.folder(number), x.options.Search)
	if err != nil {
		return errors.Join(err, x.remove(number)) // so that retries do not leave folders
	}
	x.options.Log.Info("building the search index", "records", cp.Build.Total)
	x.withLock(func() {
		x.building, x.rebuildRequested, x.abandonErr, x.since = newGeneration(index, number, cp), false, nil, x.options.Now()
	})
	return nil
}

// drop removes an unusable index from service and deletes it.
func (x *Indexer) drop(gen *generation) {
	x.withLock(func() {
		if x.live == gen {
			x.live = nil
		}
		if x.building == gen {
			x.building = nil
			x.rebuildRequested = x.rebuildRequested || x.live != nil // retry the rebuild
		}
		x.since = x.options.Now()
	})
	x.discard(gen)
}

// discard closes and deletes an index that is no longer in service. It waits until searches have
// stopped using it. On Windows, files that another program has open cannot be deleted. The next
// promotion tries again.
func (x *Indexer) discard(gen *generation) {
	if gen == nil {
		return
	}
	gen.readers.Wait()
	if err := errors.Join(gen.Close(), x.remove(gen.number)); err != nil {
		x.options.Log.Warn("old search index not deleted", "folder", x.folder(gen.number), "error", err)
	}
}

// folderDeleted reports whether the folder of an index was deleted.
func (x *Indexer) folderDeleted(gen *generation) bool {
	_, err := os.Stat(x.folder(gen.number))
	return errors.Is(err, fs.ErrNotExist)
}
