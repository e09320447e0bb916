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

// Options of New.
type Options struct {
	Dir       string        // of the index; made when it is needed
	Store     *store.Store  // of the records
	Search    query.Options // but for Log and Room, which are the indexer's
	BatchSize int64         // bytes of text that go into the index at once; 0: 4 MB
	AtOnce    int           // searches; 0: two for each processor

	// Text reads the stored text of a document by its digest, page by page, and ends
	// with the error of page; nil where it has none, another error where it is to be
	// made: fs.ErrNotExist where it is not there.
	Text func(digest string, page func(number int, text string) error) error
	// Lacks is called while Lacking has documents, after turns; it returns at once. nil
	// where nobody makes texts.
	Lacks func()
	// Room tells how many bytes are free on the disk of Dir, and below how many of them
	// no document is taken.
	Room func() (free, reserve uint64, err error)
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
	dir      string
	store    *store.Store
	batch    int64
	mostFeed uint64 // changes that are kept for an index that does not get on
	text     func(digest string, page func(number int, text string) error) error
	lack     func()
	room     func() (free, reserve uint64, err error)
	yield    func(ctx context.Context, most time.Duration)
	clock    func() time.Time
	log      *slog.Logger
	open     func(dir string) (Index, error)
	gate     *gate
	wake     chan struct{}

	turning  sync.Mutex // of whoever does a turn
	prepared bool       // what lies in dir was looked at
	foreign  bool       // the database is not the one that was last used here
	unopened int        // turns in which an index could not be opened
	ended    bool       // Close was called

	mu       sync.Mutex
	serving  bool    // Run does the turns
	now      *volume // gives the answers; nil: there is none
	next     *volume // is being made; nil: none is
	asked    bool    // somebody wants it made anew, and it is not begun
	renewals int     // calls of Renew
	gaveUp   error   // why the one that was made anew last was given up; nil: it was not
	breaks   breaks  // of indexes
	failed   string  // why nothing goes on for now
	since    time.Time
	turned   chan struct{} // closed with the end of each turn of Run
}

// defaultBatch is Options.BatchSize where that is 0.
const defaultBatch = 4 << 20

// New gives the indexer of a folder, and touches nothing there yet.
func New(o Options) *Indexer {
	x := &Indexer{
		dir: o.Dir, store: o.Store, batch: o.BatchSize, mostFeed: defaultFeed, text: o.Text, lack: o.Lacks, room: o.Room, yield: o.Yield, clock: o.Now, log: o.Log,
		gate: newGate(o.AtOnce), wake: make(chan struct{}, 1), turned: make(chan struct{}), since: o.Now(),
	}
	if x.batch <= 0 {
		x.batch = defaultBatch
	}
	open := o.Open
	if open == nil {
		open = Words
	}
	set := o.Search
	set.Log, set.AllowMerge = o.Log, x.roomToMerge
	x.open = func(dir string) (Index, error) { return open(dir, set) }
	return x
}

// Start says that Run begins, and whether the database is the one that was last used
// here: the index of another one must be where that is, to the word.
func (x *Indexer) Start(own bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.serving, x.foreign = true, !own
}

// Poke has Run look again now, whatever it waits for.
func (x *Indexer) Poke() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Renew asks for an index that is made anew from the records. The one there is answers
// until it is whole. Where nobody runs the indexer, Await makes it.
func (x *Indexer) Renew() {
	x.set(func() {
		x.asked = x.next == nil // else one is under way already
		x.renewals++
		x.breaks = breaks{}
		x.gaveUp, x.failed = nil, "" // are of what was tried before
	})
	x.Poke()
}

var (
	errNoIndex = &errs.Error{Kind: errs.Unavailable, Message: "The search index is being made; try again soon."}
	errNone    = &errs.Error{Kind: errs.Unavailable, Message: "There is no search index, and none can be made for now; the administrator sees why."}
)

// missing says why nothing answers.
func (x *Indexer) missing() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed != "" && x.next == nil {
		return errNone
	}
	return errNoIndex
}

// Enter waits for the asker's turn to search: one text for whoever has his share of the
// places. He keeps his place for all that he makes of the answer, so that the memory of
// that is bounded too, and gives it back with leave. Closing when ctx's deadline comes
// before the turn.
func (x *Indexer) Enter(ctx context.Context, asker string) (leave func(), err error) {
	return x.gate.enter(ctx, asker)
}

// Search asks the index, for who has entered. Closing while there is no whole index; else
// the errors of search.Index. Damage that it meets begins the making of a new one.
func (x *Indexer) Search(ctx context.Context, q query.Query) (query.Result, error) {
	in := x.take()
	if in == nil {
		return query.Result{}, x.missing()
	}
	defer in.users.Done()
	answer, err := in.Search(ctx, q)
	if broken(err) || in.unreadable(err) {
		in.broken.Store(true)
		x.Poke()
		return query.Result{}, &errs.Error{Kind: errs.Unavailable, Message: errNoIndex.Message, Err: err}
	}
	return answer, err
}

// take gives what answers, which its taker lets go with users.Done.
func (x *Indexer) take() *volume {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.now == nil || x.now.broken.Load() {
		return nil
	}
	x.now.users.Add(1)
	return x.now
}

// mostUnread is how many searches may meet an error of the disk before the index counts
// as broken: a sector that is gone refuses the same searches for ever.
const mostUnread = 16

func (in *volume) unreadable(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk) && !errors.Is(err, fs.ErrClosed) && in.unread.Add(1) >= mostUnread
}

// broken reports an index that has to be made anew.
func broken(err error) bool {
	return errors.Is(err, query.ErrDamaged) || errors.Is(err, query.ErrOtherFormat)
}

func (x *Indexer) set(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fn()
}

// Close ends it, once no turn is under way any more.
func (x *Indexer) Close() {
	x.turning.Lock()
	defer x.turning.Unlock()
	var open []*volume
	x.set(func() {
		open = []*volume{x.now, x.next}
		x.now, x.next, x.ended = nil, nil, true
	})
	for _, in := range open {
		if in == nil {
			continue
		}
		in.users.Wait()
		if err := in.Close(); err != nil {
			x.log.Warn("the search index", "error", err) // what it has not kept comes again
		}
	}
}
