package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/search/query"
)

// currentFile holds the number of the folder that answers, and an end of line.
const currentFile = "current"

func (x *Indexer) folder(number uint64) string {
	return filepath.Join(x.dir, strconv.FormatUint(number, 10))
}

// errNotFolder is in the chain of the error where something else lies in the place of the
// folder, which is not the indexer's to remove, nor to follow elsewhere.
var errNotFolder = errors.New("no folder of its own")

// checkDir is nil where the folder is the indexer's own, or not there yet.
func (x *Indexer) checkDir() error {
	info, err := os.Lstat(x.dir)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // what uses the folder meets the error again
	}
	return &errs.Error{
		Kind: errs.Unavailable, Message: x.dir + " is a file or a link, and must be a folder: move it away, and the search index is made by itself", Err: errNotFolder,
	}
}

// listFolders are the numbers of those that are there, ascending, and the one in force; 0
// for none.
func (x *Indexer) listFolders() (list []uint64, current uint64, err error) {
	if err := x.checkDir(); err != nil {
		return nil, 0, err
	}
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
	n := x.readCurrent()
	if !slices.Contains(list, n) {
		n = 0
	}
	return list, n, nil
}

// maxCurrentSize is how long currentFile can be, in bytes.
const maxCurrentSize = 64

// readCurrent gives the number in currentFile; 0 where there is none. One that cannot be
// read, or is no small file, is as good as torn or deleted: the indexes say themselves
// whether they are whole, so that none is made anew for it.
func (x *Indexer) readCurrent() uint64 {
	path := filepath.Join(x.dir, currentFile)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCurrentSize {
		return 0
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 63)
	if err != nil {
		return 0
	}
	return n
}

// resolveCurrent is the folder that a server would answer from, while no one has one open: what
// currentFile names, or else the latest that is whole; damaged where currentFile is there
// and names none.
func (x *Indexer) resolveCurrent(list []uint64, current uint64) (number uint64, damaged error) {
	if current != 0 {
		return current, nil
	}
	for _, n := range slices.Backward(list) {
		_, raw, err := query.Inspect(x.folder(n))
		if mark, ok := decodeCheckpoint(raw); err != nil || !ok || mark.Build != nil {
			continue
		}
		path := filepath.Join(x.dir, currentFile)
		if _, err := os.Lstat(path); err == nil {
			damaged = fmt.Errorf("%s %w: a server corrects it when it starts", path, ErrCurrentFile)
		}
		return n, damaged
	}
	return 0, nil
}

// isFileOrAbsent reports whether a file may be read or written under the path: nothing else is
// there.
func isFileOrAbsent(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode().IsRegular()
}

// remove removes the folder of an index.
func (x *Indexer) remove(number uint64) error {
	if err := x.checkDir(); err != nil {
		return err
	}
	return os.RemoveAll(x.folder(number))
}

// maxOpenFailures is how many turns an index may refuse to open before another is made: what
// the disk refuses for a moment is no reason to throw an index away.
const maxOpenFailures = 5

// openAll opens what is there and of use, and removes the rest. Where nothing says which
// one is in force it is the latest that is whole.
func (x *Indexer) openAll(ctx context.Context) error {
	list, current, err := x.listFolders()
	if err != nil {
		return err
	}
	var now, next *generation
	for _, n := range slices.Backward(list) {
		var in *generation
		if now == nil && (n == current || current == 0 || n > current && next == nil) {
			in, err = x.openGeneration(ctx, n)
		}
		switch {
		case err != nil && current != 0 && n != current: // be it no index at all
			x.log.Warn("something is in the way of the search index, which goes on without it", "folder", x.folder(n), "error", err)
			err = nil
		case err != nil && (x.rebuildWanted() || x.openFailures >= maxOpenFailures):
			x.log.Warn("the search index cannot be opened; another is made", "folder", x.folder(n), "error", err)
			err = nil
		case err != nil:
			x.openFailures++
		case in == nil:
			err = x.remove(n)
		case in.checkpoint.Build == nil && (n == current || current == 0):
			now = in
		case n != current && next == nil:
			next = in
		default:
			err = errors.Join(in.Close(), x.remove(n))
		}
		if err != nil {
			return errors.Join(err, x.closeGeneration(now), x.closeGeneration(next))
		}
	}
	if current == 0 && now != nil {
		if err := x.writeCurrent(now.number); err != nil {
			return errors.Join(err, x.closeGeneration(now), x.closeGeneration(next))
		}
	}
	if next != nil && next.checkpoint.Build == nil { // its walk ended in another process
		if err := x.setTarget(ctx, next); err != nil {
			return errors.Join(err, x.closeGeneration(now), x.closeGeneration(next))
		}
	}
	x.withLock(func() {
		x.live, x.building, x.prepared, x.openFailures = now, next, true, 0
		x.rebuildRequested = x.rebuildRequested && next == nil // one that was cut off goes on
	})
	return nil
}

// promote makes what is whole the one that answers.
func (x *Indexer) promote() error {
	if err := x.checkDir(); err != nil {
		return err
	}
	in := x.building
	if err := x.writeCurrent(in.number); err != nil {
		return err
	}
	old := x.live
	x.withLock(func() { x.live, x.building, x.since = in, nil, x.clock() })
	documents, bytes, _ := in.Size()
	x.log.Info("the search index is whole", "documents", documents, "bytes", bytes)
	x.discard(old)
	x.removeOthers(in.number)
	return nil
}

// writeCurrent puts a folder in force, wholly or not at all.
func (x *Indexer) writeCurrent(number uint64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("put the index in force: %w", err)
		}
	}()
	path := filepath.Join(x.dir, currentFile)
	for _, path := range []string{path, path + ".new"} {
		if isFileOrAbsent(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(strconv.AppendUint(nil, number, 10), '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := durable.Rename(path+".new", path); err != nil {
		return err
	}
	return durable.SyncDir(x.dir)
}

// removeOthers removes the folders that lie beside the one in force: those that could not be
// opened, or not be removed when they went out of use. The next one tries again.
func (x *Indexer) removeOthers(current uint64) {
	list, _, err := x.listFolders()
	for _, n := range list {
		if n != current {
			err = errors.Join(err, x.remove(n))
		}
	}
	if err != nil {
		x.log.Warn("an old search index is in the way", "error", err)
	}
}
