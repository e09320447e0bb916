package api

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// room is the memory that the bodies of all requests may take together. An eighth
// of it is for small bodies alone, which so never wait behind large ones:
//
//	|  small: 1/8  |  large: 7/8                                    |
//
// Who needs more than is left waits, and is then told to come back.
type room struct {
	small, large *semaphore.Weighted
	most         int64 // of large
	wait         time.Duration
}

// smallBody is the most a request takes of the room for small bodies, in bytes.
const smallBody = 64 << 10

// newRoom makes room for so many bytes; none or less is no limit.
func newRoom(bytes int64, wait time.Duration) *room {
	if bytes <= 0 {
		return nil
	}
	small := bytes / 8
	return &room{small: semaphore.NewWeighted(max(small, smallBody)), large: semaphore.NewWeighted(bytes - small), most: bytes - small, wait: wait}
}

var errBusy = &refusal{status: http.StatusServiceUnavailable, message: "Too many large requests at once; try again in a moment."}

// share is what one request has taken of the room, which it must release.
type share struct {
	room         *room // nil: no limit
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
