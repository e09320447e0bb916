package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/search"
	"deedkeep/app/store"
)

// The folder of the index. One that is made anew lies beside the one that answers; no
// folder is ever renamed, as Windows would not while it is open.
//
//	search/
//	    current    the number of the folder that answers
//	    1/         an index (app/search)
//	    2/         one that is being made; gets its number into current when it is whole
const currentFile = "current"

func searchDir(data string) string { return filepath.Join(data, "search") }

func (x *indexer) folder(number uint64) string {
	return filepath.Join(x.dir, strconv.FormatUint(number, 10))
}

// folders are the numbers of those that are there, ascending, and the one in force; 0
// for none.
func (x *indexer) folders() (list []uint64, current uint64, err error) {
	entries, err := os.ReadDir(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 10, 63); err == nil && n > 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	path := filepath.Join(x.dir, currentFile)
	if !isFile(path) {
		return list, 0, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 63)
	if err != nil || !slices.Contains(list, n) {
		n = 0 // torn, or deleted: as good as none
	}
	return list, n, nil
}

// isFile reports whether a file may be read or written under the path: nothing else is
// there.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode().IsRegular()
}

// prepare opens what is there and of use, and removes the rest.
func (x *indexer) prepare(ctx context.Context) error {
	list, current, err := x.folders()
	if err != nil {
		return err
	}
	var now, next *volume
	for _, n := range slices.Backward(list) {
		var in *volume
		if n == current || n > current && next == nil {
			in, err = x.opened(ctx, n)
		}
		switch {
		case err != nil && x.wanted():
			x.v.log.Warn("the search index cannot be opened; another is made", "folder", x.folder(n), "error", err)
			err = nil
		case err != nil:
		case in == nil:
			err = os.RemoveAll(x.folder(n))
		case n == current && in.mark.Place == nil:
			now = in
		case n != current:
			next = in
		default:
			err = errors.Join(in.Close(), os.RemoveAll(x.folder(n)))
		}
		if err != nil {
			return errors.Join(err, x.closed(now), x.closed(next))
		}
	}
	if next != nil && next.mark.Place == nil { // its walk ended in another process
		if err := x.aim(ctx, next); err != nil {
			return errors.Join(err, x.closed(now), x.closed(next))
		}
	}
	x.set(func() {
		x.now, x.next, x.prepared = now, next, true
		x.asked = x.asked && next == nil // one that was cut off goes on
	})
	return nil
}

func (x *indexer) closed(in *volume) error {
	if in == nil {
		return nil
	}
	return in.Close()
}

// opened opens a folder; nil for one that has to go.
func (x *indexer) opened(ctx context.Context, number uint64) (*volume, error) {
	words, err := x.open(x.folder(number))
	if broken(err) {
		x.v.log.Warn("the search index is damaged; it is made anew", "folder", x.folder(number), "error", err)
		return nil, nil //nolint:nilnil // nothing of use is there
	}
	if err != nil {
		return nil, err
	}
	mark, ok := readIndexMark(words.Mark())
	if ok {
		err = x.v.store.View(ctx, func(t *store.Tx) error { ok = mark.of(t, x.foreign); return nil })
	}
	if !ok || err != nil {
		if err == nil && len(words.Mark()) > 0 {
			x.v.log.Warn("the search index is not of this database; it is made anew", "folder", x.folder(number))
		}
		return nil, errors.Join(err, words.Close())
	}
	return newVolume(words, number, mark), nil
}

func newVolume(words wordIndex, number uint64, mark indexMark) *volume {
	in := &volume{wordIndex: words, number: number, mark: mark, goal: math.MaxUint64}
	in.moved(mark)
	return in
}

// begin opens an empty index beside what is there.
func (x *indexer) begin(ctx context.Context) error {
	if err := x.v.room(); err != nil {
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
	err = x.v.store.View(ctx, func(t *store.Tx) error {
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
		return errors.Join(err, os.RemoveAll(x.folder(number))) // each try would leave one
	}
	x.v.log.Info("the search index is being made", "records", mark.Place.Total)
	x.set(func() { x.next, x.asked, x.since = newVolume(words, number, mark), false, x.v.now() })
	return nil
}

// promote makes what is whole the one that answers.
func (x *indexer) promote() error {
	in := x.next
	for _, path := range []string{filepath.Join(x.dir, currentFile), filepath.Join(x.dir, currentFile+".new")} {
		if isFile(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("put the index in force: %w", err)
		}
	}
	if err := writeNote(x.dir, currentFile, strconv.AppendUint(nil, in.number, 10)); err != nil {
		return fmt.Errorf("put the index in force: %w", err)
	}
	old := x.now
	x.set(func() { x.now, x.next, x.since, x.failures = in, nil, x.v.now(), 0 })
	documents, bytes, _ := in.Size()
	x.v.log.Info("the search index is whole", "documents", documents, "bytes", bytes)
	if err := x.discard(old); err != nil {
		return err
	}
	x.sweep(in.number)
	return nil
}

// sweep removes the folders that lie beside the one in force: those that could not be
// opened, or not be removed when they went out of use. The next one tries again.
func (x *indexer) sweep(current uint64) {
	list, _, err := x.folders()
	for _, n := range list {
		if n != current {
			err = errors.Join(err, os.RemoveAll(x.folder(n)))
		}
	}
	if err != nil {
		x.v.log.Warn("an old search index is in the way", "error", err)
	}
}

// drop takes an index out of use that cannot be used any more, and removes it.
func (x *indexer) drop(in *volume) error {
	x.set(func() {
		if x.now == in {
			x.now = nil
		}
		if x.next == in {
			x.next = nil
			x.asked = x.asked || x.now != nil // somebody waits for one
		}
		x.since = x.v.now()
	})
	return x.discard(in)
}

// discard closes and removes an index that nobody can take any more.
func (x *indexer) discard(in *volume) error {
	if in == nil {
		return nil
	}
	in.users.Wait()
	if err := in.Close(); err != nil {
		x.v.log.Warn("the old search index", "error", err) // it goes anyway
	}
	return os.RemoveAll(x.folder(in.number))
}

func (x *indexer) set(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fn()
}

// close ends it, once no turn is under way any more.
func (x *indexer) close() {
	x.turning.Lock()
	defer x.turning.Unlock()
	var open []*volume
	x.set(func() {
		open = []*volume{x.now, x.next}
		x.now, x.next, x.ended = nil, nil, true
	})
	for _, in := range open {
		if in == nil {
			continue
		}
		in.users.Wait()
		if err := in.Close(); err != nil {
			x.v.log.Warn("the search index", "error", err) // what it has not kept comes again
		}
	}
}

// look tells of what lies on the disk, where nobody has it open.
func (x *indexer) look(last uint64) (s SearchState) {
	list, current, err := x.folders()
	if err != nil {
		s.Failed = err.Error()
		return s
	}
	s.Building = len(list) > 0 && list[len(list)-1] > current
	if current == 0 {
		return s
	}
	size, raw, err := search.Look(x.folder(current))
	if err != nil {
		s.Failed = err.Error()
		return s
	}
	s.Documents, s.Bytes, s.Segments = uint64(size.Documents), size.Bytes, size.Segments
	mark, ok := readIndexMark(raw)
	s.Ready = ok && mark.Place == nil
	s.Behind = last - min(last, mark.Change) + uint64(len(mark.Owed))
	return s
}
