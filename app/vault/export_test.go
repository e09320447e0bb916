package vault

import (
	"context"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// Poke tells the processor to look at its queue, as a passing of time would.
func (p *processor) Poke() { p.Queued.Notify() }

// SetReserve changes the disk's reserve of a vault that nobody else uses now.
func (db *DB) SetReserve(bytes uint64) { db.MinFree = bytes }

// Turn looks at the plan once.
func (b *Backups) Turn(ctx context.Context) { b.turn(ctx) }

// Enforce changes a rule of a vault that nobody else uses now.
func (v *Vault) Enforce(required bool) { v.set.Rules.EnforceRequired = required }

// Kept reads a slot, however old its answer is.
func (v *Vault) Kept(slot [32]byte) (r model.StoredResponse, found bool, err error) {
	err = v.Store.View(context.Background(), func(t *store.Tx) (err error) {
		r, found, err = t.StoredResponse(slot)
		return err
	})
	return r, found, err
}

// GoesOn is what background work does with what came of a turn.
func (v *Vault) GoesOn(ctx context.Context, err error) bool {
	return v.ShouldContinue(ctx, "turn", err)
}

// BackupError is the error of a backup as its callers see it.
func BackupError(err error) error { return backupError(err) }

// Own are the names in a data directory that the survey knows as the vault's.
func Own() []string { return append(append([]string{}, ownFolders...), ownFiles...) }

// PurgeTurn is one turn of the purger.
func (v *Vault) PurgeTurn(ctx context.Context) error { return v.Purger.turn(ctx) }

// DropDerived removes what was made of a document.
func (p *Previews) DropDerived(digest string) error { return p.previews.Remove(digest) }

// WordIndex is the index as the indexer needs it.
type WordIndex = search.Index

// WrapWords puts something between the indexer and its index, of which it has opened
// none yet.
func (s *SearchService) WrapWords(wrap func(search.Index) search.Index) {
	o := s.indexing()
	o.Open = func(dir string, set query.Options) (search.Index, error) {
		in, err := search.Words(dir, set)
		if err != nil {
			return nil, err
		}
		return wrap(in), nil
	}
	s.index = search.New(o)
}

// AskWords asks the index itself.
func (s *SearchService) AskWords(ctx context.Context, q query.Query) (query.Result, error) {
	leave, err := s.index.Enter(ctx, "test")
	if err != nil {
		return query.Result{}, err
	}
	defer leave()
	return s.index.Search(ctx, q)
}

// Looks does something while somebody looks through a document.
func (p *Previews) Looks(ctx context.Context, actor model.Actor, do func()) error {
	_, leave, err := p.looking(ctx, actor)
	defer leave()
	if err == nil {
		do()
	}
	return err
}

// Freeing is one change of what makes room.
func (v *Vault) Freeing(ctx context.Context, actor model.Actor, check func() error) error {
	return v.UpdateFromReserve(ctx, actor, func(*store.Tx) error { return check() }, nil)
}

// ScrubStep does what the scrub does next, without waiting, and says how long it would
// have waited, and whether that ended the round.
func (s *Scrubber) ScrubStep(ctx context.Context) (wait time.Duration, ended bool, err error) {
	next, wait, err := s.plan(ctx, 0)
	if err == nil {
		s.step(ctx, next)
		s.saveSome(wait)
	}
	return wait, next.none, err
}

// ScrubAsked verifies what was asked for so far, and says how much that was.
func (s *Scrubber) ScrubAsked(ctx context.Context) (n int) {
	for {
		select {
		case digest := <-s.asked:
			s.answerOne(ctx, digest)
			n++
		default:
			return n
		}
	}
}

// Recheck is what a server does first with what was damaged before.
func (s *Scrubber) Recheck(ctx context.Context) { s.recheck(ctx) }
