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

// loginThrottle limits the number of sign-in attempts, both per address and per
// combination of account and address. The counters are only in memory. Attempts from one
// address never lock a user out at other addresses, and users known at the address can
// still sign in. An attempt above the limit is rejected immediately.
type loginThrottle struct {
	mu       sync.Mutex
	attempts map[string][]time.Time // by throttleKey.name; oldest first
}

// attemptLimit allows max attempts within a window. delay, if not nil, returns the
// minimum wait after the given number of attempts.
type attemptLimit struct {
	max    int
	window time.Duration
	delay  func(done int) time.Duration
}

var (
	// accountLimit applies to attempts for one account from one address.
	accountLimit = attemptLimit{10, 15 * time.Minute, backoff}
	// addressLimit applies to attempts for all accounts from one address. Successful
	// attempts don't count, because many users in an office may share the address.
	addressLimit = attemptLimit{60, 15 * time.Minute, nil}
	// codeLimit applies to six-digit codes for one account from all addresses, because a
	// client that sends a code knows the password. Recovery codes don't count, so that
	// the account's owner can still sign in.
	codeLimit = attemptLimit{20, time.Hour, nil}
)

// maxThrottleKeys is the maximum number of counters in memory.
const maxThrottleKeys = 20_000

// backoff returns the wait after the given number of attempts: 0 after the first two,
// then 1 s, 2 s, 4 s, and so on, up to 1 min.
func backoff(attempts int) time.Duration {
	if attempts < 3 {
		return 0
	}
	return min(time.Second<<(attempts-3), time.Minute)
}

// throttleKey identifies a counter and its limit.
type throttleKey struct {
	name  string
	limit attemptLimit
}

func byAccount(account, address string) throttleKey {
	sum := sha256.Sum256([]byte(model.Fold(account))) // gives keys a fixed length
	return throttleKey{fmt.Sprintf("account %x %s", sum, network(address)), accountLimit}
}

func byAddress(address string) throttleKey {
	return throttleKey{"address " + network(address), addressLimit}
}

func byCode(user uint64) throttleKey { return throttleKey{fmt.Sprintf("code %d", user), codeLimit} }

const unknownNetwork = "unknown"

// network returns the network prefix of an address. Invalid addresses all share one
// prefix.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return unknownNetwork
	}
	return strings.TrimSuffix(model.ClientNetwork(ip).String(), "/32")
}

// acquire counts an attempt for each key and returns 0. If any key is over its limit, it
// counts nothing and returns how long to wait.
func (t *loginThrottle) acquire(now time.Time, keys ...throttleKey) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		wait = max(wait, key.limit.wait(t.recent(now, key), now))
	}
	if wait > 0 {
		return wait
	}
	for _, key := range keys {
		t.attempts[key.name] = append(t.recent(now, key), now)
	}
	t.evict(now)
	return 0
}

func (l attemptLimit) wait(attempts []time.Time, now time.Time) time.Duration {
	switch n := len(attempts); {
	case n == 0:
		return 0
	case n >= l.max:
		return attempts[n-l.max].Add(l.window).Sub(now)
	case l.delay != nil:
		return attempts[n-1].Add(l.delay(n)).Sub(now)
	}
	return 0
}

// recent returns the attempts within the window of key's limit. It drops attempts with
// future times, because they would never expire. Such attempts were made before the clock
// was set back.
func (t *loginThrottle) recent(now time.Time, key throttleKey) []time.Time {
	kept := slices.DeleteFunc(t.attempts[key.name], func(at time.Time) bool {
		return now.Sub(at) >= key.limit.window || at.After(now)
	})
	if t.attempts[key.name] = kept; len(kept) == 0 {
		delete(t.attempts, key.name)
	}
	return kept
}

// refund removes an attempt that shouldn't count.
func (t *loginThrottle) refund(at time.Time, keys ...throttleKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		if i := slices.Index(t.attempts[key.name], at); i >= 0 {
			t.attempts[key.name] = slices.Delete(t.attempts[key.name], i, i+1)
		}
		if len(t.attempts[key.name]) == 0 {
			delete(t.attempts, key.name)
		}
	}
}

// reset clears counters after a successful sign-in.
func (t *loginThrottle) reset(keys ...throttleKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.attempts, key.name)
	}
}

// evict keeps the number of counters below maxThrottleKeys. It drops expired counters
// first, then the quarter of the counters with the fewest attempts. To evict a counter,
// an attacker has to make as many attempts for each of the other counters.
func (t *loginThrottle) evict(now time.Time) {
	if len(t.attempts) < maxThrottleKeys {
		return
	}
	maps.DeleteFunc(t.attempts, func(_ string, attempts []time.Time) bool {
		return len(attempts) == 0 || now.Sub(attempts[len(attempts)-1]) >= time.Hour
	})
	if len(t.attempts) < maxThrottleKeys {
		return
	}
	keys := slices.SortedFunc(maps.Keys(t.attempts), func(a, b string) int {
		attemptsA, attemptsB := t.attempts[a], t.attempts[b]
		return cmp.Or(cmp.Compare(len(attemptsA), len(attemptsB)), attemptsA[len(attemptsA)-1].Compare(attemptsB[len(attemptsB)-1]))
	})
	for _, key := range keys[:len(keys)/4] {
		delete(t.attempts, key)
	}
}
