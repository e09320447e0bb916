package search

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// IndexerOptions configures NewIndexer.
type IndexerOptions struct {
	Dir           string        // folder of the index; created when needed
	Store         *store.Store  // the database
	Search        query.Options // Log and AllowMerge are set by the indexer
	BatchSize     int64         // bytes of text in one batch; 0: 4 MB
	MaxConcurrent int           // concurrent searches; 0: two per processor

	// ReadText passes the stored text of a document to page, page by page, and returns the error of
	// page. It returns nil for a document without text, and another error if the text has to be
	// regenerated: fs.ErrNotExist if it is missing.
	ReadText func(digest string, page func(number int, text string) error) error
	// OnMissingText is called after a pass if MissingText has documents. It must not block. It may be
	// nil.
	OnMissingText func()
	// FreeSpace returns the free bytes on the disk of Dir, and the reserve below which uploads are
	// rejected.
	FreeSpace func() (free, reserve uint64, err error)
	// Yield waits until no upload is in progress, for at most limit, or until ctx is done.
	Yield func(ctx context.Context, limit time.Duration)

	Now  func() time.Time
	Log  *slog.Logger
	Open func(dir string, o query.Options) (Index, error) // nil: OpenIndex
}

// Indexer maintains the index in IndexerOptions.Dir. Its methods may be called concurrently.
//
// The work is done in passes, one at a time: by Run or, if Run is not running, by callers of Await.
type Indexer struct {
	dir           string
	store         *store.Store
	batchSize     int64
	maxFeed       uint64 // changes kept for an index that has stopped updating
	readText      func(digest string, page func(number int, text string) error) error
	onMissingText func()
	freeSpace     func() (free, reserve uint64, err error)
	yield         func(ctx context.Context, limit time.Duration)
	clock         func() time.Time
	log           *slog.Logger
	open          func(dir string) (Index, error)
	limiter       *limiter
	wake          chan struct{}

	passMu       sync.Mutex // held during a pass
	prepared     bool       // openAll succeeded
	foreignDB    bool       // the database may not be the one that was last used here
	openFailures int        // passes that failed to open an index
	isClosed     bool       // Close was called

	mu               sync.Mutex
	running          bool        // Run is running
	live             *generation // serves searches; nil: none
	building         *generation // is being built; nil: none
	rebuildRequested bool        // a requested rebuild has not begun
	rebuildCount     int         // calls of Rebuild
	abandonErr       error       // why the last rebuild was abandoned; nil: it was not
	backoff          rebuildBackoff
	failure          string // why indexing has stopped; "" if it works
	since            time.Time
	passEnded        chan struct{} // closed at the end of each pass of Run
}

// defaultBatch is the default of IndexerOptions.BatchSize.
const defaultBatch = 4 << 20

// NewIndexer returns the indexer of a folder. It does not access the folder yet.
func NewIndexer(o IndexerOptions) *Indexer {
	x := &Indexer{
		dir: o.Dir, store: o.Store, batchSize: o.BatchSize, maxFeed: defaultMaxFeed, readText: o.ReadText,
		onMissingText: o.OnMissingText, freeSpace: o.FreeSpace, yield: o.Yield, clock: o.Now, log: o.Log,
		limiter: newLimiter(o.MaxConcurrent), wake: make(chan struct{}, 1), passEnded: make(chan struct{}), since: o.Now(),
	}
	if x.batchSize <= 0 {
		x.batchSize = defaultBatch
	}
	open := o.Open
	if open == nil {
		open = OpenIndex
	}
	options := o.Search
	options.Log, options.AllowMerge = o.Log, x.allowMerge
	x.open = func(dir string) (Index, error) { return open(dir, options) }
	return x
}

// Start announces that Run is about to be called. sameDB says whether the database is the one that was
// last used with this folder; for another one, an index is kept only if it matches exactly.
func (x *Indexer) Start(sameDB bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running, x.foreignDB = true, !sameDB
}

// Wake makes Run start a pass now instead of waiting.
func (x *Indexer) Wake() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Rebuild requests a rebuild of the index from the records. The live index serves searches until the
// new one is complete. If Run is not running, Await builds it.
func (x *Indexer) Rebuild() {
	x.withLock(func() {
		x.rebuildRequested = x.building == nil // otherwise one is in progress
		x.rebuildCount++
		x.backoff = rebuildBackoff{}
		x.abandonErr, x.failure = nil, "" // they concern earlier attempts
	})
	x.Wake()
}

var (
	errIndexBuilding = &errs.Error{Kind: errs.Unavailable, Message: "The search index is being made; try again soon."}
	errIndexFailed   = &errs.Error{Kind: errs.Unavailable,
		Message: "There is no search index, and none can be made for now; the administrator sees why."}
)

// unavailableErr returns the error for a search while there is no live index.
func (x *Indexer) unavailableErr() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure != "" && x.building == nil {
		return errIndexFailed
	}
	return errIndexBuilding
}

// Acquire waits for a search slot for a client, which gets at most half of the slots. The caller holds
// it while it processes the results, which take memory too, and then calls release. Acquire returns
// Unavailable if the deadline of ctx passes first.
func (x *Indexer) Acquire(ctx context.Context, client string) (release func(), err error) {
	return x.limiter.acquire(ctx, client)
}

// Search runs a query; the caller must have acquired a slot. It returns Unavailable while there is no
// complete index, and otherwise the errors of query.Index.Search. If it finds damage, a rebuild
// starts.
func (x *Indexer) Search(ctx context.Context, q query.Query) (query.Result, error) {
	gen := x.acquireLive()
	if gen == nil {
		return query.Result{}, x.unavailableErr()
	}
	defer gen.readers.Done()
	result, err := gen.Search(ctx, q)
	if isUnusable(err) || gen.countReadError(err) {
		gen.damaged.Store(true)
		x.Wake()
		return query.Result{}, &errs.Error{Kind: errs.Unavailable, Message: errIndexBuilding.Message, Err: err}
	}
	return result, err
}

// acquireLive returns the live index, or nil. The caller releases it with readers.Done.
func (x *Indexer) acquireLive() *generation {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.live == nil || x.live.damaged.Load() {
		return nil
	}
	x.live.readers.Add(1)
	return x.live
}

// maxReadErrors is how many searches may fail with a disk error before the index counts as damaged. A
// bad sector makes the same searches fail every time.
const maxReadErrors = 16

// countReadError counts an error of the disk. It reports whether there were too many.
func (gen *generation) countReadError(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk) && !errors.Is(err, fs.ErrClosed) && gen.readErrors.Add(1) >= maxReadErrors
}

// isUnusable reports whether an error means that the index has to be rebuilt.
func isUnusable(err error) bool {
	return errors.Is(err, query.ErrDamaged) || errors.Is(err, query.ErrOtherFormat)
}

// withLock calls fn while holding mu.
func (x *Indexer) withLock(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fn()
}

// Close closes the indexes after the current pass and the searches in progress have ended.
func (x *Indexer) Close() {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	var open []*generation
	x.withLock(func() {
		open = []*generation{x.live, x.building}
		x.live, x.building, x.isClosed = nil, nil, true
	})
	for _, gen := range open {
		if gen == nil {
			continue
		}
		gen.readers.Wait()
		if err := gen.Close(); err != nil {
			x.log.Warn("the search index", "error", err) // unsaved changes are applied again
		}
	}
}
