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

// currentFile is the name of the file that contains the folder number of the live index and a newline.
const currentFile = "current"

// folder returns the path of the index with the given number.
func (in *Indexer) folder(number uint64) string {
	return filepath.Join(in.options.Dir, strconv.FormatUint(number, 10))
}

// errNotFolder is in the error chain if the search folder is a file or a link. The indexer does not
// delete it or follow it.
var errNotFolder = errors.New("search folder is a file or a link")

// checkDir returns an error if the search folder is a file or a link. A missing folder is not an error.
func (in *Indexer) checkDir() error {
	info, err := os.Lstat(in.options.Dir)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // reading the folder returns the error again
	}
	return errs.NotNow(errs.Rebuilding, in.options.Dir+" is a file or a link, but must be a folder. "+
		"Move the file or link to another directory. The server then rebuilds the search index automatically.", errNotFolder)
}

// listFolders returns the numbers of all index folders in ascending order. current is the number in
// currentFile, or 0.
func (in *Indexer) listFolders() (list []uint64, current uint64, err error) {
	if err := in.checkDir(); err != nil {
		return nil, 0, err
	}
	entries, err := os.ReadDir(in.options.Dir)
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
	n := in.readCurrent()
	if !slices.Contains(list, n) {
		n = 0
	}
	return list, n, nil
}

// maxCurrentSize is the maximum size of currentFile in bytes.
const maxCurrentSize = 64

// readCurrent returns the number in currentFile, or 0 if the file is missing, unreadable, or malformed.
// That does not require a rebuild because each index records whether it is complete.
func (in *Indexer) readCurrent() uint64 {
	path := filepath.Join(in.options.Dir, currentFile)
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

// resolveCurrent returns the index that a server would use if it started now. It is the one that
// currentFile names, or otherwise the newest complete one. damaged is not nil if currentFile exists but
// does not name an index in list.
func (in *Indexer) resolveCurrent(list []uint64, current uint64) (number uint64, damaged error) {
	if current != 0 {
		return current, nil
	}
	for _, n := range slices.Backward(list) {
		_, raw, err := query.Inspect(in.folder(n))
		if cp, ok := decodeCheckpoint(raw); err != nil || !ok || cp.Build != nil {
			continue
		}
		path := filepath.Join(in.options.Dir, currentFile)
		if _, err := os.Lstat(path); err == nil {
			damaged = fmt.Errorf("%s %w; the server corrects the file when it starts", path, ErrCurrentFile)
		}
		return n, damaged
	}
	return 0, nil
}

// remove deletes the folder of an index.
func (in *Indexer) remove(number uint64) error {
	if err := in.checkDir(); err != nil {
		return err
	}
	return os.RemoveAll(in.folder(number))
}

// maxOpenFailures is the number of passes that may fail to open an index before it is rebuilt. Most
// disk errors are temporary, and a rebuild is expensive.
const maxOpenFailures = 5

// openAll opens the usable indexes and deletes the others. If currentFile does not name an index, the
// newest complete index goes live.
func (in *Indexer) openAll(ctx context.Context) (err error) {
	list, current, err := in.listFolders()
	if err != nil {
		return err
	}
	var live, building *generation
	defer func() {
		if err != nil {
			err = errors.Join(err, in.closeGeneration(live), in.closeGeneration(building))
		}
	}()
	for _, n := range slices.Backward(list) {
		var gen *generation
		if live == nil && (n == current || current == 0 || n > current && building == nil) {
			gen, err = in.openGeneration(ctx, n)
		}
		switch {
		case err != nil && current != 0 && n != current: // it may not be an index
			in.options.Log.Warn("ignored a folder that can't be opened as a search index", "folder", in.folder(n), "error", err)
			err = nil
		case err != nil && (in.rebuildWanted() || in.openFailures >= maxOpenFailures):
			in.options.Log.Warn("the search index can't be opened and will be rebuilt", "folder", in.folder(n), "error", err)
			err = nil
		case err != nil:
			in.openFailures++
		case gen == nil:
			err = in.remove(n)
		case gen.checkpoint.Build == nil && (n == current || current == 0):
			live = gen
		case n != current && building == nil:
			building = gen
		default:
			err = errors.Join(gen.Close(), in.remove(n))
		}
		if err != nil {
			return err
		}
	}
	if current == 0 && live != nil {
		if err := in.writeCurrent(live.number); err != nil {
			return err
		}
	}
	if building != nil && building.checkpoint.Build == nil { // another process indexed the last record
		if err := in.setTarget(ctx, building); err != nil {
			return err
		}
	}
	in.withLock(func() {
		in.live, in.building, in.prepared, in.openFailures = live, building, true, 0
		in.rebuildRequested = in.rebuildRequested && building == nil // if a build was interrupted, it resumes and fulfills the request
	})
	return nil
}

// promote replaces the live index with the one that was being built.
func (in *Indexer) promote() error {
	if err := in.checkDir(); err != nil {
		return err
	}
	gen := in.building
	if err := in.writeCurrent(gen.number); err != nil {
		return err
	}
	old := in.live
	in.withLock(func() { in.live, in.building, in.since = gen, nil, in.options.Now() })
	size := gen.Stats()
	in.options.Log.Info("the search index is complete", "documents", size.Documents, "bytes", size.Bytes)
	in.discard(old)
	in.removeOthers(gen.number)
	return nil
}

// writeCurrent atomically writes the number of an index to currentFile.
func (in *Indexer) writeCurrent(number uint64) error {
	path := filepath.Join(in.options.Dir, currentFile)
	var err error
	if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
		err = os.RemoveAll(path)
	}
	if err == nil {
		err = durable.WriteFile(path, append(strconv.AppendUint(nil, number, 10), '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("activate the search index: %w", err)
	}
	return nil
}

// removeOthers deletes every index folder except the live one. It also deletes folders that could not
// be opened or deleted before. Errors are logged, and the next promotion tries again.
func (in *Indexer) removeOthers(current uint64) {
	list, _, err := in.listFolders()
	for _, n := range list {
		if n != current {
			err = errors.Join(err, in.remove(n))
		}
	}
	if err != nil {
		in.options.Log.Warn("old search index not deleted", "error", err)
	}
}
