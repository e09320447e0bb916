// Package search keeps the index of words (app/search/query) behind the database
// (app/store): it makes one where there is none that is whole, sound and of this
// database, and follows the feed of changes. It decides what of a record is found, and
// answers searches, a few at once.
//
// Promises. Nothing that is written waits for the index, and nothing is lost with it:
// the folder may be deleted at any time, also while a server runs. Whatever becomes of
// its files, what answers is whole: an index that is missing, damaged, of another
// program or of another database is made anew from the records, while the one before
// answers, where there is one. How far it has come lies in the index and changes with
// it (mark.go), so that a crash leaves nothing out and whoever is cut off goes on from
// there. A document that arrives goes first, as to processors and as to room: the index
// stops growing above the reserve of the disk (room.go).
//
// Refused are searches while there is no whole index, and those that find too many
// others under way until their time is over: both of kind title.Closing.
//
// # The folder
//
// An index that is made anew lies beside the one that answers; no folder is ever
// renamed, as Windows would not while it is open.
//
//	search/
//	    current    the number of the folder that answers
//	    1/         an index (app/search/query)
//	    2/         one that is being made; gets its number into current when it is whole
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

// IndexerOptions of New.
type IndexerOptions struct {
	Dir           string        // of the index; made when it is needed
	Store         *store.Store  // of the records
	Search        query.Options // but for Log and Room, which are the indexer's
	BatchSize     int64         // bytes of text that go into the index at once; 0: 4 MB
	MaxConcurrent int           // searches; 0: two for each processor

	// ReadText reads the stored text of a document by its digest, page by page, and ends
	// with the error of page; nil where it has none, another error where it is to be
	// made: fs.ErrNotExist where it is not there.
	ReadText func(digest string, page func(number int, text string) error) error
	// OnMissingText is called while Lacking has documents, after turns; it returns at once. nil
	// where nobody makes texts.
	OnMissingText func()
	// FreeSpace tells how many bytes are free on the disk of Dir, and below how many of them
	// no document is taken.
	FreeSpace func() (free, reserve uint64, err error)
	// Yield returns when no document is arriving, after most, or with ctx.
	Yield func(ctx context.Context, most time.Duration)

	Now  func() time.Time
	Log  *slog.Logger
	Open func(dir string, o query.Options) (Index, error) // nil: Words
}

// Indexer keeps the index in Options.Dir. It is safe for many goroutines.
//
// One turn at a time does the work: in Run, or of whoever waits for the index where
// nobody runs it.
type Indexer struct {
	dir           string
	store         *store.Store
	batchSize     int64
	maxFeed       uint64 // changes that are kept for an index that does not get on
	readText      func(digest string, page func(number int, text string) error) error
	onMissingText func()
	freeSpace     func() (free, reserve uint64, err error)
	yield         func(ctx context.Context, most time.Duration)
	clock         func() time.Time
	log           *slog.Logger
	open          func(dir string) (Index, error)
	limiter       *limiter
	wake          chan struct{}

	passMu       sync.Mutex // of whoever does a turn
	prepared     bool       // what lies in dir was looked at
	foreignDB    bool       // the database is not the one that was last used here
	openFailures int        // turns in which an index could not be opened
	isClosed     bool       // Close was called

	mu               sync.Mutex
	running          bool           // Run does the turns
	live             *generation    // gives the answers; nil: there is none
	building         *generation    // is being made; nil: none is
	rebuildRequested bool           // somebody wants it made anew, and it is not begun
	rebuildCount     int            // calls of Renew
	abandonErr       error          // why the one that was made anew last was given up; nil: it was not
	backoff          rebuildBackoff // of indexes
	failure          string         // why nothing goes on for now
	since            time.Time
	passEnded        chan struct{} // closed with the end of each turn of Run
}

// defaultBatch is Options.BatchSize where that is 0.
const defaultBatch = 4 << 20

