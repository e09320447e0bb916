package search

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
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
	SearchFolder   = "search" // of a data directory
)

// SearchService searches the records of a vault.
type SearchService struct {
	*txn.DB
	vault    *vault.Vault
	set      SearchSettings
	previews *blobstore.Previews
	events   *audit.Events
	Index    *Indexer
	counts   searchCounts
}

// NewSearchService returns the search over a vault and its search index.
func NewSearchService(v *vault.Vault, set SearchSettings, previews *blobstore.Previews, events *audit.Events) *SearchService {
	s := &SearchService{DB: v.DB, vault: v, set: set, previews: previews, events: events, counts: newSearchCounts()}
	s.Index = New(s.indexing())
	return s
}

func (s SearchSettings) Timeout() time.Duration {
	if s.Deadline <= 0 {
		return searchDeadline
	}
	return s.Deadline
}

// indexing are the options of the indexer.
func (s *SearchService) indexing() Options {
	set := s.set
	return Options{
		Dir:       filepath.Join(s.Dir, SearchFolder),
		Store:     s.Store,
		Search:    query.Options{Cache: set.CacheSize, Deadline: set.Timeout(), MaxWords: set.MostWords, MaxDepth: MostSearched},
		BatchSize: set.BatchSize, AtOnce: set.AtOnce,
		Text: s.keptText, Lacks: s.MissingText.Notify,
		Room: func() (free, reserve uint64, err error) {
			// Before a folder is created where the data directory no longer is.
			if err := s.Store.CheckFile(); err != nil {
				return 0, 0, err
			}
			free, err = blobstore.FreeSpace(s.Dir)
			return free, s.MinFree, err
		},
		Yield: s.Activity.WaitIdleMax,
		Now:   s.Now, Log: s.Log,
	}
}

// keptText reads the text of a document as the indexer wants it.
func (s *SearchService) keptText(digest string, page func(number int, text string) error) error {
	err := s.previews.ReadText(digest, page)
	if errors.Is(err, fs.ErrNotExist) && s.previews.Has(digest, blobstore.NoTextFile) {
		return nil
	}
	return err
}

// indexKinds are the kinds of records as the index calls them, by their nouns.
var indexKinds = Kinds()

// asker is who has his share of the searches at once: a key or a user, or else an
// address.
func asker(a model.Actor) string {
	if a.ID == 0 {
		return a.Kind + " " + a.Address
	}
	return a.Record()
}

// SearchState is how the index of words is.
type SearchState = State

// SearchState tells how the index is. Where no server runs, and nobody has made it in
// this process, that is what lies on the disk.
func (s *SearchService) State(ctx context.Context) (SearchState, error) { return s.Index.State(ctx) }

// Rebuild starts to rebuild the search index from the records. The present one serves
// searches until the new one is complete. Without a running server, Await builds it. It
// returns InsufficientStorage if the disk has no space for two.
func (s *SearchService) Rebuild(ctx context.Context, actor model.Actor) error {
	if err := s.Index.RoomToRenew(); err != nil {
		return err
	}
	err := s.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		return s.AddEvent(t, s.Now(), actor, "search.reindexed", "", nil)
	})
	if err == nil {
		s.Index.Renew()
	}
	return err
}

// Await waits for the search index, as Indexer.Await does.
func (s *SearchService) Await(ctx context.Context, report func(done, total uint64)) (SearchState, error) {
	return s.Index.Await(ctx, report)
}
