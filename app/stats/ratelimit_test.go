package stats

import (
	"strconv"
	"testing"
	"time"
)

func TestRateLimiter(t *testing.T) {
	now := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	limiter := NewRateLimiter(2, func() time.Time { return now })
	for n, want := range []int{1, 0} {
		if left, _, ok := limiter.Allow("a"); !ok || left != want {
			t.Errorf("event %d: Allow = %d left, %t, want %d left, true", n, left, ok, want)
		}
	}
	now = now.Add(20 * time.Second)
	if _, retryAfter, ok := limiter.Allow("a"); ok || retryAfter != 40 || !limiter.Reached("a") {
		t.Errorf("third event: Allow = %t, retry after %d, Reached %t, want false, 40, true", ok, retryAfter, limiter.Reached("a"))
	}
	if _, _, ok := limiter.Allow("b"); !ok || limiter.Reached("b") {
		t.Error("the first event of another name exceeds the limit, want it allowed")
	}
	now = now.Add(40 * time.Second)
	if left, _, ok := limiter.Allow("a"); !ok || left != 1 {
		t.Errorf("in the next window: Allow = %d left, %t, want 1 left, true", left, ok)
	}
	now = now.Add(-time.Hour) // the clock was set back
	if left, _, ok := limiter.Allow("a"); !ok || left != 1 || limiter.Reached("a") {
		t.Errorf("after the clock was set back: Allow = %d left, %t, want a new window with 1 left", left, ok)
	}
}

func TestRateLimiterWithoutLimit(t *testing.T) {
	limiter := NewRateLimiter(0, time.Now)
	for range 1000 {
		if _, _, ok := limiter.Allow("a"); !ok || limiter.Reached("a") {
			t.Fatal("Allow = false, want no limit")
		}
	}
}

// The memory of a limiter is bounded, even if all its windows are current.
func TestRateLimiterForgets(t *testing.T) {
	now := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	limiter := NewRateLimiter(1, func() time.Time { return now })
	for n := range 3 * maxWindows {
		limiter.Allow(strconv.Itoa(n))
		if len(limiter.windows) > maxWindows {
			t.Fatalf("after %d names, there are %d windows, want at most %d", n+1, len(limiter.windows), maxWindows)
		}
	}
	limiter.Allow("a")
	now = now.Add(time.Hour)
	limiter.Allow("b")
	if len(limiter.windows) != 1 {
		t.Errorf("an hour later, there are %d windows, want only the new one", len(limiter.windows))
	}
}
