package httpx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"deedkeep/app/errs"
)

// MemoryBudget limits the memory that the bodies of all requests use at the same time. It has three parts, so that
// small bodies never wait for large ones:
//
//	|  small: 1/8  |  large: 4/8                    |  decoded: 3/8         |
//
// The part "decoded" is for what decoding allocates. It is granted first come, first served; a body that has a share
// of it waits neither for its client nor for another part.
//
// Bodies acquire memory as their bytes arrive. An owner (an API key, a user, or all signed-out clients together) has
// at most half of each of the first two parts, so some always remains for others. A body that needs more than is
// free waits and gets a 503 if the wait takes too long.
type MemoryBudget struct {
	small, large, decoded *memoryPool
	wait                  time.Duration
}

const (
	// FreeBodyBytes is how many bytes of a body are not counted: as many as net/http uses for
	// the header of a request, so short bodies never wait.
	FreeBodyBytes = 4 << 10
	// maxSmallBody is the size in bytes up to which a body counts as small.
	maxSmallBody = 64 << 10
	// freeDecodedBytes is how much decoding may allocate for a body without being counted.
	freeDecodedBytes = 32 << 10
	// memberCost bounds what decoding allocates for one member or field, in bytes: map entries,
	// the name, and the copies while the map grows.
	memberCost = 512
	// maxMembers is the maximum number of members in a body, as package decode enforces it.
	maxMembers = 65536
)

// NewMemoryBudget returns a budget of size bytes, for which a request waits at most wait. A size of 0 or less
// means no limit, which is a nil budget.
func NewMemoryBudget(size int64, wait time.Duration) *MemoryBudget {
	if size <= 0 {
		return nil
	}
	small, decoded := max(size/8, 2*maxSmallBody), size*3/8
	large := size - size/8 - decoded
	return &MemoryBudget{
		small: newMemoryPool(small, small/2), large: newMemoryPool(large, large/2),
		decoded: newMemoryPool(decoded, decoded), wait: wait,
	}
}

var errBusy = &Error{Status: http.StatusServiceUnavailable, Message: "Too many large requests at once; try again in a moment."}

// InUse returns how many bytes of its first two parts are acquired.
func (b *MemoryBudget) InUse() (small, large int64) { return b.small.inUse(), b.large.inUse() }

// Reservation is the memory that one request has acquired from a MemoryBudget. The caller must release it. It is not
// safe for concurrent use.
type Reservation struct {
	budget       *MemoryBudget // nil: no limit
	owner        string
	small, large allocation
	decoded      allocation
	arrived      int64 // bytes counted by Add
	covered      int64 // bytes of the body for which memory is acquired

	granted func(waited time.Duration) // called after each acquisition; may be nil
}

// Reserve returns an empty reservation of owner. granted, which may be nil, is called after each acquisition with the
// time that it waited. b may be nil.
func (b *MemoryBudget) Reserve(owner string, granted func(waited time.Duration)) Reservation {
	return Reservation{budget: b, owner: owner, granted: granted}
}

// Add acquires memory for n more bytes of a body that has at most maxSize bytes. It acquires ahead, so
// that few calls wait.
func (r *Reservation) Add(ctx context.Context, n, maxSize int64) error {
	if r.arrived += n; r.arrived <= r.covered {
		return nil
	}
	return r.Cover(ctx, min(max(r.arrived, 2*r.covered), maxSize), maxSize, false)
}

// Cover acquires memory until it covers the first n bytes of a body of at most maxSize bytes. exact says that maxSize
// is the Content-Length; a body of unknown length starts as a small one.
func (r *Reservation) Cover(ctx context.Context, n, maxSize int64, exact bool) error {
	if r.budget == nil || n <= max(FreeBodyBytes, r.covered) {
		return nil
	}
	var err error
	if n <= maxSmallBody && (maxSize <= maxSmallBody || !exact) {
		err = r.acquire(ctx, r.budget.small, &r.small, n, min(maxSize, maxSmallBody))
	} else {
		r.budget.small.shrink(&r.small)
		err = r.acquire(ctx, r.budget.large, &r.large, n-r.small.held, maxSize-r.small.held)
	}
	if err == nil {
		r.covered = n
	}
	return err
}

