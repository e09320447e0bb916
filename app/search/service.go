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

// Settings are the limits of searches and of their index; 0 is the default.
type Settings struct {
	Deadline      time.Duration // of one search, or look through a document; two seconds
	CacheSize     int64         // bytes of the index that are kept in memory; 64 MB
	BatchSize     int64         // bytes of text that go into the index at once; 4 MB
	MaxWords      int           // of one search; 32
	MaxConcurrent int           // searches; two for each processor
}

const (
	defaultDeadline = 2 * time.Second
	DirName         = "search" // of a data directory
)

// Service searches the records of a vault.
type Service struct {
	*txn.DB
	vault    *vault.Vault
	settings Settings
	previews *blobstore.Previews
	events   *audit.Events
	Index    *Indexer
	metrics  searchMetrics
}

// New returns the search over a vault and its search index.
func New(v *vault.Vault, set Settings, previews *blobstore.Previews, events *audit.Events) *Service {
	s := &Service{DB: v.DB, vault: v, settings: set, previews: previews, events: events, metrics: newSearchMetrics()}
	s.Index = NewIndexer(s.indexerOptions())
	return s
}

func (s Settings) Timeout() time.Duration {
	if s.Deadline <= 0 {
		return defaultDeadline
	}
	return s.Deadline
}

// indexerOptions are the options of the indexer.
func (s *Service) indexerOptions() IndexerOptions {
	set := s.settings
	return IndexerOptions{
		Dir:       filepath.Join(s.Dir, DirName),
		Store:     s.Store,
		Search:    query.Options{Cache: set.CacheSize, Deadline: set.Timeout(), MaxWords: set.MaxWords, MaxDepth: MaxHits},
		BatchSize: set.BatchSize, MaxConcurrent: set.MaxConcurrent,
		ReadText: s.readText, OnMissingText: s.MissingText.Notify,
		FreeSpace: func() (free, reserve uint64, err error) {
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

// readText reads the text of a document as the indexer wants it.
func (s *Service) readText(digest string, page func(number int, text string) error) error {
	err := s.previews.ReadText(digest, page)
	if errors.Is(err, fs.ErrNotExist) && s.previews.Has(digest, blobstore.NoTextFile) {
		return nil
	}
	return err
}

// clientKey is who has his share of the searches at once: a key or a user, or else an
// address.
func clientKey(a model.Actor) string {
	if a.ID == 0 {
		return a.Kind + " " + a.Address
	}
	return a.Record()
}

// State tells how the index is. Where no server runs, and nobody has made it in
// this process, that is what lies on the disk.
func (s *Service) State(ctx context.Context) (State, error) { return s.Index.State(ctx) }

// Rebuild starts to rebuild the search index from the records. The present one serves
// searches until the new one is complete. Without a running server, Await builds it. It
// returns InsufficientStorage if the disk has no space for two.
func (s *Service) Rebuild(ctx context.Context, actor model.Actor) error {
	if err := s.Index.CheckRebuildSpace(); err != nil {
		return err
	}
	err := s.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		return s.AddEvent(t, s.Now(), actor, "search.reindexed", "", nil)
	})
	if err == nil {
		s.Index.Rebuild()
	}
	return err
}

// Await waits for the search index, as Indexer.Await does.
func (s *Service) Await(ctx context.Context, report func(done, total uint64)) (State, error) {
	return s.Index.Await(ctx, report)
}
