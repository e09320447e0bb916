// Package blob defines what app/blobstore needs of the place that keeps the bytes of documents: complete, immutable
// blobs by SHA-256. Engines are in subpackages.
//
// Each method that may reach a disk or a network takes a context and returns an error. Engines know neither the records
// that reference a blob nor which blobs are pinned, and don't verify what they store.
package blob

import (
	"context"
	"errors"
	"io"
)

var (
	// ErrInUse means that a blob can't be replaced or deleted while it is read.
	ErrInUse = errors.New("blob is in use")
	// ErrFull means that there is no space left, or that a quota is used up.
	ErrFull = errors.New("disk full")
	// ErrSync means that a sync failed for a reason other than missing space. Later writes can't be trusted.
	ErrSync = errors.New("sync failed")
)

// Engine keeps blobs. Its methods are safe for concurrent use. For a blob that doesn't exist, they return an error that
// wraps fs.ErrNotExist.
type Engine interface {
	// Put takes the closed and synced file at path, which has the given digest, and replaces any existing blob. After
	// that, there is no file at path, unless it is another name of the blob's file. Readers see the old blob or the
	// complete new one. After an error, the file is still at path.
	Put(ctx context.Context, d Digest, path string) error
	// Sync returns nil if the results of all earlier calls of Put for the digests survive a power failure.
	Sync(ctx context.Context, digests ...Digest) error
	// Open opens a blob. The caller closes it. The context is used only for opening.
	Open(ctx context.Context, d Digest) (Reader, error)
	// Stat returns the state of a blob without reading its content.
	Stat(ctx context.Context, d Digest) (State, error)
	// Delete deletes a blob. It doesn't have to survive a power failure.
	Delete(ctx context.Context, d Digest) error
	// List calls visit for every blob, in the order of digests. It may or may not visit a blob that is put or deleted at
	// the same time. It calls stray, which may be nil, with the place of anything else that it finds. It stops at the
	// first error.
	List(ctx context.Context, visit func(Entry) error, stray func(place string) error) error
}

// Reader is an open blob. ReadAt is safe for concurrent use. A reader keeps the content that the blob had when it was
// opened, even if the blob is replaced or deleted.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
	// State returns the present state of the open blob.
	State() (State, error)
	// Uncache hints that later reads should come from the disk and not from a cache.
	Uncache()
}

// State is the state of a blob. If two states of a blob are equal, it wasn't written between them.
type State struct {
	Size     int64     // bytes
	Modified int64     // nanoseconds since 1970
	Version  [3]uint64 // chosen by the engine
}

// Entry is one blob in a list.
type Entry struct {
	Digest Digest
	Size   int64 // bytes
}
