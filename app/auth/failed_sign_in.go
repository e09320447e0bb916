package auth

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// refusals gathers sign-ins that failed, for the log of events: a guesser must not
// be able to fill it, nor cost a sync with each try. A name is told only where it is
// that of a user, and a password never.
type refusals struct {
	auth *Auth
	mu   sync.Mutex
	seen map[refusedFrom]int // tries
}

type refusedFrom struct {
	user    uint64 // 0: a name that nobody has
	address string // as network gives it
	reason  Reason
}

const (
	mostRefusals  = 1000 // kinds that are gathered between two writes
	eventsAtOnce  = 20   // of one write; the rest share one
	elsewhereName = "elsewhere"
)

func (r *refusals) note(user uint64, address string, reason Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := refusedFrom{user, network(address), reason}
	if _, known := r.seen[from]; !known && len(r.seen) >= mostRefusals {
		from = refusedFrom{address: elsewhereName, reason: reason}
	}
	r.seen[from]++
}

// flush writes an event for each of the most frequent, and one for all others.
func (r *refusals) flush(ctx context.Context) error {
	r.mu.Lock()
	seen := r.seen
	r.seen = map[refusedFrom]int{}
	r.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(seen), func(a, b refusedFrom) int {
		return cmp.Or(seen[b]-seen[a], cmp.Compare(a.user, b.user), cmp.Compare(a.address, b.address), cmp.Compare(a.reason, b.reason))
	})
	rest := 0
	for _, from := range order[min(len(order), eventsAtOnce):] {
		rest += seen[from]
	}
	order = order[:min(len(order), eventsAtOnce)]
	err := r.auth.Store.Update(ctx, nil, func(t *store.Tx) error {
		for _, from := range order {
			if err := r.event(t, from, seen[from]); err != nil {
				return err
			}
		}
		if rest == 0 {
			return nil
		}
		return r.event(t, refusedFrom{address: elsewhereName, reason: "several"}, rest)
	})
	if err != nil {
		r.giveBack(seen)
	}
	return err
}

func (r *refusals) event(t *store.Tx, from refusedFrom, tries int) error {
	about, detail := "", map[string]string{"reason": string(from.reason), "tries": strconv.Itoa(tries)}
	if from.user != 0 {
		about = txn.RecordRef("user", from.user)
	}
	return r.auth.AddEvent(t, r.auth.Now(), model.Actor{Kind: "visitor", Address: from.address}, "session.refused", about, detail)
}

func (r *refusals) giveBack(seen map[refusedFrom]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for from, tries := range seen {
		r.seen[from] += tries
	}
}
