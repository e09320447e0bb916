package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"deedkeep/app/search/query"
)

// Check reads the complete live index and verifies its checksums. It returns query.ErrDamaged if they
// do not match, and ErrCurrentFile if only currentFile is damaged. It returns no error if the index is
// missing, is being built, or has another format. running reports whether Run is running. If it is, Run
// rebuilds a damaged index.
func (x *Indexer) Check(ctx context.Context) (running bool, err error) {
	var notOpen bool
	x.withLock(func() { running, notOpen = x.running, !x.running && x.live == nil && x.building == nil })
	if notOpen {
		return false, x.checkOnDisk(ctx)
	}
	if err = x.checkLive(ctx); err == nil {
		err = x.checkCurrentFile()
	}
	return running, err
}

// checkLive checks the live index, if there is one.
func (x *Indexer) checkLive(ctx context.Context) error {
	gen := x.acquireLive()
	if gen == nil {
		return nil
	}
	defer gen.readers.Done()
	err := gen.Check(ctx)
	if isUnusable(err) {
		gen.damaged.Store(true)
		x.Wake()
	}
	return err
}

// ErrCurrentFile is in the error chain if the file that names the live index is damaged but the index
// itself is not.
var ErrCurrentFile = errors.New("doesn't name the current search index")

// checkCurrentFile rewrites currentFile if it does not name the live index.
func (x *Indexer) checkCurrentFile() error {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	var live *generation
	x.withLock(func() { live = x.live })
	if live == nil || x.readCurrent() == live.number || x.checkFolder(live) != nil {
		return nil
	}
	path := filepath.Join(x.options.Dir, currentFile)
	_, err := os.Lstat(path)
	if err := x.writeCurrent(live.number); err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // administrators may delete the file
	}
	return fmt.Errorf("%s %w; the file was corrected", path, ErrCurrentFile)
}

// checkOnDisk implements Check for an index that this process has not opened.
func (x *Indexer) checkOnDisk(ctx context.Context) error {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	folders, current, err := x.listFolders()
	if errors.Is(err, errNotFolder) {
		return nil // there is no index
	}
	current, pointer := x.resolveCurrent(folders, current)
	if err != nil || current == 0 {
		return err
	}
	index, err := x.options.Open(x.folder(current), x.options.Search)
	if errors.Is(err, query.ErrOtherFormat) {
		return nil
	}
	if err != nil {
		return err
	}
	return cmp.Or(errors.Join(index.Check(ctx), index.Close()), pointer)
}

// checkFolder returns an error if the folder of an index was deleted. On some systems, an open index
// keeps working without its files until it is closed, so no other error would reveal that.
func (x *Indexer) checkFolder(gen *generation) error {
	if err := x.checkDir(); err != nil {
		return err
	}
	if _, err := os.Stat(x.folder(gen.number)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of the search index was removed: %w", err)
	}
	return nil // the next batch reports any other error
}
