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

// MemoryBudget limits the total memory for the bodies of all concurrent requests. It has three parts, so that small
// bodies never wait for large ones:
//
//	|  small: 1/8  |  large: 4/8                    |  decoded: 3/8         |
//
// The "decoded" part is for memory that decoding allocates. It is granted first come, first served. A body that has
// memory from this part never waits for its client or for another part.
//
// Bodies acquire memory as their bytes arrive. An owner (an API key, a user, or all signed-out clients together) can
// use at most half of the small part and half of the large part, so other owners can always get some. If a body needs
// more memory than is free, it waits. If it waits too long, the request gets a 503.
//
// A large response has memory until the client has received it. So if a request has to wait, Full is called, which
// disconnects a slow client.
type MemoryBudget struct {
	Full func() // may be nil

	small, large, decoded *memoryPool
	wait                  time.Duration
}

const (
	// FreeBodyBytes is the number of bytes of each body that are not counted. It equals the size that net/http uses
	// for request headers. Because of it, short bodies never wait.
	FreeBodyBytes = 4 << 10
	// maxSmallBody is the maximum size of a small body, in bytes.
	maxSmallBody = 64 << 10
	// freeDecodedBytes is the number of bytes that decoding a body may allocate without being counted.
	freeDecodedBytes = 32 << 10
	// memberCost is an upper bound, in bytes, of the memory for decoding one member or field: the map entry, the
	// name, the copies made while the map grows, and the decoded value.
	memberCost = 704
	// maxMembers is the maximum number of members in a body. Package decode enforces it.
	maxMembers = 65536
)

// NewMemoryBudget returns a budget of size bytes. A request waits for memory for at most the duration wait. If size
// is 0 or less, there is no limit, and NewMemoryBudget returns nil.
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

// ErrBusy rejects a request that waited too long for memory or for its turn.
var ErrBusy = &Error{Status: http.StatusServiceUnavailable, Message: "Too many large requests at the same time. Try again in a moment."}

// InUse returns the number of bytes in use in the small and large parts.
func (b *MemoryBudget) InUse() (small, large int64) { return b.small.inUse(), b.large.inUse() }

// Reservation is the memory that a request has acquired from a MemoryBudget. The caller must release it. It is not
// safe for concurrent use.
type Reservation struct {
	budget       *MemoryBudget // nil means no limit
	owner        string
	small, large allocation
	decoded      allocation
	arrived      int64 // body bytes counted by Add
	covered      int64 // body bytes for which memory has been acquired

	granted func(waited time.Duration) // called after each acquisition; may be nil
}

// Reserve returns an empty reservation for owner. After each acquisition, granted is called with the time spent
// waiting. Both b and granted may be nil.
func (b *MemoryBudget) Reserve(owner string, granted func(waited time.Duration)) Reservation {
	return Reservation{budget: b, owner: owner, granted: granted}
}

// Add acquires memory for n more bytes of a body whose maximum size is maxSize bytes. It acquires more than n bytes
// in advance so that only a few calls have to wait.
func (r *Reservation) Add(ctx context.Context, n, maxSize int64) error {
	if r.arrived += n; r.arrived <= r.covered {
		return nil
	}
	return r.Cover(ctx, min(max(r.arrived, 2*r.covered), maxSize), maxSize, false)
}

// Cover acquires memory until the reservation covers the first n bytes of a body. The maximum size of the body is
// maxSize bytes. exact means that maxSize is the Content-Length. If it is false, the body is treated as small at
// first.
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
	err := pool.acquire(a, size, func() (context.Context, context.CancelFunc) {
		if r.budget.Full != nil {
			r.budget.Full()
		}
		return context.WithTimeout(ctx, r.budget.wait)
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return ErrBusy
	case r.granted != nil:
		r.granted(time.Since(since))
	}
	return nil
}

// AcquireLarge acquires n bytes of the large part in one step. If the reservation already has memory from the large
// part, AcquireLarge does nothing.
func (r *Reservation) AcquireLarge(ctx context.Context, n int64) error {
	if r.budget == nil || r.HasLarge() {
		return nil
	}
	return r.acquire(ctx, r.budget.large, &r.large, n, n)
}

// HasLarge reports whether the reservation has memory from the large part.
func (r *Reservation) HasLarge() bool { return r.large.held > 0 }

// AcquireDecoded acquires memory for decoding a body. n is the DecodedCost of the body.
func (r *Reservation) AcquireDecoded(ctx context.Context, n int64) error {
	if r.budget == nil || n <= freeDecodedBytes {
		return nil
	}
	return r.acquire(ctx, r.budget.decoded, &r.decoded, n, n)
}

// DecodedCost returns an upper bound, in bytes, of the memory that decoding a JSON or urlencoded body allocates.
// Values are copied, or copied twice if they contain escapes. Each member adds memberCost. Members are counted by the
// separators in front of them.
func DecodedCost(raw []byte) int64 {
	members := 1
	for _, separator := range []string{",", "{", "[", "&", "%"} {
		members += bytes.Count(raw, []byte(separator))
	}
	return 2*int64(len(raw)) + memberCost*int64(min(members, maxMembers))
}

// ReleaseDecoded releases the memory that AcquireDecoded acquired.
func (r *Reservation) ReleaseDecoded() {
	if r.budget != nil {
		r.budget.decoded.release(&r.decoded)
	}
}

// Finish records that the body has ended and doesn't need more memory.
func (r *Reservation) Finish() {
	if r.budget != nil {
		r.budget.small.shrink(&r.small)
		r.budget.large.shrink(&r.large)
	}
}

// Release releases all memory of the reservation.
func (r *Reservation) Release() {
	if r.budget == nil {
		return
	}
	r.budget.small.release(&r.small)
	r.budget.large.release(&r.large)
	r.ReleaseDecoded()
	r.covered = 0
}

// LimitBody returns a body that acquires memory for owner as the body is read. The caller must call release to
// release the memory. If memory isn't available in time, reading fails with errs.Unavailable. maxSize is the size of
// body, or the maximum number of bytes that are read from it. After each acquisition, granted is called with the time
// spent waiting. granted may be nil.
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
	if busy := l.memory.Add(l.ctx, int64(n), l.maxSize); errors.Is(busy, ErrBusy) {
		return n, errs.NotNow(errs.Busy, ErrBusy.Message, busy)
	} else if busy != nil {
		return n, busy
	}
	if errors.Is(err, io.EOF) {
		l.memory.Finish()
	}
	return n, err
}
