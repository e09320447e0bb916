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

// loginThrottle limits sign-in attempts per account and address, and per address, in
// memory. Attempts from one address never lock a user out elsewhere, and users known at
// the address can still sign in. An attempt above the limit is rejected immediately.
type loginThrottle struct {
	mu       sync.Mutex
	attempts map[string][]time.Time // oldest first
}

// attemptLimit allows max attempts within a window; delay returns the wait after a number
// of attempts.
type attemptLimit struct {
	max    int
	window time.Duration
	delay  func(done int) time.Duration
}

var (
	// One account from one address.
	accountLimit = attemptLimit{10, 15 * time.Minute, backoff}
	// All accounts from one address. Many users of an office may share the address, so
	// successful attempts do not count.
	addressLimit = attemptLimit{60, 15 * time.Minute, nil}
	// Six-digit codes of one account from all addresses. Such a client knows the password.
	// Recovery codes do not count here, so that the owner can still sign in.
	codeLimit = attemptLimit{20, time.Hour, nil}
)

// maxThrottleKeys limits the accounts and addresses in memory.
const maxThrottleKeys = 20_000

// backoff returns the wait after a number of attempts: 0 for two or fewer, then 1 s, 2 s,
// 4 s, up to 1 min.
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
	sum := sha256.Sum256([]byte(model.Fold(account))) // fixed length
	return throttleKey{fmt.Sprintf("account %x %s", sum, network(address)), accountLimit}
}

func byAddress(address string) throttleKey {
	return throttleKey{"address " + network(address), addressLimit}
}

func byCode(user uint64) throttleKey { return throttleKey{fmt.Sprintf("code %d", user), codeLimit} }

const unknownNetwork = "unknown"

// network returns the network prefix of an address. Clients with an unknown address share
// one.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return unknownNetwork
	}
	return strings.TrimSuffix(model.ClientNetwork(ip).String(), "/32")
}

// acquire counts an attempt for each key, or counts nothing and returns how long to wait.
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

// recent returns the attempts within the window. It drops attempts in the future, which were
// made before the clock was set back, because they would never expire.
func (t *loginThrottle) recent(now time.Time, key throttleKey) []time.Time {
	kept := slices.DeleteFunc(t.attempts[key.name], func(at time.Time) bool {
		return now.Sub(at) >= key.limit.window || at.After(now)
	})
	if t.attempts[key.name] = kept; len(kept) == 0 {
		delete(t.attempts, key.name)
	}
	return kept
}

// refund removes an attempt that should not count.
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

// reset clears counters after a success.
func (t *loginThrottle) reset(keys ...throttleKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.attempts, key.name)
	}
}

// evict keeps the number of counters below maxThrottleKeys. It drops expired counters
// first, then the quarter with the fewest attempts. To evict a counter, an attacker needs
// as many attempts for each of the other counters.
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
