package vault

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/title"
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
	searchBatch    = 4 << 20
	searchDeadline = 2 * time.Second
)

func (s SearchSettings) deadline() time.Duration {
	if s.Deadline <= 0 {
		return searchDeadline
	}
	return s.Deadline
}

func (s SearchSettings) batch() int64 {
	if s.BatchSize <= 0 {
		return searchBatch
	}
	return s.BatchSize
}

// wordIndex is the index of words (app/search) as the indexer needs it.
type wordIndex interface {
	Search(ctx context.Context, q search.Query) (search.Answer, error)
	Batch() wordBatch
	Apply(ctx context.Context, b wordBatch, mark []byte) error
	Mark() []byte
	Size() (documents uint64, bytes int64, segments int)
	Check(ctx context.Context) error
	Close() error
}

// wordBatch is what goes into it at once.
type wordBatch interface {
	Put(d search.Document) error
	Remove(k search.Kind, id uint64)
	Bytes() int
}

// indexer keeps the index of words behind the database: it makes it where there is
// none that is whole, sound and of this database, and then follows the feed of changes.
// Nothing that is written waits for it, and nothing is lost with it.
//
// One turn at a time does the work: in the background of a server, or of whoever waits
// for it where none runs.
type indexer struct {
	v    *Vault
	dir  string
	open func(dir string) (wordIndex, error)
	wake chan struct{}

	turning  sync.Mutex // of whoever does a turn
	prepared bool       // what lies in dir was looked at
	foreign  bool       // the database is not the one that was last used here
	failures int        // of indexes that broke before one was whole
	ended    bool       // the vault closes

	mu      sync.Mutex
	serving bool    // run does the turns
	now     *volume // gives the answers; nil: there is none
	next    *volume // is being made; nil: none is
	asked   bool    // somebody wants it made anew, and it is not begun
	failed  string  // why nothing goes on for now
	since   time.Time
	turned  chan struct{} // closed with the end of each turn
}

// volume is one index that is open.
type volume struct {
	wordIndex
	number              uint64 // of its folder
	mark                indexMark
	goal                uint64        // the last change when its walk had ended
	said                bool          // that it does not get on
	single              bool          // a batch takes one record: there is one among them that it refuses
	behind              atomic.Uint64 // mark.Change, for those who look; as the next two
	owed                atomic.Uint64 // len(mark.Owed)
	walkDone, walkTotal atomic.Uint64
	broken              atomic.Bool  // somebody met damage in it
	unread              atomic.Int64 // searches that the disk did not let it answer
	users               sync.WaitGroup
}

func newIndexer(v *Vault) *indexer {
	return &indexer{v: v, dir: searchDir(v.dir), open: v.openWords, wake: make(chan struct{}, 1), turned: make(chan struct{}), since: v.now()}
}

func (x *indexer) poke() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// start says that a server begins, and whether the database is its own.
func (x *indexer) start(own bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.serving, x.foreign = true, !own
}

var errNoIndex = &title.Error{Kind: title.Closing, Message: "The search index is being made; try again soon."}

// Search asks the index. Closing while there is no whole one;
// damage that it meets begins the making of a new one.
func (x *indexer) Search(ctx context.Context, q search.Query) (search.Answer, error) {
	in := x.take()
	if in == nil {
		return search.Answer{}, errNoIndex
	}
	defer in.users.Done()
	answer, err := in.Search(ctx, q)
	if broken(err) || in.unreadable(err) {
		in.broken.Store(true)
		x.poke()
		return search.Answer{}, &title.Error{Kind: title.Closing, Message: errNoIndex.Message, Err: err}
	}
	return answer, err
}

// mostUnread is how many searches may meet an error of the disk before the index counts
// as broken: a sector that is gone refuses the same searches for ever.
const mostUnread = 16

func (in *volume) unreadable(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk) && !errors.Is(err, fs.ErrClosed) && in.unread.Add(1) >= mostUnread
}

// take gives what answers, which its taker lets go with users.Done.
func (x *indexer) take() *volume {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.now == nil || x.now.broken.Load() {
		return nil
	}
	x.now.users.Add(1)
	return x.now
}

// broken reports an index that has to be made anew.
func broken(err error) bool {
	return errors.Is(err, search.ErrDamaged) || errors.Is(err, search.ErrOtherFormat)
}

// SearchState is how the index of words is.
type SearchState struct {
	Ready       bool      // it answers
	Building    bool      // one is being made, be it beside one that answers
	Done, Total uint64    // records, of the one that is being made
	Documents   uint64    // in the one that answers
	Bytes       int64     // on the disk
	Segments    int       // files that they lie in
	Behind      uint64    // changes that it does not know of yet
	Since       time.Time // of this state; zero where no server runs
	Failed      string    // why nothing goes on for now; "" when all is well
}

// SearchState tells how the index is. Where no server runs, and nobody has made it in
// this process, that is what lies on the disk.
func (v *Vault) SearchState(ctx context.Context) (SearchState, error) { return v.index.state(ctx) }

func (x *indexer) state(ctx context.Context) (s SearchState, err error) {
	var last uint64
	err = x.v.store.View(ctx, func(t *store.Tx) error { last = t.LastChange(); return nil })
	if err != nil {
		return s, err
	}
	x.mu.Lock()
	in, next := x.now, x.next
	idle := !x.serving && in == nil && next == nil
	s.Since, s.Failed, s.Building = x.since, x.failed, next != nil || x.asked
	if in != nil {
		in.users.Add(1)
		defer in.users.Done()
	}
	if next != nil {
		next.users.Add(1)
		defer next.users.Done()
	}
	x.mu.Unlock()
	if idle {
		return x.look(last), nil
	}
	if next != nil {
		s.Done, s.Total = next.done()
	}
	if in != nil {
		s.Ready = !in.broken.Load()
		s.Documents, s.Bytes, s.Segments = in.Size()
		s.Behind = last - min(last, in.behind.Load()) + in.owed.Load()
	}
	return s, nil
}

// Reindex asks for an index that is made anew from the records. The one there is
// answers until it is whole. Where no server runs, AwaitIndex makes it.
func (v *Vault) Reindex(ctx context.Context, actor title.Actor) error {
	err := v.administer(ctx, actor, nil, func(t *store.Tx) error {
		return v.event(t, v.now(), actor, "search.reindexed", "", nil)
	})
	if err != nil {
		return err
	}
	v.index.mu.Lock()
	v.index.asked = v.index.next == nil // else one is under way already
	v.index.mu.Unlock()
	v.index.poke()
	return nil
}

// AwaitIndex waits until the index is whole, knows of all changes there were when it
// was called, not of those that come meanwhile, and is made anew where somebody asked for that. It calls report now and then. Where no
// server runs it does the work itself; what is cut off by ctx goes on from there the
// next time.
func (v *Vault) AwaitIndex(ctx context.Context, report func(done, total uint64)) (SearchState, error) {
	return v.index.await(ctx, report)
}
