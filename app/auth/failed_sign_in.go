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

// failedSignIns counts failed sign-ins for the audit log. An attacker can neither fill the
// log nor cause an fsync per attempt. Names of unknown users and passwords are never
// logged.
type failedSignIns struct {
	auth   *Auth
	mu     sync.Mutex
	counts map[failureKey]int // number of attempts
}

// failureKey identifies failures that are counted together.
type failureKey struct {
	user    uint64 // 0 for an unknown name
	address string // as returned by network
	reason  Reason
}

const (
	maxFailureKeys    = 1000 // limit of distinct failures in memory
	maxEventsPerFlush = 20   // the rest share one event
	otherAddresses    = "elsewhere"
)

// add counts one failed sign-in.
func (r *failedSignIns) add(user uint64, address string, reason Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := failureKey{user, network(address), reason}
	if _, known := r.counts[from]; !known && len(r.counts) >= maxFailureKeys {
		from = failureKey{address: otherAddresses, reason: reason}
	}
	r.counts[from]++
}

// flush writes one event for each of the most frequent failures, and one for all others.
func (r *failedSignIns) flush(ctx context.Context) error {
	r.mu.Lock()
	seen := r.counts
	r.counts = map[failureKey]int{}
	r.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(seen), func(a, b failureKey) int {
		return cmp.Or(seen[b]-seen[a], cmp.Compare(a.user, b.user), cmp.Compare(a.address, b.address), cmp.Compare(a.reason, b.reason))
	})
	rest := 0
	for _, from := range order[min(len(order), maxEventsPerFlush):] {
		rest += seen[from]
	}
	order = order[:min(len(order), maxEventsPerFlush)]
	err := r.auth.Store.Update(ctx, nil, func(t *store.Tx) error {
		for _, from := range order {
			if err := r.event(t, from, seen[from]); err != nil {
				return err
			}
		}
		if rest == 0 {
			return nil
		}
		return r.event(t, failureKey{address: otherAddresses, reason: "several"}, rest)
	})
	if err != nil {
		r.restore(seen)
	}
	return err
}

func (r *failedSignIns) event(t *store.Tx, from failureKey, tries int) error {
	about, detail := "", map[string]string{"reason": string(from.reason), "tries": strconv.Itoa(tries)}
	if from.user != 0 {
		about = txn.RecordRef("user", from.user)
	}
	return r.auth.AddEvent(t, r.auth.Now(), model.Actor{Kind: "visitor", Address: from.address}, "session.refused", about, detail)
}

// restore adds back counts that could not be written.
func (r *failedSignIns) restore(seen map[failureKey]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for from, tries := range seen {
		r.counts[from] += tries
	}
}
