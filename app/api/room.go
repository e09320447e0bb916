package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"deedkeep/app/title"
)

// Room is the memory that the bodies of all requests may take together. An eighth
// of it is for small bodies alone, which so never wait behind large ones:
//
//	|  small: 1/8  |  large: 7/8                                    |
//
// Who needs more than is left waits, and is then told to come back.
type Room struct {
	small, large *semaphore.Weighted
	most         int64 // of large
	wait         time.Duration
}

// smallBody is the most a request takes of the room for small bodies, in bytes.
const smallBody = 64 << 10

// NewRoom makes room for so many bytes, for which a request waits so long; none or less
// is no limit, and a nil Room.
func NewRoom(bytes int64, wait time.Duration) *Room {
	if bytes <= 0 {
		return nil
	}
	small := bytes / 8
	return &Room{small: semaphore.NewWeighted(max(small, smallBody)), large: semaphore.NewWeighted(bytes - small), most: bytes - small, wait: wait}
}

var errBusy = &refusal{status: http.StatusServiceUnavailable, message: "Too many large requests at once; try again in a moment."}

// share is what one request has taken of the room, which it must release.
type share struct {
	room         *Room // nil: no limit
	small, large int64
}

// take asks for n bytes more, of a body that is known to have most in the end: a
// body that outgrows the small room takes all of that at once, so that no two wait
// for each other.
func (s *share) take(ctx context.Context, n, most int64) error {
	if s.room == nil || s.large > 0 || n <= 0 {
		return nil
	}
	of, held := s.room.small, &s.small
	if s.small+n > smallBody {
		of, held, n = s.room.large, &s.large, min(max(n, most), s.room.most)
	}
	waiting, cancel := context.WithTimeout(ctx, s.room.wait)
	defer cancel()
	if err := of.Acquire(waiting, n); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errBusy
	}
	*held += n
	return nil
}

func (s *share) release() {
	if s.room == nil {
		return
	}
	s.room.small.Release(s.small)
	s.room.large.Release(s.large)
	s.small, s.large = 0, 0
}

// Take takes n bytes for the body of a request that is not of /v1, until release is
// called. It is ctx's error when that ends first, and title.Closing when nothing was
// free in time.
func (r *Room) Take(ctx context.Context, n int64) (release func(), err error) {
	s := &share{room: r}
	if err := s.take(ctx, n, n); errors.Is(err, errBusy) {
		return nil, &title.Error{Kind: title.Closing, Message: errBusy.message, Err: err}
	} else if err != nil {
		return nil, err
	}
	return s.release, nil
}
