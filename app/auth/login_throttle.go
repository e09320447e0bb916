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

// tries counts who tried to sign in, in memory and within bounds. Nobody is locked
// out by what happens elsewhere: what one address may do to one account, and to all
// together, ends at that address (PROMISES.md, row 15), and a person known there gets
// in all the same (known.go). A try that has to wait is refused immediately and holds nothing up.
type tries struct {
	mu   sync.Mutex
	seen map[string][]time.Time // oldest first
}

// rule is how often something may happen in a time, and how long to wait in between.
type rule struct {
	most   int
	within time.Duration
	delay  func(done int) time.Duration
}

var (
	// One account from one address.
	accountTries = rule{10, 15 * time.Minute, growing}
	// All accounts from one address. A whole office may stand behind it, whose
	// successes do not count.
	addressTries = rule{60, 15 * time.Minute, nil}
	// Codes of one account, whatever the address. Whoever comes so far knows its
	// password; a recovery code is not counted here and lets the owner in.
	codeTries = rule{20, time.Hour, nil}
)

// mostTries bounds the memory: so many accounts and addresses.
const mostTries = 20_000

// growing is the wait after so many tries: none after two, then 1 s, 2 s, 4 s … 1 min.
func growing(done int) time.Duration {
	if done < 3 {
		return 0
	}
	return min(time.Second<<(done-3), time.Minute)
}

// attempt is one name of a counter with its rule.
type attempt struct {
	name string
	rule rule
}

func byAccount(account, address string) attempt {
	sum := sha256.Sum256([]byte(model.Fold(account))) // of one length, whatever was sent
	return attempt{fmt.Sprintf("account %x %s", sum, network(address)), accountTries}
}

func byAddress(address string) attempt { return attempt{"address " + network(address), addressTries} }

func byCode(user uint64) attempt { return attempt{fmt.Sprintf("code %d", user), codeTries} }

const unknownNetwork = "unknown"

// network is shared by all whose address is unknown.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return unknownNetwork
	}
	return strings.TrimSuffix(model.ClientNetwork(ip).String(), "/32")
}

// take counts one try of each, or none and how long to wait.
func (t *tries) take(now time.Time, attempts ...attempt) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range attempts {
		wait = max(wait, a.rule.wait(t.recent(now, a), now))
	}
	if wait > 0 {
		return wait
	}
	for _, a := range attempts {
		t.seen[a.name] = append(t.recent(now, a), now)
	}
	t.shrink(now)
	return 0
}

func (r rule) wait(done []time.Time, now time.Time) time.Duration {
	switch n := len(done); {
	case n == 0:
		return 0
	case n >= r.most:
		return done[n-r.most].Add(r.within).Sub(now)
	case r.delay != nil:
		return done[n-1].Add(r.delay(n)).Sub(now)
	}
	return 0
}

// recent are the tries that still count. One from after now was made before the
// clock was set back, and would count for ever.
func (t *tries) recent(now time.Time, a attempt) []time.Time {
	kept := slices.DeleteFunc(t.seen[a.name], func(at time.Time) bool {
		return now.Sub(at) >= a.rule.within || at.After(now)
	})
	if t.seen[a.name] = kept; len(kept) == 0 {
		delete(t.seen, a.name)
	}
	return kept
}

// giveBack takes a try away again, which was none.
func (t *tries) giveBack(at time.Time, attempts ...attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range attempts {
		if i := slices.Index(t.seen[a.name], at); i >= 0 {
			t.seen[a.name] = slices.Delete(t.seen[a.name], i, i+1)
		}
		if len(t.seen[a.name]) == 0 {
			delete(t.seen, a.name)
		}
	}
}

// forget is after a success.
func (t *tries) forget(attempts ...attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range attempts {
		delete(t.seen, a.name)
	}
}

// shrink keeps the bound: what has ended goes first, then a quarter of the rest,
// those with the fewest tries before the others. Whoever wants to be forgotten by
// filling the memory has to try as often for each name that he fills it with.
func (t *tries) shrink(now time.Time) {
	if len(t.seen) < mostTries {
		return
	}
	maps.DeleteFunc(t.seen, func(_ string, done []time.Time) bool {
		return len(done) == 0 || now.Sub(done[len(done)-1]) >= time.Hour
	})
	if len(t.seen) < mostTries {
		return
	}
	names := slices.SortedFunc(maps.Keys(t.seen), func(a, b string) int {
		one, other := t.seen[a], t.seen[b]
		return cmp.Or(cmp.Compare(len(one), len(other)), one[len(one)-1].Compare(other[len(other)-1]))
	})
	for _, name := range names[:len(names)/4] {
		delete(t.seen, name)
	}
}
