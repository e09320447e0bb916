package query

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"deedkeep/app/search/index"
)

// Errors for an index that can't be used. The caller deletes the directory and rebuilds the index.
var (
	ErrDamaged     = index.ErrDamaged     // the files differ from what was written
	ErrOtherFormat = index.ErrOtherFormat // another version of deedkeep wrote the index
)

// ErrTerm is returned by Apply if the batch contains an invalid document. The index is unchanged.
var ErrTerm = index.ErrTerm

// Options configures an Index. Zero values mean the defaults.
type Options struct {
	Cache    int64         // size of the page cache in bytes; default 64 MB
	Deadline time.Duration // maximum duration of a search; default 2 s
	MaxWords int           // maximum number of words in a query; default 32
	MaxDepth int           // maximum of Query.Offset + Query.Limit; default 1,000, no higher than 4,999
	Log      *slog.Logger  // nil discards messages

	AllowMerge func(bytes int64) bool // reports whether a merge may use that much disk space; nil allows it
}

// Defaults of Options.
const (
	defaultDeadline = 2 * time.Second
	defaultMaxWords = 32
	defaultMaxDepth = 1_000
)

// Index is an open search index. It is safe for concurrent use.
type Index struct {
	*index.Index
	options Options
}

// Open opens the index in a directory, or creates an empty one. If the index can't be used, it
// returns ErrDamaged or ErrOtherFormat.
func Open(dir string, o Options) (*Index, error) {
	o = o.withDefaults()
	engine, err := index.Open(dir, index.Options{Cache: o.Cache, Log: o.Log, MaxNodes: maxNodes(o.MaxWords) + maxPartyNodes,
		AllowMerge: o.AllowMerge})
	if err != nil {
		return nil, fmt.Errorf("open word index: %w", err)
	}
	return &Index{engine, o}, nil
}

// withDefaults returns the options with defaults for zero values.
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
	o.MaxDepth = min(o.MaxDepth, (index.MaxHits-1)/2) // a stage finds the hits of earlier stages again
	return o
}

// Apply adds a batch to the index and replaces the checkpoint, atomically and durably.
func (i *Index) Apply(ctx context.Context, b *Batch, checkpoint []byte) error {
	if err := i.Index.Apply(ctx, b.engine, checkpoint); err != nil {
		return fmt.Errorf("apply batch to word index: %w", err)
	}
	return nil
}

// Stats describes the size of an index.
type Stats = index.Stats

// Inspect returns the size and checkpoint of an index that is not open. It does not modify the
// index. It returns ErrDamaged, ErrOtherFormat, or fs.ErrNotExist if the index can't be read.
func Inspect(dir string) (Stats, []byte, error) { return index.Inspect(dir) }
