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

// Check reads all of the index that answers and holds it against its checksums;
// search.ErrDamaged where they do not hold. One that is missing, being made or of another
// version is sound. Damage begins the making of a new one where Run runs, which serving
// tells. ErrCurrentFile where all is sound but currentFile.
func (x *Indexer) Check(ctx context.Context) (serving bool, err error) {
	var idle bool
	x.withLock(func() { serving, idle = x.running, !x.running && x.live == nil && x.building == nil })
	if idle {
		return false, x.checkOnDisk(ctx)
	}
	if err = x.checkLive(ctx); err == nil {
		err = x.checkCurrentFile()
	}
	return serving, err
}

func (x *Indexer) checkLive(ctx context.Context) error {
	in := x.acquireLive()
	if in == nil {
		return nil
	}
	defer in.readers.Done()
	err := in.Check(ctx)
	if isUnusable(err) {
		in.damaged.Store(true)
		x.Wake()
	}
	return err
}

// ErrCurrentFile is in the chain of the error where the file that names the index in force is
// damaged. The index is sound.
var ErrCurrentFile = errors.New("does not name the search index in force")

// checkCurrentFile writes currentFile where it does not name the index that answers.
func (x *Indexer) checkCurrentFile() error {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	var now *generation
	x.withLock(func() { now = x.live })
	if now == nil || x.readCurrent() == now.number || x.checkFolder(now) != nil {
		return nil
	}
	path := filepath.Join(x.dir, currentFile)
	_, err := os.Lstat(path)
	if err := x.writeCurrent(now.number); err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted, which it may be
	}
	return fmt.Errorf("%s %w: it was corrected", path, ErrCurrentFile)
}

// checkOnDisk is Check where nobody has the index open.
func (x *Indexer) checkOnDisk(ctx context.Context) error {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	list, current, err := x.listFolders()
	if errors.Is(err, errNotFolder) {
		return nil // there is no index
	}
	current, pointer := x.resolveCurrent(list, current)
	if err != nil || current == 0 {
		return err
	}
	words, err := x.open(x.folder(current))
	if errors.Is(err, query.ErrOtherFormat) {
		return nil
	}
	if err != nil {
		return err
	}
	return cmp.Or(errors.Join(words.Check(ctx), words.Close()), pointer)
}

// checkFolder is an error where somebody has taken the folder of an index away: what is open
// of it goes on answering on some systems, until it is closed.
func (x *Indexer) checkFolder(in *generation) error {
	if err := x.checkDir(); err != nil {
		return err
	}
	if _, err := os.Stat(x.folder(in.number)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its folder was taken away: %w", err)
	}
	return nil // another trouble shows itself with the next batch
}
