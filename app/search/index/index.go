// Package index is an inverted index on disk: which documents have which terms,
// how often and where. Terms are opaque bytes; what they mean is the caller's.
//
//	dir/
//	  manifest           what belongs to the index, and the caller's mark (manifest.go)
//	  manifest.new       the next manifest, until it is renamed
//	  000017.segment     documents that came together; never changed (app/search/index/segment)
//
// Documents are gathered in a Batch, and Apply makes a segment of it. Neighboring
// segments are merged in the background. A document that is replaced or removed is
// only noted as gone, in the manifest, until its segment is merged.
//
// In a segment documents are numbered from the latest, which is 0, to the earliest,
// and segments are searched from the latest: so what is found first wins among equals,
// and a list of a million equals costs no more than counting them.
//
// Promises: Apply is whole or has not happened, whatever is cut, and so is its mark;
// a search sees one state from beginning to end; every byte read from the disk has
// been checked, and what is wrong is said, never answered; an open index holds the
// cache, and of a segment some bytes for a page, at most 4 MiB for its dictionary, and a
// bit for a document where some are gone; a search, for each phrase twice 4,096
// positions. A Batch holds what it is given: its caller looks at Bytes.
//
// Refuses: to keep the documents, to mend what is damaged (the index can be made
// anew), queries without a bound, and to keep where a term stands in a document beyond
// its first 4,096 occurrences: later ones count for the worth, but are in no phrase.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"deedkeep/app/search/index/segment"
)

// Kinds of errors, for errors.Is. Besides these, errors of ctx and of the operating
// system come back as they are.
var (
	// ErrDamaged: what is on the disk is not what was written. Remove the folder, and begin anew.
	ErrDamaged = segment.ErrDamaged
	// ErrOtherFormat: the index was written by another version. Remove the folder, and begin anew.
	ErrOtherFormat = errors.New("index of another format")
	// ErrTerm: a term without bytes or with more than MaxTermBytes, or out of order in a document.
	ErrTerm = errors.New("not a term")
	// ErrQuery: more nodes, or more hits, than a query may have, or what is no node.
	ErrQuery = errors.New("not a query")
	// ErrClosed: the index was closed.
	ErrClosed = errors.New("index closed")
)

// MaxHits is the most that Query.Limit may be.
const MaxHits = 10_000

// Options are the settings of an Index; the zero value is right for the product.
type Options struct {
	Cache    int64        // bytes of checked pages kept in memory; 0: 64 MiB
	Log      *slog.Logger // nil: silent
	MaxNodes int          // terms and nodes a query may have; 0: 256

	// AllowMerge tells whether a merge may take so many bytes of the disk, for as long as
	// searches see what it merged. nil: it may. It is asked by one goroutine.
	AllowMerge func(bytes int64) bool
}

func (o Options) filled() Options {
	if o.Cache <= 0 {
		o.Cache = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = 256
	}
	return o
}

// Index is an open index. It is safe for many goroutines; one process has it.
type Index struct {
	dir     string
	files   fileSystem
	cache   *segment.Cache
	options Options

	nextSegment atomic.Uint64 // number of the next segment
	writeMu     sync.Mutex    // held where the manifest changes: Apply, and the end of a merge

	mu       sync.Mutex
	current  *snapshot // nil when closed
	mergeErr error     // what a merge met, of ErrDamaged

	merger merger
}

// Open opens the index in dir, and makes it where there is none. Its errors are
// ErrDamaged and ErrOtherFormat, and those of the operating system.
func Open(dir string, o Options) (*Index, error) {
	x, err := open(dir, o, osFileSystem{})
	if err != nil {
		return nil, err
	}
	x.merger.start(x)
	return x, nil
}

// open opens an index that does not merge by itself.
func open(dir string, o Options, fs fileSystem) (*Index, error) {
	x := &Index{dir: dir, files: fs, options: o.filled()}
	x.cache = segment.NewCache(x.options.Cache)
	if err := fs.Mkdir(dir); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	m, err := x.readOrCreateManifest()
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if err := x.removeUnlisted(m); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	s, err := x.load(m)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	x.current = s
	x.nextSegment.Store(m.nextSegment)
	x.merger.wake = make(chan struct{}, 1)
	return x, nil
}

// Checkpoint returns what the last Apply was given, or nil.
func (x *Index) Checkpoint() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil
	}
	return append([]byte(nil), x.current.checkpoint...)
}

// Stats is how large an index is.
type Stats struct {
	Documents int   // that are not gone
	Bytes     int64 // on disk, without the manifest
	Segments  int
}

// Inspect returns the size and the mark of the index in dir, which nobody has open, by its
// manifest. It writes nothing, and of segments sees how long they are. Errors: ErrDamaged,
// ErrOtherFormat, fs.ErrNotExist.
func Inspect(dir string) (st Stats, mark []byte, err error) {
	m, err := readManifest(dir)
	if err != nil {
		return st, nil, err
	}
	for _, l := range m.segments {
		st.Documents += int(l.Docs) - l.tombstones.Count()
		st.Bytes += l.Size
		st.Segments++
	}
	return st, m.checkpoint, nil
}

// Stats returns how large the index is; zero when it is closed.
func (x *Index) Stats() Stats {
	s, err := x.acquire()
	if err != nil {
		return Stats{}
	}
	defer s.release()
	var st Stats
	for _, v := range s.views {
		st.Documents += int(v.segment.Docs) - v.tombstones.Count()
		st.Bytes += v.segment.Size
		st.Segments++
	}
	return st
}

// Close stops merging, waits for it, and lets go of the files once the searches under
// way are done.
func (x *Index) Close() error {
	x.merger.stop()
	x.writeMu.Lock()
	defer x.writeMu.Unlock()
	x.mu.Lock()
	s := x.current
	x.current = nil
	x.mu.Unlock()
	if s != nil {
		s.release()
	}
	return nil
}

// Check reads every page of every segment and holds it against its checksum. An error
// of it names the segment.
func (x *Index) Check(ctx context.Context) error {
	s, err := x.acquire()
	if err != nil {
		return err
	}
	defer s.release()
	for _, v := range s.views {
		if err := v.segment.Check(ctx); err != nil {
			return err
		}
	}
	return nil
}
