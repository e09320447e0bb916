package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"deedkeep/app/search"
)

// Check reads all of the index that answers and holds it against its checksums;
// search.ErrDamaged where they do not hold. One that is missing, being made or of another
// version is sound. Damage begins the making of a new one where Run runs, which serving
// tells.
func (x *Indexer) Check(ctx context.Context) (serving bool, err error) {
	var idle bool
	x.set(func() { serving, idle = x.serving, !x.serving && x.now == nil && x.next == nil })
	if idle {
		return false, x.checkIdle(ctx)
	}
	in := x.take()
	if in == nil {
		return serving, nil
	}
	defer in.users.Done()
	if err = in.Check(ctx); broken(err) {
		in.broken.Store(true)
		x.Poke()
	}
	return serving, err
}

// checkIdle is Check where nobody has the index open.
func (x *Indexer) checkIdle(ctx context.Context) error {
	x.turning.Lock()
	defer x.turning.Unlock()
	_, current, err := x.folders()
	if err != nil || current == 0 {
		return err
	}
	words, err := x.open(x.folder(current))
	if errors.Is(err, search.ErrOtherFormat) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(words.Check(ctx), words.Close())
}

// lost is an error where somebody has taken the folder of an index away: what is open
// of it goes on answering on some systems, until it is closed.
func (x *Indexer) lost(in *volume) error {
	if _, err := os.Stat(x.folder(in.number)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its folder was taken away: %w", err)
	}
	return nil // another trouble shows itself with the next batch
}
