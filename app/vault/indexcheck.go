package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"deedkeep/app/search"
	"deedkeep/app/store"
)

// verifyIndex reads the index of words that answers and holds it against its checksums.
// It follows from the records: damage in it loses nothing, and is a finding because the
// disk that did it has the documents too. One that is missing, being made or of another
// version is none.
func (v *Vault) verifyIndex(ctx context.Context, find func(store.Finding)) error {
	finding := store.Finding{Kind: "search", Subject: "index"}
	serving, err := v.index.check(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, search.ErrDamaged):
		finding.Problem = "the search index cannot be read: " + err.Error()
	case serving:
		finding.Problem = "the search index is damaged and is being made anew; no document is lost: " + err.Error()
	default:
		finding.Problem = `the search index is damaged; no document is lost, "deedkeep reindex" makes it anew: ` + err.Error()
	}
	find(finding)
	return nil
}

// check reads all of the index that answers. Damage in it begins the making of a new
// one where a server runs.
func (x *indexer) check(ctx context.Context) (serving bool, err error) {
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
		x.poke()
	}
	return serving, err
}

// checkIdle is check where nobody has the index open.
func (x *indexer) checkIdle(ctx context.Context) error {
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
func (x *indexer) lost(in *volume) error {
	if _, err := os.Stat(x.folder(in.number)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its folder was taken away: %w", err)
	}
	return nil // another trouble shows itself with the next batch
}
