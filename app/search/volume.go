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

// volume is one index that is open.
type volume struct {
	Index
	number              uint64 // of its folder
	mark                indexMark
	goal                uint64        // the last change when its walk had ended
	said                bool          // that it does not get on
	outrun              time.Time     // when another was asked for last, as the changes that it needs are gone; zero: they are there
	single              bool          // a batch takes one record: there is one among them that it refuses
	behind              atomic.Uint64 // mark.Change, for those who look; as the next two
	owed                atomic.Uint64 // len(mark.Owed)
	walkDone, walkTotal atomic.Uint64
	walking             atomic.Bool           // mark.Place != nil
	lacking             atomic.Pointer[spans] // mark.Lacking
	broken              atomic.Bool           // somebody met damage in it
	unread              atomic.Int64          // searches that the disk did not let it answer
	users               sync.WaitGroup
}

func (x *Indexer) closed(in *volume) error {
	if in == nil {
		return nil
	}
	return in.Close()
}

// opened opens a folder; nil for one that has to go.
func (x *Indexer) opened(ctx context.Context, number uint64) (*volume, error) {
	words, err := x.open(x.folder(number))
	if broken(err) {
		x.log.Warn("the search index cannot be used; it is made anew", "folder", x.folder(number), "error", err)
		return nil, nil //nolint:nilnil // nothing of use is there
	}
	if err != nil {
		return nil, err
	}
	mark, ok := readMark(words.Checkpoint())
	if ok {
		err = x.store.View(ctx, func(t *store.Tx) (err error) { ok, err = mark.of(t, x.foreign); return err })
	}
	if !ok || err != nil {
		if err == nil && len(words.Checkpoint()) > 0 {
			x.log.Warn("the search index is not of this database; it is made anew", "folder", x.folder(number))
		}
		return nil, errors.Join(err, words.Close())
	}
	return newVolume(words, number, mark), nil
}

func newVolume(words Index, number uint64, mark indexMark) *volume {
	in := &volume{Index: words, number: number, mark: mark, goal: math.MaxUint64}
	in.moved(mark)
	return in
}

// begin opens an empty index beside what is there.
func (x *Indexer) begin(ctx context.Context) error {
	if err := x.roomToBegin(); err != nil {
		return err
	}
	list, _, err := x.folders()
	if err != nil {
		return err
	}
	number := uint64(1)
	if len(list) > 0 {
		number = list[len(list)-1] + 1
	}
	if x.now != nil { // whose folder somebody may have taken away
		number = max(number, x.now.number+1)
	}
	mark := indexMark{Form: indexForm, Place: &indexPlace{Noun: walked[0], From: 1}}
	err = x.store.View(ctx, func(t *store.Tx) error {
		// First the place in the feed, then the walk: what changes meanwhile comes twice.
		mark.Change = t.LastChange()
		mark.Place.Total = t.Count(store.CountAbstracts) + t.Count(store.CountOrders) + t.Count(store.CountFiles)
		return mark.seen(t)
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
	x.log.Info("the search index is being made", "records", mark.Place.Total)
	x.set(func() { x.next, x.asked, x.gaveUp, x.since = newVolume(words, number, mark), false, nil, x.clock() })
	return nil
}

// drop takes an index out of use that cannot be used any more, and removes it.
func (x *Indexer) drop(in *volume) {
	x.set(func() {
		if x.now == in {
			x.now = nil
		}
		if x.next == in {
			x.next = nil
			x.asked = x.asked || x.now != nil // somebody waits for one
		}
		x.since = x.clock()
	})
	x.discard(in)
}

// discard closes and removes an index that nobody can take any more. What cannot be
// removed, as what a program on Windows has open, is swept when the next one is whole.
func (x *Indexer) discard(in *volume) {
	if in == nil {
		return
	}
	in.users.Wait()
	if err := errors.Join(in.Close(), x.remove(in.number)); err != nil {
		x.log.Warn("an old search index is in the way", "folder", x.folder(in.number), "error", err)
	}
}

// deleted reports an index whose folder somebody has taken away.
func (x *Indexer) deleted(in *volume) bool {
	_, err := os.Stat(x.folder(in.number))
	return errors.Is(err, fs.ErrNotExist)
}
