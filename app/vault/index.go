package vault

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// SearchSettings are the limits of searches and of their index; 0 is the default.
type SearchSettings struct {
	Deadline  time.Duration // of one search, or look through a document; two seconds
	CacheSize int64         // bytes of the index that are kept in memory; 64 MB
	BatchSize int64         // bytes of text that go into the index at once; 4 MB
	MostWords int           // of one search; 32
	AtOnce    int           // searches; two for each processor
}

const (
	searchDeadline = 2 * time.Second
	searchFolder   = "search" // of a data directory
)

func (s SearchSettings) deadline() time.Duration {
	if s.Deadline <= 0 {
		return searchDeadline
	}
	return s.Deadline
}

// indexing are the options of the indexer.
func (v *Vault) indexing() search.Options {
	set := v.set.Search
	return search.Options{
		Dir:       filepath.Join(v.dir, searchFolder),
		Store:     v.store,
		Search:    query.Options{Cache: set.CacheSize, Deadline: set.deadline(), MaxWords: set.MostWords, MaxDepth: MostSearched},
		BatchSize: set.BatchSize, AtOnce: set.AtOnce,
		Text: v.keptText, Lacks: v.remaker.poke,
		Room: func() (free, reserve uint64, err error) {
			// Before a folder is created where the data directory no longer is.
			if err := v.store.CheckFile(); err != nil {
				return 0, 0, err
			}
			free, err = blobstore.FreeSpace(v.dir)
			return free, v.set.DiskReserve, err
		},
		Yield: v.arrivals.waitAtMost,
		Now:   v.now, Log: v.log,
	}
}

// keptText reads the text of a document as the indexer wants it.
func (v *Vault) keptText(digest string, page func(number int, text string) error) error {
	err := v.derived.ReadText(digest, page)
	if errors.Is(err, fs.ErrNotExist) && v.derived.Has(digest, blobstore.NoTextFile) {
		return nil
	}
	return err
}

// indexKinds are the kinds of records as the index calls them, by their nouns.
var indexKinds = search.Kinds()

// asker is who has his share of the searches at once: a key or a user, or else an
// address.
func asker(a model.Actor) string {
	if a.ID == 0 {
		return a.Kind + " " + a.Address
	}
	return a.Record()
}

// SearchState is how the index of words is.
type SearchState = search.State

// SearchState tells how the index is. Where no server runs, and nobody has made it in
// this process, that is what lies on the disk.
func (v *Vault) SearchState(ctx context.Context) (SearchState, error) { return v.index.State(ctx) }

// Reindex asks for an index that is made anew from the records. The one there is
// answers until it is whole. Where no server runs, AwaitIndex makes it. Full when the disk
// has no room for two.
func (v *Vault) Reindex(ctx context.Context, actor model.Actor) error {
	if err := v.index.RoomToRenew(); err != nil {
		return err
	}
	err := v.administer(ctx, actor, nil, func(t *store.Tx) error {
		return v.event(t, v.now(), actor, "search.reindexed", "", nil)
	})
	if err == nil {
		v.index.Renew()
	}
	return err
}

// AwaitIndex waits for the index as indexer.Await does.
func (v *Vault) AwaitIndex(ctx context.Context, report func(done, total uint64)) (SearchState, error) {
	return v.index.Await(ctx, report)
}

// verifyIndex reads the index of words that answers and holds it against its checksums.
// It follows from the records: damage in it loses nothing, and is a finding because the
// disk that did it has the documents too. One that is missing, being made or of another
// version is none.
func (v *Vault) verifyIndex(ctx context.Context, r *Report, find func(store.Finding)) error {
	// Where the database does not tell, the check of the records has said why.
	if state, err := v.index.State(ctx); err == nil {
		r.Texts = state.Texts
		if state.Ready {
			r.IndexBytes = state.Bytes
		}
	}
	finding := store.Finding{Kind: "search", Subject: "index"}
	serving, err := v.index.Check(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, search.ErrPointer):
		finding.Problem = "it is intact, but " + err.Error()
	case !errors.Is(err, query.ErrDamaged):
		finding.Problem = "it cannot be read: " + err.Error()
	case serving:
		finding.Problem = "no document is lost, it is being made anew: " + err.Error()
	default:
		finding.Problem = `no document is lost, "deedkeep reindex" makes it anew: ` + err.Error()
	}
	find(finding)
	return nil
}
