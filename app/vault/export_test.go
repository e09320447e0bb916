package vault

import (
	"context"
	"errors"

	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Store lets tests put records into a state that no verb makes yet.
func (v *Vault) Store() *store.Store { return v.store }

// Poke tells the processor to look at its queue, as a passing of time would.
func (v *Vault) Poke() { v.processor.poke() }

// Reserve changes the disk's reserve of a vault that nobody else uses now.
func (v *Vault) Reserve(bytes uint64) { v.set.DiskReserve = bytes }

// Turn looks at the plan once.
func (b *Backups) Turn(ctx context.Context) { b.turn(ctx) }

// Enforce changes a rule of a vault that nobody else uses now.
func (v *Vault) Enforce(required bool) { v.set.Rules.EnforceRequired = required }

// Kept reads a slot, however old its answer is.
func (v *Vault) Kept(slot [32]byte) (r title.Replay, found bool, err error) {
	err = v.store.View(context.Background(), func(t *store.Tx) (err error) {
		r, found, err = t.Replay(slot)
		return err
	})
	return r, found, err
}

// GoesOn is what background work does with what came of a turn.
func (v *Vault) GoesOn(ctx context.Context, err error) bool { return v.goesOn(ctx, "turn", err) }

// BackupError is the error of a backup as its callers see it.
func BackupError(err error) error { return backupError(err) }

// Own are the names in a data directory that the survey knows as the vault's.
func Own() []string { return append(append([]string{}, ownFolders...), ownFiles...) }

// PurgeTurn is one turn of the purger.
func (v *Vault) PurgeTurn(ctx context.Context) error { return v.purger.turn(ctx) }

// DropDerived removes what was made of a document.
func (v *Vault) DropDerived(digest string) error { return v.derived.Drop(digest) }

// WordIndex and WordBatch are the index as the indexer needs it.
type (
	WordIndex = wordIndex
	WordBatch = wordBatch
)

// WrapWords puts something between the indexer and its index, of which it has opened
// none yet.
func (v *Vault) WrapWords(wrap func(WordIndex) WordIndex) {
	open := v.index.open
	v.index.open = func(dir string) (wordIndex, error) {
		in, err := open(dir)
		if err != nil {
			return nil, err
		}
		return wrap(in), nil
	}
}

// FailOpenWords has indexes fail once their folders are there.
func (v *Vault) FailOpenWords(err error) {
	open := v.index.open
	v.index.open = func(dir string) (wordIndex, error) {
		in, e := open(dir)
		if e != nil {
			return nil, e
		}
		return nil, errors.Join(err, in.Close())
	}
}

// AskWords asks the index itself.
func (v *Vault) AskWords(ctx context.Context, q search.Query) (search.Answer, error) {
	return v.index.Search(ctx, q)
}

// IndexTurn does one turn of the indexer.
func (v *Vault) IndexTurn(ctx context.Context) (more bool, err error) { return v.index.turn(ctx) }

// PokeIndex tells the indexer to try again, as a passing of time would.
func (v *Vault) PokeIndex() { v.index.poke() }

// IndexSoon is how long the indexer waits before it follows, at most.
const IndexSoon = indexGather + indexYield

// RoomToMerge tells whether a merge of the index may take so much.
func (v *Vault) RoomToMerge(bytes int64) bool { return v.roomToMerge(bytes) }

// Looks does something while somebody looks through a document.
func (v *Vault) Looks(ctx context.Context, actor title.Actor, do func()) error {
	_, leave, err := v.Files.looking(ctx, actor)
	defer leave()
	if err == nil {
		do()
	}
	return err
}