func (r *Reservation) acquire(ctx context.Context, pool *memoryPool, a *allocation, size, maxSize int64) error {
	if a.held == 0 {
		pool.announce(a, r.owner, maxSize)
	}
	since := time.Now()
	err := pool.acquire(a, size, func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, r.budget.wait) })
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errBusy
	case r.granted != nil:
		r.granted(time.Since(since))
	}
	return nil
}

// AcquireLarge acquires n bytes of the large part in one step, unless the reservation has some of it already.
func (r *Reservation) AcquireLarge(ctx context.Context, n int64) error {
	if r.budget == nil || r.HasLarge() {
		return nil
	}
	return r.acquire(ctx, r.budget.large, &r.large, n, n)
}

// HasLarge reports whether the reservation has memory of the large part.
func (r *Reservation) HasLarge() bool { return r.large.held > 0 }

// AcquireDecoded acquires memory for decoding a body; n is its DecodedCost.
func (r *Reservation) AcquireDecoded(ctx context.Context, n int64) error {
	if r.budget == nil || n <= freeDecodedBytes {
		return nil
	}
	return r.acquire(ctx, r.budget.decoded, &r.decoded, n, n)
}

// DecodedCost returns an upper bound of what decoding a JSON or urlencoded body allocates, in bytes. Values are
// copied, twice if they contain escapes, and each member has its own cost. Every member follows one
// of the characters that are counted here.
func DecodedCost(raw []byte) int64 {
	members := 1
	for _, separator := range []string{",", "{", "[", "&", "%"} {
		members += bytes.Count(raw, []byte(separator))
	}
	return 2*int64(len(raw)) + memberCost*int64(min(members, maxMembers))
}

// ReleaseDecoded releases what AcquireDecoded acquired.
func (r *Reservation) ReleaseDecoded() {
	if r.budget != nil {
		r.budget.decoded.release(&r.decoded)
	}
}

// Finish records that the body has ended and needs no more memory than it has.
func (r *Reservation) Finish() {
	if r.budget != nil {
		r.budget.small.shrink(&r.small)
		r.budget.large.shrink(&r.large)
	}
}

// Release releases everything.
func (r *Reservation) Release() {
	if r.budget == nil {
		return
	}
	r.budget.small.release(&r.small)
	r.budget.large.release(&r.large)
	r.ReleaseDecoded()
	r.covered = 0
}

// LimitBody returns a body that acquires memory for owner as it is read, until release is called. If memory isn't
// available in time, reading fails with errs.Unavailable. maxSize is the length of body, or the maximum that is read
// of it. granted, which may be nil, is called after each acquisition with the time that it waited.
func (b *MemoryBudget) LimitBody(
	ctx context.Context, owner string, body io.ReadCloser, maxSize int64, granted func(waited time.Duration),
) (limited io.ReadCloser, release func()) {
	l := &limitedBody{ReadCloser: body, ctx: ctx, maxSize: maxSize, memory: b.Reserve(owner, granted)}
	return l, l.memory.Release
}

type limitedBody struct {
	io.ReadCloser
	ctx     context.Context
	maxSize int64
	memory  Reservation
}

func (l *limitedBody) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if busy := l.memory.Add(l.ctx, int64(n), l.maxSize); errors.Is(busy, errBusy) {
		return n, &errs.Error{Kind: errs.Unavailable, Message: errBusy.Message, Err: busy}
	} else if busy != nil {
		return n, busy
	}
	if errors.Is(err, io.EOF) {
		l.memory.Finish()
	}
	return n, err
}
