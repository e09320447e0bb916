package indexer

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

	"deedkeep/app/blob"
)

// currentFile holds the number of the folder that answers, and an end of line.
const currentFile = "current"

func (x *Indexer) folder(number uint64) string {
	return filepath.Join(x.dir, strconv.FormatUint(number, 10))
}

// folders are the numbers of those that are there, ascending, and the one in force; 0
// for none.
func (x *Indexer) folders() (list []uint64, current uint64, err error) {
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
func (x *Indexer) prepare(ctx context.Context) error {
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
			x.log.Warn("the search index cannot be opened; another is made", "folder", x.folder(n), "error", err)
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

// promote makes what is whole the one that answers.
func (x *Indexer) promote() error {
	in := x.next
	for _, path := range []string{filepath.Join(x.dir, currentFile), filepath.Join(x.dir, currentFile+".new")} {
		if isFile(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("put the index in force: %w", err)
		}
	}
	if err := x.writeCurrent(in.number); err != nil {
		return fmt.Errorf("put the index in force: %w", err)
	}
	old := x.now
	x.set(func() { x.now, x.next, x.since, x.failures = in, nil, x.clock(), 0 })
	documents, bytes, _ := in.Size()
	x.log.Info("the search index is whole", "documents", documents, "bytes", bytes)
	if err := x.discard(old); err != nil {
		return err
	}
	x.sweep(in.number)
	return nil
}

// writeCurrent puts a folder in force, wholly or not at all.
func (x *Indexer) writeCurrent(number uint64) error {
	path := filepath.Join(x.dir, currentFile)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(strconv.AppendUint(nil, number, 10), '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return blob.System().SyncDir(x.dir)
}

// sweep removes the folders that lie beside the one in force: those that could not be
// opened, or not be removed when they went out of use. The next one tries again.
func (x *Indexer) sweep(current uint64) {
	list, _, err := x.folders()
	for _, n := range list {
		if n != current {
			err = errors.Join(err, os.RemoveAll(x.folder(n)))
		}
	}
	if err != nil {
		x.log.Warn("an old search index is in the way", "error", err)
	}
}
