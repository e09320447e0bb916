package auth

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"deedkeep/app/model"
)

// loginThrottle counts who tried to sign in, in memory and within bounds. Nobody is locked
// out by what happens elsewhere: what one address may do to one account, and to all
// together, ends at that address (PROMISES.md, row 15), and a person known there gets
// in all the same (known.go). A try that has to wait is refused immediately and holds nothing up.
type loginThrottle struct {
	mu       sync.Mutex
	attempts map[string][]time.Time // oldest first
}

// attemptLimit is how often something may happen in a time, and how long to wait in between.
type attemptLimit struct {
	max    int
	window time.Duration
	delay  func(done int) time.Duration
}

var (
	// One account from one address.
	accountLimit = attemptLimit{10, 15 * time.Minute, backoff}
	// All accounts from one address. A whole office may stand behind it, whose
	// successes do not count.
	addressLimit = attemptLimit{60, 15 * time.Minute, nil}
	// Codes of one account, whatever the address. Whoever comes so far knows its
	// password; a recovery code is not counted here and lets the owner in.
	codeLimit = attemptLimit{20, time.Hour, nil}
)

// maxThrottleKeys bounds the memory: so many accounts and addresses.
const maxThrottleKeys = 20_000

// backoff is the wait after so many tries: none after two, then 1 s, 2 s, 4 s … 1 min.
func backoff(done int) time.Duration {
	if done < 3 {
		return 0
	}
	return min(time.Second<<(done-3), time.Minute)
}

// throttleKey is one name of a counter with its rule.
type throttleKey struct {
	name  string
	limit attemptLimit
}

func byAccount(account, address string) throttleKey {
	sum := sha256.Sum256([]byte(model.Fold(account))) // of one length, whatever was sent
	return throttleKey{fmt.Sprintf("account %x %s", sum, network(address)), accountLimit}
}

func byAddress(address string) throttleKey {
	return throttleKey{"address " + network(address), addressLimit}
}

func byCode(user uint64) throttleKey { return throttleKey{fmt.Sprintf("code %d", user), codeLimit} }

const unknownNetwork = "unknown"

// network is shared by all whose address is unknown.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return unknownNetwork
	}
	return strings.TrimSuffix(model.ClientNetwork(ip).String(), "/32")
}

// acquire counts one try of each, or none and how long to wait.
func (t *loginThrottle) acquire(now time.Time, attempts ...throttleKey) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range attempts {
		wait = max(wait, a.limit.wait(t.recent(now, a), now))
	}
	if wait > 0 {
		return wait
	}
	for _, a := range attempts {
		t.attempts[a.name] = append(t.recent(now, a), now)
	}
	t.evict(now)
	return 0
}

func (r attemptLimit) wait(done []time.Time, now time.Time) time.Duration {
	switch n := len(done); {
	case n == 0:
		return 0
	case n >= r.max:
		return done[n-r.max].Add(r.window).Sub(now)
	case r.delay != nil:
		return done[n-1].Add(r.delay(n)).Sub(now)
	}
	return 0
}

// recent are the tries that still count. One from after now was made before the
// clock was set back, and would count for ever.
func (t *loginThrottle) recent(now time.Time, a throttleKey) []time.Time {
	kept := slices.DeleteFunc(t.attempts[a.name], func(at time.Time) bool {
		return now.Sub(at) >= a.limit.window || at.After(now)
	})
	if t.attempts[a.name] = kept; len(kept) == 0 {
		delete(t.attempts, a.name)
	}
	return kept
}

// restore takes a try away again, which was none.
func (t *loginThrottle) refund(at time.Time, attempts ...throttleKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range attempts {
		if i := slices.Index(t.attempts[a.name], at); i >= 0 {
			t.attempts[a.name] = slices.Delete(t.attempts[a.name], i, i+1)
		}
		if len(t.attempts[a.name]) == 0 {
			delete(t.attempts, a.name)
		}
	}
}

// reset is after a success.
func (t *loginThrottle) reset(attempts ...throttleKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range attempts {
		delete(t.attempts, a.name)
	}
}

// evict keeps the bound: what has ended goes first, then a quarter of the rest,
// those with the fewest tries before the others. Whoever wants to be forgotten by
// filling the memory has to try as often for each name that he fills it with.
func (t *loginThrottle) evict(now time.Time) {
	if len(t.attempts) < maxThrottleKeys {
		return
	}
	maps.DeleteFunc(t.attempts, func(_ string, done []time.Time) bool {
		return len(done) == 0 || now.Sub(done[len(done)-1]) >= time.Hour
	})
	if len(t.attempts) < maxThrottleKeys {
		return
	}
	names := slices.SortedFunc(maps.Keys(t.attempts), func(a, b string) int {
		one, other := t.attempts[a], t.attempts[b]
		return cmp.Or(cmp.Compare(len(one), len(other)), one[len(one)-1].Compare(other[len(other)-1]))
	})
	for _, name := range names[:len(names)/4] {
		delete(t.attempts, name)
	}
}
