package query

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"deedkeep/app/search/index"
)

// What is wrong with an index. The caller removes it and makes it anew.
var (
	ErrDamaged     = index.ErrDamaged     // it is not what was written
	ErrOtherFormat = index.ErrOtherFormat // another version of the program wrote it
)

// ErrTerm is Apply's where a document of the batch cannot be written; the index is as
// it was.
var ErrTerm = index.ErrTerm

// Options are what an index may use, and what queries may ask. Zero is the default.
type Options struct {
	Cache    int64         // bytes of the index kept in memory; 64 MB
	Deadline time.Duration // of a query; 2 s
	MaxWords int           // of a query; 32
	MaxDepth int           // Offset and Limit of a query together; 1,000, and at most 4,999
	Log      *slog.Logger  // nil for none

	AllowMerge func(bytes int64) bool // whether a merge may take so much of the disk; nil: it may
}

// The defaults.
const (
	defaultDeadline = 2 * time.Second
	defaultMaxWords = 32
	defaultMaxDepth = 1_000
)

// Index is an open index. Its methods may be called from several goroutines.
type Index struct {
	engine  *index.Index
	options Options
}

// Open opens the index in a directory, or makes an empty one. Errors: ErrDamaged,
// ErrOtherFormat.
func Open(dir string, o Options) (*Index, error) {
	o = o.withDefaults()
	engine, err := index.Open(dir, index.Options{Cache: o.Cache, Log: o.Log, MaxNodes: maxNodes(o.MaxWords), AllowMerge: o.AllowMerge})
	if err != nil {
		return nil, fmt.Errorf("open the index of words: %w", err)
	}
	return &Index{engine: engine, options: o}, nil
}

// withDefaults has the defaults for what is not set.
func (o Options) withDefaults() Options {
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.MaxWords <= 0 {
		o.MaxWords = defaultMaxWords
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultMaxDepth
	}
	o.MaxDepth = min(o.MaxDepth, (index.MaxHits-1)/2) // a stage asks for those of the one before again
	return o
}

// Apply makes what a batch gathered part of the index, with a mark of the caller's:
// all of it, synced, or nothing.
func (x *Index) Apply(ctx context.Context, b *Batch, mark []byte) error {
	if err := x.engine.Apply(ctx, b.engine, mark); err != nil {
		return fmt.Errorf("put a batch into the index of words: %w", err)
	}
	return nil
}

// Checkpoint is that of the last Apply, nil before the first.
func (x *Index) Checkpoint() []byte { return x.engine.Checkpoint() }

// Stats is how large an index is.
type Stats = index.Stats

// Inspect returns the size and the mark of the index in a directory that nobody has open.
// It writes nothing. Errors: ErrDamaged, ErrOtherFormat, fs.ErrNotExist.
func Inspect(dir string) (Stats, []byte, error) { return index.Inspect(dir) }

// Stats returns how large the index is.
func (x *Index) Stats() Stats { return x.engine.Stats() }

// Check reads all of the index and holds it against its checksums. Error: ErrDamaged.
func (x *Index) Check(ctx context.Context) error { return x.engine.Check(ctx) }

// Close ends the use of the index, when no query and no Apply is under way any more.
func (x *Index) Close() error { return x.engine.Close() }
