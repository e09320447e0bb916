package search

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/fairqueue"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// IndexerOptions configures NewIndexer.
type IndexerOptions struct {
	Dir           string        // folder of the index; created if needed
	Store         *store.Store  // the database
	Search        query.Options // Log and AllowMerge are set by the indexer
	BatchSize     int64         // maximum bytes of text in one batch; 0: 4 MB
	MaxConcurrent int           // maximum number of concurrent searches; 0: two per processor

	// ReadText passes the stored text of a document to page, one page at a time. If page returns an
	// error, ReadText returns that error. For a document without text, it returns nil. If the text has
	// to be regenerated, it returns another error: fs.ErrNotExist if the text is missing.
	ReadText func(digest string, page func(number int, text string) error) error
	// OnMissingText is called after a pass if MissingText is not empty. It must not block. It may be
	// nil.
	OnMissingText func()
	// FreeSpace returns the free space on the disk of Dir, and the reserve below which uploads are
	// rejected, both in bytes.
	FreeSpace func() (free, reserve uint64, err error)
	// Yield waits until no upload is in progress, limit has passed, or ctx is done.
	Yield func(ctx context.Context, limit time.Duration)

	Now  func() time.Time
	Log  *slog.Logger
	Open func(dir string, o query.Options) (Index, error) // nil: OpenIndex
}

// Indexer maintains the index in IndexerOptions.Dir. Its methods may be called concurrently.
//
// The work is done in passes, one at a time. Run executes them or, if Run is not running, the callers
// of Await.
type Indexer struct {
	options IndexerOptions
	maxFeed uint64           // number of changes kept for an index that has stopped updating
	batch   uint64           // number of changes that one commit removes from the feed
	turns   *fairqueue.Turns // limit the number of concurrent searches, and so their memory
	wake    chan struct{}

	passMu       sync.Mutex // held during a pass
	prepared     bool       // openAll succeeded
	foreignDB    bool       // the database may not be the one last used with this folder
	openFailures int        // number of passes that failed to open an index
	isClosed     bool       // Close was called

	mu               sync.Mutex
	running          bool        // Run is running
	live             *generation // serves searches; nil: none
	building         *generation // is being built; nil: none
	rebuildRequested bool        // a requested rebuild has not started
	rebuildCount     int         // number of calls of Rebuild
	abandonErr       error       // why the last rebuild was abandoned; nil if it was not
	backoff          rebuildBackoff
	failure          string // why indexing has stopped; "" if it works
	since            time.Time
	passEnded        chan struct{} // closed at the end of each pass of Run
}

// defaultBatch is the default of IndexerOptions.BatchSize.
const defaultBatch = 4 << 20

// NewIndexer returns an indexer for o.Dir. It does not access the folder yet.
func NewIndexer(o IndexerOptions) *Indexer {
	if o.BatchSize <= 0 {
		o.BatchSize = defaultBatch
	}
	if o.Open == nil {
		o.Open = OpenIndex
	}
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = 2 * runtime.GOMAXPROCS(0)
	}
	x := &Indexer{
		maxFeed: defaultMaxFeed, batch: defaultTrimBatch, turns: fairqueue.NewTurns(o.MaxConcurrent, errTooMany),
		wake: make(chan struct{}, 1), passEnded: make(chan struct{}), since: o.Now(),
	}
	o.Search.Log, o.Search.AllowMerge = o.Log, x.allowMerge
	x.options = o
	return x
}

// Start announces that Run is about to be called. sameDB says whether this database was the last one
// used with the folder. If not, an index is kept only if it matches the database exactly.
func (in *Indexer) Start(sameDB bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.running, in.foreignDB = true, !sameDB
}

// Wake makes Run start a pass immediately instead of waiting.
func (in *Indexer) Wake() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// Rebuild requests a rebuild of the index from the records. The live index serves searches until the
// new one is complete. If Run is not running, Await builds it.
func (in *Indexer) Rebuild() {
	in.withLock(func() {
		in.rebuildRequested = in.building == nil // otherwise, a rebuild is already in progress
		in.rebuildCount++
		in.backoff = rebuildBackoff{}
		in.abandonErr, in.failure = nil, "" // these are results of earlier attempts
	})
	in.Wake()
}

var (
	errIndexBuilding = errs.NotNow(errs.Rebuilding, "The search index is being rebuilt. Try again soon.", nil)
	errIndexFailed   = errs.NotNow(errs.Rebuilding,
		"Search isn't available, and the search index can't be rebuilt now. "+
			"Administrators can see the reason in Settings.", nil)
)

// unavailableErr returns the error for a search when there is no live index.
func (in *Indexer) unavailableErr() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.failure != "" && in.building == nil {
		return errIndexFailed
	}
	return errIndexBuilding
}

// Acquire waits for a search slot. A client gets at most half of the slots. The caller must call
// release after it has processed the results, because that takes memory too. Acquire returns
// Unavailable if the deadline of ctx passes first.
func (in *Indexer) Acquire(ctx context.Context, client string) (release func(), err error) {
	return in.turns.Take(ctx, client)
}

// Search runs a query. The caller must hold a slot (Acquire). Search returns Unavailable if there is no
// complete index. Otherwise, it returns the errors of query.Index.Search. If it finds damage, a rebuild
// starts.
func (in *Indexer) Search(ctx context.Context, q query.Query) (query.Result, error) {
	gen := in.acquireLive()
	if gen == nil {
		return query.Result{}, in.unavailableErr()
	}
	defer gen.readers.Done()
	result, err := gen.Search(ctx, q)
	if isUnusable(err) || gen.countReadError(err) {
		gen.damaged.Store(true)
		in.Wake()
		return query.Result{}, errs.NotNow(errs.Rebuilding, errIndexBuilding.Message, err)
	}
	return result, err
}

// DropCache releases the memory of the cache. The next searches read from the disk again.
func (in *Indexer) DropCache() {
	if gen := in.acquireLive(); gen != nil {
		defer gen.readers.Done()
		gen.DropCache()
	}
}

// acquireLive returns the live index, or nil if there is none. The caller must release the index with
// readers.Done.
func (in *Indexer) acquireLive() *generation {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.live == nil || in.live.damaged.Load() {
		return nil
	}
	in.live.readers.Add(1)
	return in.live
}

// maxReadErrors is the number of searches that may fail with a disk error before the index is
// considered damaged. A bad sector makes the same searches fail every time.
const maxReadErrors = 16

// countReadError counts err if it is a disk error. It reports whether there have been too many disk
// errors.
func (gen *generation) countReadError(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk) && !errors.Is(err, fs.ErrClosed) && gen.readErrors.Add(1) >= maxReadErrors
}

// isUnusable reports whether an error means that the index has to be rebuilt.
func isUnusable(err error) bool {
	return errors.Is(err, query.ErrDamaged) || errors.Is(err, query.ErrOtherFormat)
}

// withLock calls fn while holding mu.
func (in *Indexer) withLock(fn func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	fn()
}

// Close waits for the current pass and the searches in progress, and then closes the indexes.
func (in *Indexer) Close() {
	in.passMu.Lock()
	defer in.passMu.Unlock()
	var open []*generation
	in.withLock(func() {
		open = []*generation{in.live, in.building}
		in.live, in.building, in.isClosed = nil, nil, true
	})
	for _, gen := range open {
		if gen == nil {
			continue
		}
		gen.readers.Wait()
		if err := gen.Close(); err != nil {
			in.options.Log.Warn("search index not saved", "error", err) // changes that were not saved will be applied again
		}
	}
}
