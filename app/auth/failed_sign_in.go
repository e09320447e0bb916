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
)

// failedSignIns counts failed sign-ins and writes the counts to the audit log at
// intervals. This way, an attacker can neither fill the audit log nor cause a disk sync
// per attempt. Passwords and unknown usernames are never logged.
type failedSignIns struct {
	auth   *Auth
	mu     sync.Mutex
	counts map[failureKey]int // number of attempts
}

// failureKey identifies failed sign-ins that are counted together.
type failureKey struct {
	user    uint64 // 0 for an unknown username
	address string // as returned by network
	reason  Reason
}

const (
	maxFailureKeys    = 1000 // maximum number of counters in memory
	maxEventsPerFlush = 20   // all other failures share one audit entry
	otherAddresses    = "elsewhere"
)

// add counts one failed sign-in.
func (f *failedSignIns) add(user uint64, address string, reason Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := failureKey{user, network(address), reason}
	if _, known := f.counts[key]; !known && len(f.counts) >= maxFailureKeys {
		key = failureKey{address: otherAddresses, reason: reason}
	}
	f.counts[key]++
}

// flush writes one audit entry for each of the most frequent failures, and one for all
// others.
func (f *failedSignIns) flush(ctx context.Context) error {
	f.mu.Lock()
	counts := f.counts
	f.counts = map[failureKey]int{}
	f.mu.Unlock()
	if len(counts) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b failureKey) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a.user, b.user), cmp.Compare(a.address, b.address), cmp.Compare(a.reason, b.reason))
	})
	rest := 0
	for _, key := range keys[min(len(keys), maxEventsPerFlush):] {
		rest += counts[key]
	}
	keys = keys[:min(len(keys), maxEventsPerFlush)]
	err := f.auth.Store.Update(ctx, nil, func(t *store.Tx) error {
		for _, key := range keys {
			if err := f.event(t, key, counts[key]); err != nil {
				return err
			}
		}
		if rest == 0 {
			return nil
		}
		return f.event(t, failureKey{address: otherAddresses, reason: "several"}, rest)
	})
	if err != nil {
		f.restore(counts)
	}
	return err
}

func (f *failedSignIns) event(t *store.Tx, key failureKey, attempts int) error {
	record, detail := "", map[string]string{"reason": string(key.reason), "tries": strconv.Itoa(attempts)}
	if key.user != 0 {
		record = model.RecordRef("user", key.user)
	}
	return f.auth.AddEvent(t, f.auth.Now(), model.Actor{Kind: "visitor", Address: key.address}, "session.refused", record, detail)
}

// restore adds back the counts that could not be written.
func (f *failedSignIns) restore(counts map[failureKey]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, attempts := range counts {
		f.counts[key] += attempts
	}
}
