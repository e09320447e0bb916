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
func (in *Indexer) Check(ctx context.Context) (running bool, err error) {
	var notOpen bool
	in.withLock(func() { running, notOpen = in.running, !in.running && in.live == nil && in.building == nil })
	if notOpen {
		return false, in.checkOnDisk(ctx)
	}
	if err = in.checkLive(ctx); err == nil {
		err = in.checkCurrentFile()
	}
	return running, err
}

// checkLive checks the live index, if there is one.
func (in *Indexer) checkLive(ctx context.Context) error {
	gen := in.acquireLive()
	if gen == nil {
		return nil
	}
	defer gen.readers.Done()
	err := gen.Check(ctx)
	if isUnusable(err) {
		gen.damaged.Store(true)
		in.Wake()
	}
	return err
}

// ErrCurrentFile is in the error chain if the file that names the live index is damaged but the index
// itself is not.
var ErrCurrentFile = errors.New("doesn't name the current search index")

// checkCurrentFile rewrites currentFile if it does not name the live index.
func (in *Indexer) checkCurrentFile() error {
	in.passMu.Lock()
	defer in.passMu.Unlock()
	var live *generation
	in.withLock(func() { live = in.live })
	if live == nil || in.readCurrent() == live.number || in.checkFolder(live) != nil {
		return nil
	}
	path := filepath.Join(in.options.Dir, currentFile)
	_, err := os.Lstat(path)
	if err := in.writeCurrent(live.number); err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // administrators may delete the file
	}
	return fmt.Errorf("%s %w; the file was corrected", path, ErrCurrentFile)
}

// checkOnDisk implements Check for an index that this process has not opened.
func (in *Indexer) checkOnDisk(ctx context.Context) error {
	in.passMu.Lock()
	defer in.passMu.Unlock()
	folders, current, err := in.listFolders()
	if errors.Is(err, errNotFolder) {
		return nil // there is no index
	}
	current, pointer := in.resolveCurrent(folders, current)
	if err != nil || current == 0 {
		return err
	}
	index, err := in.options.Open(in.folder(current), in.options.Search)
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
func (in *Indexer) checkFolder(gen *generation) error {
	if err := in.checkDir(); err != nil {
		return err
	}
	if _, err := os.Stat(in.folder(gen.number)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of the search index was removed: %w", err)
	}
	return nil // the next batch reports any other error
}
