package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"deedkeep/app/errs"
)

// Room is the memory that the bodies of all requests may take together. An eighth
// of it is for small bodies alone, which so never wait behind large ones:
//
//	|  small: 1/8  |  large: 4/8                    |  decoded: 3/8         |
//
// What decoding makes of a body has a part of its own, first come first served: a body
// waits for no client and for nothing else of the room while it has some of that.
//
// Bodies take memory as their bytes arrive. An owner (an API key, a user, or all who are
// signed out) has at most half of the first two parts, so there is always some for another
// one. A body that needs more than there is waits, and gets a 503 if that takes too long.
type Room struct {
	small, large, decoded *pool
	wait                  time.Duration
}

const (
	// freeBody is how many bytes of a body are not counted: as many as net/http has for
	// the head of any request, so that short bodies never wait.
	freeBody = 4 << 10
	// smallBody is the most a request takes of the room for small bodies, in bytes.
	smallBody = 64 << 10
	// freeDecoded is what decoding may make of a body without being counted.
	freeDecoded = 32 << 10
	// memberCost is what decoding allocates for one member or field, at most: entries of
	// maps, its name, and the copies while these grow.
	memberCost = 512
	// mostMembers is how many of them a body may have (app/decode).
	mostMembers = 65536
)

// NewRoom makes room for so many bytes, for which a request waits so long; none or less
// is no limit, and a nil Room.
func NewRoom(size int64, wait time.Duration) *Room {
	if size <= 0 {
		return nil
	}
	small, decoded := max(size/8, 2*smallBody), size*3/8
	large := size - size/8 - decoded
	return &Room{small: newPool(small, small/2), large: newPool(large, large/2), decoded: newPool(decoded, decoded), wait: wait}
}

var errBusy = &refusal{status: http.StatusServiceUnavailable, message: "Too many large requests at once; try again in a moment."}

// share is what one request has taken of the room, which it must release.
type share struct {
	room         *Room // nil: no limit
	owner        string
	small, large hold
	decoded      hold
	arrived      int64 // bytes, where they are counted one by one
	covered      int64 // bytes that it has memory for

	granted func(waited time.Duration) // is called whenever it got memory; or nil
}

// count counts n bytes more of a body of no more than most in the end.
func (s *share) count(ctx context.Context, n, most int64) error {
	if s.arrived += n; s.arrived <= s.covered {
		return nil
	}
	return s.cover(ctx, min(max(s.arrived, 2*s.covered), most), most, false)
}

// cover gets memory for n bytes in all, of a body of no more than most in the end. A
// body whose length is not known begins among the small ones.
func (s *share) cover(ctx context.Context, n, most int64, known bool) error {
	if s.room == nil || n <= max(freeBody, s.covered) {
		return nil
	}
	var err error
	if n <= smallBody && (most <= smallBody || !known) {
		err = s.grow(ctx, s.room.small, &s.small, n, min(most, smallBody))
	} else {
		s.room.small.settle(&s.small)
		err = s.grow(ctx, s.room.large, &s.large, n-s.small.held, most-s.small.held)
	}
	if err == nil {
		s.covered = n
	}
	return err
}

func (s *share) grow(ctx context.Context, of *pool, h *hold, size, claim int64) error {
	if h.held == 0 {
		of.claim(h, s.owner, claim)
	}
	since := time.Now()
	err := of.grow(h, size, func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, s.room.wait) })
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errBusy
	case s.granted != nil:
		s.granted(time.Since(since))
	}
	return nil
}

// take takes n bytes of the large part in one step.
func (s *share) take(ctx context.Context, n int64) error {
	if s.room == nil || s.large.held > 0 {
		return nil
	}
	return s.grow(ctx, s.room.large, &s.large, n, n)
}

// decode takes memory for what decoding makes of a body, by its decodedCost.
func (s *share) decode(ctx context.Context, n int64) error {
	if s.room == nil || n <= freeDecoded {
		return nil
	}
	return s.grow(ctx, s.room.decoded, &s.decoded, n, n)
}

// decodedCost is the most that decoding a JSON or urlencoded body takes: its values are
// copied, twice where they hold escapes, and each member has its own cost. Every member
// comes after one of these characters.
func decodedCost(raw []byte) int64 {
	members := 1
	for _, before := range []string{",", "{", "[", "&", "%"} {
		members += bytes.Count(raw, []byte(before))
	}
	return 2*int64(len(raw)) + memberCost*int64(min(members, mostMembers))
}

// forget gives back what decoding took.
func (s *share) forget() {
	if s.room != nil {
		s.room.decoded.release(&s.decoded)
	}
}

// settle says that the body has ended, and takes no more.
func (s *share) settle() {
	if s.room != nil {
		s.room.small.settle(&s.small)
		s.room.large.settle(&s.large)
	}
}

func (s *share) release() {
	if s.room == nil {
		return
	}
	s.room.small.release(&s.small)
	s.room.large.release(&s.large)
	s.forget()
	s.covered = 0
}

// Count gives a body of a request that is not of /v1, which takes memory for its owner as
// it is read, until release is called. Where there is none in time, reading it ends with
// title.Closing. most is its length, or the most that is read of it; granted is
// called when it got memory, with how long it waited for that.
func (r *Room) Count(ctx context.Context, owner string, body io.ReadCloser, most int64, granted func(waited time.Duration)) (counted io.ReadCloser, release func()) {
	c := &countedBody{ReadCloser: body, ctx: ctx, most: most, share: share{room: r, owner: owner, granted: granted}}
	return c, c.share.release
}

type countedBody struct {
	io.ReadCloser
	ctx   context.Context
	most  int64
	share share
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if busy := c.share.count(c.ctx, int64(n), c.most); errors.Is(busy, errBusy) {
		return n, &errs.Error{Kind: errs.Unavailable, Message: errBusy.message, Err: busy}
	} else if busy != nil {
		return n, busy
	}
	if errors.Is(err, io.EOF) {
		c.share.settle()
	}
	return n, err
}
