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

// generation is one index that is open.
type generation struct {
	Index
	number                uint64 // of its folder
	checkpoint            checkpoint
	target                uint64        // the last change when its walk had ended
	staleReported         bool          // that it does not get on
	fellBehindAt          time.Time     // when another was asked for last, as the changes that it needs are gone; zero: they are there
	singleRecord          bool          // a batch takes one record: there is one among them that it refuses
	change                atomic.Uint64 // mark.Change, for those who look; as the next two
	pendingFiles          atomic.Uint64 // len(mark.Owed)
	buildDone, buildTotal atomic.Uint64
	building              atomic.Bool              // mark.Place != nil
	missingText           atomic.Pointer[idRanges] // mark.Lacking
	damaged               atomic.Bool              // somebody met damage in it
	readErrors            atomic.Int64             // searches that the disk did not let it answer
	readers               sync.WaitGroup
}

func (x *Indexer) closeGeneration(in *generation) error {
	if in == nil {
		return nil
	}
	return in.Close()
}

// openGeneration opens a folder; nil for one that has to go.
func (x *Indexer) openGeneration(ctx context.Context, number uint64) (*generation, error) {
	words, err := x.open(x.folder(number))
	if isUnusable(err) {
		x.log.Warn("the search index cannot be used; it is made anew", "folder", x.folder(number), "error", err)
		return nil, nil //nolint:nilnil // nothing of use is there
	}
	if err != nil {
		return nil, err
	}
	mark, ok := decodeCheckpoint(words.Checkpoint())
	if ok {
		err = x.store.View(ctx, func(t *store.Tx) (err error) { ok, err = mark.matches(t, x.foreignDB); return err })
	}
	if !ok || err != nil {
		if err == nil && len(words.Checkpoint()) > 0 {
			x.log.Warn("the search index is not of this database; it is made anew", "folder", x.folder(number))
		}
		return nil, errors.Join(err, words.Close())
	}
	return newGeneration(words, number, mark), nil
}

func newGeneration(words Index, number uint64, mark checkpoint) *generation {
	in := &generation{Index: words, number: number, checkpoint: mark, target: math.MaxUint64}
	in.publishProgress(mark)
	return in
}

// startBuild opens an empty index beside what is there.
func (x *Indexer) startBuild(ctx context.Context) error {
	if err := x.checkBuildSpace(); err != nil {
		return err
	}
	list, _, err := x.listFolders()
	if err != nil {
		return err
	}
	number := uint64(1)
	if len(list) > 0 {
		number = list[len(list)-1] + 1
	}
	if x.live != nil { // whose folder somebody may have taken away
		number = max(number, x.live.number+1)
	}
	mark := checkpoint{Format: checkpointFormat, Build: &buildProgress{Type: buildOrder[0], NextID: 1}}
	err = x.store.View(ctx, func(t *store.Tx) error {
		// First the place in the feed, then the walk: what changes meanwhile comes twice.
		mark.Change = t.LastChange()
		mark.Build.Total = t.Count(store.CountAbstracts) + t.Count(store.CountOrders) + t.Count(store.CountFiles)
		return mark.stamp(t)
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	words, err := x.open(x.folder(number))
	if err != nil {
		return errors.Join(err, x.remove(number)) // each try would leave one
	}
	x.log.Info("the search index is being made", "records", mark.Build.Total)
	x.withLock(func() {
		x.building, x.rebuildRequested, x.abandonErr, x.since = newGeneration(words, number, mark), false, nil, x.clock()
	})
	return nil
}

// drop takes an index out of use that cannot be used any more, and removes it.
func (x *Indexer) drop(in *generation) {
	x.withLock(func() {
		if x.live == in {
			x.live = nil
		}
		if x.building == in {
			x.building = nil
			x.rebuildRequested = x.rebuildRequested || x.live != nil // somebody waits for one
		}
		x.since = x.clock()
	})
	x.discard(in)
}

// discard closes and removes an index that nobody can take any more. What cannot be
// removed, as what a program on Windows has open, is swept when the next one is whole.
func (x *Indexer) discard(in *generation) {
	if in == nil {
		return
	}
	in.readers.Wait()
	if err := errors.Join(in.Close(), x.remove(in.number)); err != nil {
		x.log.Warn("an old search index is in the way", "folder", x.folder(in.number), "error", err)
	}
}

// folderDeleted reports an index whose folder somebody has taken away.
func (x *Indexer) folderDeleted(in *generation) bool {
	_, err := os.Stat(x.folder(in.number))
	return errors.Is(err, fs.ErrNotExist)
}
