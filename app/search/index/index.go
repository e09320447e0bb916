// Package index implements an inverted index on disk. It stores which documents contain which
// terms, how often, and at which positions. Terms are byte strings whose meaning is up to the
// caller.
//
//	dir/
//	  manifest           the segments of the index, and the caller's checkpoint (manifest.go)
//	  manifest.new       the next manifest, until it is renamed
//	  000017.segment     the documents of one batch or merge; immutable (app/search/index/segment)
//
// A Batch collects documents, and Apply writes it as a segment. Adjacent segments are merged in the
// background. A replaced or removed document is marked with a tombstone in the manifest until its
// segment is merged.
//
// A segment numbers its documents from the newest, which is 0, to the oldest, and a search starts
// with the newest segment. This way, the first of several matches with the same score is the best
// one, and reading a million matches with the same score costs no more than counting them.
//
// Guarantees: Apply is atomic and durable, including the checkpoint. A search uses one snapshot
// from start to end. Every byte read from disk is verified, and damage is returned as an error. An
// open index keeps its cache in memory, and for each segment a few bytes per page, up to 4 MiB of
// the dictionary, and one bit per document if some are deleted. A search keeps up to twice 4,096
// positions per phrase in memory. A Batch keeps everything added to it in memory. To limit that,
// the caller checks Bytes.
//
// Out of scope: storing the documents, repairing damage (delete and rebuild the index instead), and
// unbounded queries. Only the first 4,096 positions of a term in a document are stored. Later
// occurrences count for the score but do not match phrases.
package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"deedkeep/app/search/index/segment"
)

// Errors to check with errors.Is. Methods also return errors of the context and of the operating
// system.
var (
	// ErrDamaged means that the files differ from what was written. Delete the directory and
	// rebuild the index.
	ErrDamaged = segment.ErrDamaged
	// ErrOtherFormat means that another version wrote the index. Delete the directory and rebuild
	// the index.
	ErrOtherFormat = errors.New("unsupported search index format")
	// ErrTerm means that a term is empty or longer than MaxTermBytes, or that its positions are not
	// in order.
	ErrTerm = errors.New("invalid term")
	// ErrQuery means that a query has too many nodes or an invalid limit.
	ErrQuery = errors.New("invalid query")
	// ErrClosed means that the index is closed.
	ErrClosed = errors.New("search index is closed")
)

// MaxHits is the maximum value of Query.Limit.
const MaxHits = 10_000

// Options configures an Index. Zero values mean the defaults.
type Options struct {
	Cache    int64        // size of the page cache in bytes; default 64 MiB
	Log      *slog.Logger // nil discards messages
	MaxNodes int          // maximum number of terms and nodes in a query; default 256

	// AllowMerge reports whether a merge may take the given number of bytes on disk. The space is
	// used until no search uses the merged segments anymore. nil allows every merge. AllowMerge is
	// called by only one goroutine.
	AllowMerge func(bytes int64) bool
}

// withDefaults returns the options with defaults for zero values.
func (o Options) withDefaults() Options {
	o.Cache = cmp.Or(max(o.Cache, 0), 64<<20)
	o.MaxNodes = cmp.Or(max(o.MaxNodes, 0), 256)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Index is an open index. It is safe for concurrent use. Only one process may open a directory.
type Index struct {
	dir     string
	files   fileSystem
	cache   *segment.Cache
	options Options

	nextSegment atomic.Uint64
	writeMu     sync.Mutex // held while the manifest is changed by Apply or at the end of a merge

	mu       sync.Mutex
	current  *snapshot // nil after Close
	mergeErr error     // ErrDamaged if a merge found damage; returned by the next Apply

	mergeCtx    context.Context // nil if there are no merges in the background
	stopMerging context.CancelFunc
	merges      sync.WaitGroup
	merging     chan struct{} // contains a value while merges run
	lowSpace    bool          // the last merge was skipped because of low disk space
}

// DropCache releases the memory of the cache.
func (in *Index) DropCache() { in.cache.Drop() }

// Open opens the index in dir or creates an empty one. It returns ErrDamaged or ErrOtherFormat if
// the index cannot be used, and errors of the operating system.
func Open(dir string, o Options) (*Index, error) {
	x, err := open(dir, o, osFileSystem{})
	if err != nil {
		return nil, err
	}
	x.startMerging()
	return x, nil
}

// open opens an index without starting background merges.
func open(dir string, o Options, fs fileSystem) (*Index, error) {
	x := &Index{dir: dir, files: fs, options: o.withDefaults(), merging: make(chan struct{}, 1)}
	x.cache = segment.NewCache(x.options.Cache)
	if err := fs.Mkdir(dir); err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	m, err := x.readOrCreateManifest()
	if err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	if err := x.removeUnlisted(m); err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	if x.current, err = x.load(m); err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	x.nextSegment.Store(m.nextSegment)
	return x, nil
}

// Checkpoint returns the checkpoint of the last Apply, or nil.
func (in *Index) Checkpoint() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current == nil {
		return nil
	}
	return append([]byte(nil), in.current.checkpoint...)
}

// Stats describes the size of an index.
type Stats struct {
	Documents int   // number of documents, excluding deleted ones
	Bytes     int64 // size on disk, excluding the manifest
	Segments  int
}

// Inspect returns the size and checkpoint of an index that is not open. It reads the manifest and
// checks the sizes of the segment files. It returns ErrDamaged, ErrOtherFormat, or fs.ErrNotExist
// if the index cannot be read.
func Inspect(dir string) (st Stats, checkpoint []byte, err error) {
	m, err := readManifest(dir)
	if err != nil {
		return st, nil, err
	}
	return m.stats(), m.checkpoint, nil
}

// stats returns the size of the index that the manifest lists.
func (m *manifest) stats() (st Stats) {
	for _, l := range m.segments {
		st.Documents += int(l.Docs) - l.tombstones.Count()
		st.Bytes += l.Size
		st.Segments++
	}
	return st
}

// Stats returns the size of the index, or the zero value if it is closed.
func (in *Index) Stats() Stats {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current == nil {
		return Stats{}
	}
	return in.current.stats()
}

// Close stops the background merges. The files are closed when the last running search ends. No Apply may
// be running.
func (in *Index) Close() error {
	if in.stopMerging != nil {
		in.stopMerging()
		in.merges.Wait()
	}
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	in.mu.Lock()
	s := in.current
	in.current = nil
	in.mu.Unlock()
	if s != nil {
		s.release()
	}
	return nil
}

// Check verifies the checksum of every page of every segment. The error contains the name of the
// segment.
func (in *Index) Check(ctx context.Context) error {
	s, err := in.acquire()
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
