package secret

import (
	"context"
	"slices"
	"sync"
	"time"
)

// QueueLimits bounds who waits for the check of a password.
type QueueLimits struct {
	MaxLength int           // how many may wait; 0: 512
	MaxWait   time.Duration // how long one of them; 0: 30 seconds
}

func (q QueueLimits) length() int {
	if q.MaxLength == 0 {
		return 512
	}
	return q.MaxLength
}

func (q QueueLimits) wait() time.Duration {
	if q.MaxWait == 0 {
		return 30 * time.Second
	}
	return q.MaxWait
}

// turns hands out a few turns, so that a crowd of one owner costs another at most the
// time of one of theirs: an owner has one turn at a time, and those who wait for one go
// in a ring.
//
//	ring ── owners, the next first ── each with its tickets, the oldest first
type turns struct {
	queue QueueLimits

	mu      sync.Mutex
	free    int
	waiting int             // tickets of all owners
	held    map[string]bool // owners that have a turn
	ring    []*line         // of those with tickets
}

type line struct {
	owner   string
	tickets []*ticket
}

// ticket is one who waits. Its channel is closed once it has a turn, or lost its place.
type ticket struct {
	called chan struct{}
	lost   bool
}

func newTurns(most int, queue QueueLimits) *turns {
	return &turns{queue: queue, free: most, held: map[string]bool{}}
}

// take waits for a turn. It returns ctx's error, or ErrBusy where the queue is full and
// the owner has no claim to another's place, and after the queue's time.
func (t *turns) take(ctx context.Context, owner string) error {
	mine, err := t.join(owner)
	if err != nil || mine == nil {
		return err
	}
	late := time.NewTimer(t.queue.wait())
	defer late.Stop()
	select {
	case <-mine.called:
		if mine.lost {
			return ErrBusy
		}
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = ErrBusy
	}
	t.leave(owner, mine)
	return err
}

// join gives a ticket; nil with a turn.
func (t *turns) join(owner string) (*ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 && !t.held[owner] {
		t.free--
		t.held[owner] = true
		return nil, nil
	}
	at := slices.IndexFunc(t.ring, func(l *line) bool { return l.owner == owner })
	own := 0
	if at >= 0 {
		own = len(t.ring[at].tickets)
	}
	if t.waiting >= t.queue.length() && !t.displace(own) {
		return nil, ErrBusy
	}
	if at < 0 {
		at = len(t.ring)
		t.ring = append(t.ring, &line{owner: owner})
	}
	mine := &ticket{called: make(chan struct{})}
	t.ring[at].tickets = append(t.ring[at].tickets, mine)
	t.waiting++
	return mine, nil
}

// displace takes the place of the newest ticket of the owner with the most, if they are
// more than one who has own tickets would have then.
func (t *turns) displace(own int) bool {
	longest := slices.MaxFunc(t.ring, func(a, b *line) int { return len(a.tickets) - len(b.tickets) })
	last := len(longest.tickets) - 1
	if last <= own {
		return false
	}
	lost := longest.tickets[last]
	longest.tickets, lost.lost = longest.tickets[:last], true
	t.waiting--
	close(lost.called)
	return true
}

// leave gives up a ticket, and the turn that it may have got in the same moment.
func (t *turns) leave(owner string, mine *ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, l := range t.ring {
		if i := slices.Index(l.tickets, mine); i >= 0 {
			l.tickets = slices.Delete(l.tickets, i, i+1)
			t.waiting--
			if len(l.tickets) == 0 {
				t.ring = slices.Delete(t.ring, at, at+1)
			}
			return
		}
	}
	if !mine.lost {
		t.pass(owner)
	}
}

// give gives a turn back.
func (t *turns) give(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(owner)
}

// pass gives the turn of an owner to the next in the ring that has none.
func (t *turns) pass(owner string) {
	delete(t.held, owner)
	t.free++
	for t.free > 0 {
		at := slices.IndexFunc(t.ring, func(l *line) bool { return !t.held[l.owner] })
		if at < 0 {
			return
		}
		l := t.ring[at]
		t.ring = slices.Delete(t.ring, at, at+1)
		next := l.tickets[0]
		if l.tickets = l.tickets[1:]; len(l.tickets) > 0 {
			t.ring = append(t.ring, l)
		}
		t.free--
		t.waiting--
		t.held[l.owner] = true
		close(next.called)
	}
}
