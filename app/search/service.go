package search

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
	"deedkeep/app/search/query"
	"deedkeep/app/stats"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// Settings are the limits of searches and of the index. 0 means the default.
type Settings struct {
	Deadline      time.Duration // maximum duration of a search, or of a search within a document; default 2s
	CacheSize     int64         // maximum bytes of the index cached in memory; default 64 MB
	BatchSize     int64         // maximum bytes of text in one batch of the index; default 4 MB
	MaxConcurrent int           // maximum number of concurrent searches; default two per processor
}

const (
	// DirName is the name of the index folder in the data directory.
	DirName = "search"

	defaultDeadline = 2 * time.Second
)

// Service searches the records of a vault. To keep the index up to date, run Index.Run.
type Service struct {
	*txn.DB
	vault    *vault.Vault
	settings Settings
	texts    *pagetext.Store
	events   *audit.Events
	Index    *Indexer
	metrics  searchMetrics
}

// New returns the search service of a vault.
func New(v *vault.Vault, settings Settings, events *audit.Events) *Service {
	s := &Service{DB: v.DB, vault: v, settings: settings, texts: v.Texts, events: events, metrics: newSearchMetrics()}
	s.Index = NewIndexer(s.indexerOptions())
	return s
}

// Timeout returns the maximum duration of a search.
func (s Settings) Timeout() time.Duration {
	if s.Deadline <= 0 {
		return defaultDeadline
	}
	return s.Deadline
}

// indexerOptions returns the options of the indexer.
func (s *Service) indexerOptions() IndexerOptions {
	settings := s.settings
	return IndexerOptions{
		Dir:       filepath.Join(s.Dir, DirName),
		Store:     s.Store,
		Search:    query.Options{Cache: settings.CacheSize, Deadline: settings.Timeout(), MaxDepth: MaxHits},
		BatchSize: settings.BatchSize, MaxConcurrent: settings.MaxConcurrent,
		ReadText: s.readText, OnMissingText: s.MissingText.Notify,
		FreeSpace: func() (free, reserve uint64, err error) {
			// If the data directory is missing, fail before the indexer creates a folder.
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

// readText implements IndexerOptions.ReadText. If a document is known to have no text of its own, a
// missing text is not an error.
func (s *Service) readText(digest string, page func(number int, text string) error) error {
	return s.texts.ReadAvailable(digest, func(p pagetext.Page) error {
		if p.Source == pagetext.SourceNone {
			return nil
		}
		return page(p.Number, p.Text)
	})
}

// clientKey returns the key of the client whose searches share the limit of slots: the ID of an API key
// or a user, or else the IP address.
func clientKey(a model.Actor) string {
	if a.ID == 0 {
		return a.Kind + " " + a.Address
	}
	return a.Record()
}

// State returns the state of the search index, as Indexer.State does.
func (s *Service) State(ctx context.Context) (State, error) { return s.Index.State(ctx) }

// Rebuild requests a rebuild of the search index from the records. The live index serves searches until
// the new one is complete. If no server is running, Await builds it. Rebuild returns
// InsufficientStorage if there is not enough disk space for two indexes.
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

// ErrTooManySearches is in the chain of the error that Acquire returns if no slot became free in time.
var ErrTooManySearches = errors.New("too many searches at the same time")

var errTooMany = errs.NotNow(errs.Busy, "Too many searches are running. Try again soon.", ErrTooManySearches)

// Outcomes are the label values of the search counter: results found, no results, invalid query,
// timeout, too many concurrent searches, no complete search index, client disconnected
// (search-as-you-type cancels a search with each keystroke), and server error.
var Outcomes = []string{outcomeFound, outcomeNothing, outcomeInvalid, outcomeTimeout, outcomeBusy, outcomeNoIndex,
	outcomeCanceled, outcomeError}

const (
	outcomeFound    = "found"
	outcomeNothing  = "no_results"
	outcomeInvalid  = "invalid"
	outcomeTimeout  = "timeout"
	outcomeBusy     = "busy"
	outcomeNoIndex  = "no_index"
	outcomeCanceled = "canceled"
	outcomeError    = "error"
)

// searchBuckets are the upper bounds of the histogram of search times, in seconds.
var searchBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}

// searchMetrics counts searches by outcome and measures the duration of successful ones.
type searchMetrics struct {
	outcomes stats.Counters
	seconds  *stats.Histogram
}

func newSearchMetrics() searchMetrics {
	return searchMetrics{stats.NewCounters(Outcomes...), stats.NewHistogram(searchBuckets...)}
}

// Counts returns the number of searches by outcome, and a histogram of the duration of successful ones
// in seconds.
func (s *Service) Counts() (outcomes map[string]uint64, seconds stats.Snapshot) {
	return s.metrics.outcomes.Read(), s.metrics.seconds.Read()
}

// add counts a search. found says whether the search had results.
func (s searchMetrics) add(took time.Duration, found bool, err error) {
	switch kind := errs.KindOf(err); {
	case err == nil:
		s.seconds.Note(took.Seconds())
		if found {
			s.outcomes.Add(outcomeFound)
			return
		}
		s.outcomes.Add(outcomeNothing)
	case errors.Is(err, context.Canceled):
		s.outcomes.Add(outcomeCanceled)
	case errors.Is(err, query.ErrDeadline):
		s.outcomes.Add(outcomeTimeout)
	case errors.Is(err, ErrTooManySearches):
		s.outcomes.Add(outcomeBusy)
	case kind == errs.Unavailable:
		s.outcomes.Add(outcomeNoIndex)
	case kind == errs.Invalid:
		s.outcomes.Add(outcomeInvalid)
	default:
		s.outcomes.Add(outcomeError)
	}
}
