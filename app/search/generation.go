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

	"deedkeep/app/search/query"
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
func (in *Indexer) closeGeneration(gen *generation) error {
	if gen == nil {
		return nil
	}
	return gen.Close()
}

// openGeneration opens the index in a folder. It returns nil if the index cannot be used and has to be
// deleted.
func (in *Indexer) openGeneration(ctx context.Context, number uint64) (*generation, error) {
	index, err := in.options.Open(in.folder(number), in.options.Search)
	if isUnusable(err) {
		in.options.Log.Warn("the search index can't be used and will be rebuilt", "folder", in.folder(number), "error", err)
		return nil, nil //nolint:nilnil // nil means unusable
	}
	if err != nil {
		return nil, err
	}
	cp, ok := decodeCheckpoint(index.Checkpoint())
	if ok {
		ok, err = store.Read(ctx, in.options.Store, func(t *store.Tx) (bool, error) { return cp.matches(t, in.foreignDB) })
	}
	if !ok || err != nil {
		if err == nil && len(index.Checkpoint()) > 0 {
			in.options.Log.Warn("the search index belongs to another database and will be rebuilt", "folder", in.folder(number))
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
func (in *Indexer) startBuild(ctx context.Context) error {
	if err := in.checkBuildSpace(); err != nil {
		return err
	}
	folders, _, err := in.listFolders()
	if err != nil {
		return err
	}
	number := uint64(1)
	if len(folders) > 0 {
		number = folders[len(folders)-1] + 1
	}
	if in.live != nil { // its folder may have been deleted
		number = max(number, in.live.number+1)
	}
	cp := checkpoint{Format: checkpointFormat, Build: &buildProgress{Type: buildOrder[0], NextID: 1}}
	err = in.options.Store.View(ctx, func(t *store.Tx) error {
		// Read the end of the feed before the records, so that a record that changes during the build
		// is indexed again.
		cp.Change = t.LastChange()
		cp.Build.Total = t.Count(store.CountAbstracts) + t.Count(store.CountOrders) + t.Count(store.CountInstruments) + t.Count(store.CountFiles)
		return cp.stamp(t)
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(in.options.Dir, 0o700); err != nil {
		return err
	}
	index, err := in.options.Open(in.folder(number), in.options.Search)
	if err != nil {
		return errors.Join(err, in.remove(number)) // so that retries do not leave folders
	}
	in.options.Log.Info("building the search index", "records", cp.Build.Total)
	in.withLock(func() {
		in.building, in.rebuildRequested, in.abandonErr, in.since = newGeneration(index, number, cp), false, nil, in.options.Now()
	})
	return nil
}

// drop removes an unusable index from service and deletes it.
func (in *Indexer) drop(gen *generation) {
	in.withLock(func() {
		if in.live == gen {
			in.live = nil
		}
		if in.building == gen {
			in.building = nil
			in.rebuildRequested = in.rebuildRequested || in.live != nil // retry the rebuild
		}
		in.since = in.options.Now()
	})
	in.discard(gen)
}

// discard closes and deletes an index that is no longer in service. It waits until searches have
// stopped using it. On Windows, files that another program has open cannot be deleted. The next
// promotion tries again.
func (in *Indexer) discard(gen *generation) {
	if gen == nil {
		return
	}
	gen.readers.Wait()
	if err := errors.Join(gen.Close(), in.remove(gen.number)); err != nil {
		in.options.Log.Warn("old search index not deleted", "folder", in.folder(gen.number), "error", err)
	}
}

// folderDeleted reports whether the folder of an index was deleted.
func (in *Indexer) folderDeleted(gen *generation) bool {
	_, err := os.Stat(in.folder(gen.number))
	return errors.Is(err, fs.ErrNotExist)
}

// Index is the part of query.Index that the indexer uses.
type Index interface {
	Search(ctx context.Context, q query.Query) (query.Result, error)
	NewBatch() *query.Batch
	Apply(ctx context.Context, b *query.Batch, checkpoint []byte) error
	Checkpoint() []byte
	Stats() query.Stats
	Check(ctx context.Context) error
	DropCache() // releases memory; searches read from the disk again
	Close() error
}

// OpenIndex opens or creates the index in a folder. It returns the same errors as query.Open.
func OpenIndex(dir string, o query.Options) (Index, error) {
	index, err := query.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return index, nil
}
