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
// tells. ErrPointer where all is sound but currentFile.
func (x *Indexer) Check(ctx context.Context) (serving bool, err error) {
	var idle bool
	x.set(func() { serving, idle = x.serving, !x.serving && x.now == nil && x.next == nil })
	if idle {
		return false, x.checkIdle(ctx)
	}
	if err = x.checkOpen(ctx); err == nil {
		err = x.checkPointer()
	}
	return serving, err
}

func (x *Indexer) checkOpen(ctx context.Context) error {
	in := x.take()
	if in == nil {
		return nil
	}
	defer in.users.Done()
	err := in.Check(ctx)
	if broken(err) {
		in.broken.Store(true)
		x.Poke()
	}
	return err
}

// ErrPointer is in the chain of the error where the file that names the index in force is
// damaged. The index is sound.
var ErrPointer = errors.New("does not name the search index in force")

// checkPointer writes currentFile where it does not name the index that answers.
func (x *Indexer) checkPointer() error {
	x.turning.Lock()
	defer x.turning.Unlock()
	var now *volume
	x.set(func() { now = x.now })
	if now == nil || x.readCurrent() == now.number || x.lost(now) != nil {
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
	return fmt.Errorf("%s %w: it was corrected", path, ErrPointer)
}

// checkIdle is Check where nobody has the index open.
func (x *Indexer) checkIdle(ctx context.Context) error {
	x.turning.Lock()
	defer x.turning.Unlock()
	list, current, err := x.folders()
	if errors.Is(err, errForeign) {
		return nil // there is no index
	}
	current, pointer := x.inForce(list, current)
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

// lost is an error where somebody has taken the folder of an index away: what is open
// of it goes on answering on some systems, until it is closed.
func (x *Indexer) lost(in *volume) error {
	if err := x.own(); err != nil {
		return err
	}
	if _, err := os.Stat(x.folder(in.number)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its folder was taken away: %w", err)
	}
	return nil // another trouble shows itself with the next batch
}