// NewIndexer gives the indexer of a folder, and touches nothing there yet.
func NewIndexer(o IndexerOptions) *Indexer {
	x := &Indexer{
		dir: o.Dir, store: o.Store, batchSize: o.BatchSize, maxFeed: defaultMaxFeed, readText: o.ReadText, onMissingText: o.OnMissingText, freeSpace: o.FreeSpace, yield: o.Yield, clock: o.Now, log: o.Log,
		limiter: newLimiter(o.MaxConcurrent), wake: make(chan struct{}, 1), passEnded: make(chan struct{}), since: o.Now(),
	}
	if x.batchSize <= 0 {
		x.batchSize = defaultBatch
	}
	open := o.Open
	if open == nil {
		open = OpenIndex
	}
	set := o.Search
	set.Log, set.AllowMerge = o.Log, x.allowMerge
	x.open = func(dir string) (Index, error) { return open(dir, set) }
	return x
}

// Start says that Run begins, and whether the database is the one that was last used
// here: the index of another one must be where that is, to the word.
func (x *Indexer) Start(own bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running, x.foreignDB = true, !own
}

// Wake has Run look again now, whatever it waits for.
func (x *Indexer) Wake() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Rebuild asks for an index that is made anew from the records. The one there is answers
// until it is whole. Where nobody runs the indexer, Await makes it.
func (x *Indexer) Rebuild() {
	x.withLock(func() {
		x.rebuildRequested = x.building == nil // else one is under way already
		x.rebuildCount++
		x.backoff = rebuildBackoff{}
		x.abandonErr, x.failure = nil, "" // are of what was tried before
	})
	x.Wake()
}

var (
	errIndexBuilding = &errs.Error{Kind: errs.Unavailable, Message: "The search index is being made; try again soon."}
	errIndexFailed   = &errs.Error{Kind: errs.Unavailable, Message: "There is no search index, and none can be made for now; the administrator sees why."}
)

// unavailableErr says why nothing answers.
func (x *Indexer) unavailableErr() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure != "" && x.building == nil {
		return errIndexFailed
	}
	return errIndexBuilding
}

// Acquire waits for the asker's turn to search: one text for whoever has his share of the
// places. He keeps his place for all that he makes of the answer, so that the memory of
// that is bounded too, and gives it back with leave. Closing when ctx's deadline comes
// before the turn.
func (x *Indexer) Acquire(ctx context.Context, asker string) (leave func(), err error) {
	return x.limiter.acquire(ctx, asker)
}

// Search asks the index, for who has entered. Closing while there is no whole index; else
// the errors of search.Index. Damage that it meets begins the making of a new one.
func (x *Indexer) Search(ctx context.Context, q query.Query) (query.Result, error) {
	in := x.acquireLive()
	if in == nil {
		return query.Result{}, x.unavailableErr()
	}
	defer in.readers.Done()
	answer, err := in.Search(ctx, q)
	if isUnusable(err) || in.countReadError(err) {
		in.damaged.Store(true)
		x.Wake()
		return query.Result{}, &errs.Error{Kind: errs.Unavailable, Message: errIndexBuilding.Message, Err: err}
	}
	return answer, err
}

// acquireLive gives what answers, which its taker lets go with users.Done.
func (x *Indexer) acquireLive() *generation {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.live == nil || x.live.damaged.Load() {
		return nil
	}
	x.live.readers.Add(1)
	return x.live
}

// maxReadErrors is how many searches may meet an error of the disk before the index counts
// as broken: a sector that is gone refuses the same searches for ever.
const maxReadErrors = 16

func (in *generation) countReadError(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk) && !errors.Is(err, fs.ErrClosed) && in.readErrors.Add(1) >= maxReadErrors
}

// isUnusable reports an index that has to be made anew.
func isUnusable(err error) bool {
	return errors.Is(err, query.ErrDamaged) || errors.Is(err, query.ErrOtherFormat)
}

func (x *Indexer) withLock(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fn()
}

// Close ends it, once no turn is under way any more.
func (x *Indexer) Close() {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	var open []*generation
	x.withLock(func() {
		open = []*generation{x.live, x.building}
		x.live, x.building, x.isClosed = nil, nil, true
	})
	for _, in := range open {
		if in == nil {
			continue
		}
		in.readers.Wait()
		if err := in.Close(); err != nil {
			x.log.Warn("the search index", "error", err) // what it has not kept comes again
		}
	}
}
