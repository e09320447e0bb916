package vaulttest

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/runsheet"
	"deedkeep/app/search"
	"deedkeep/app/secret"
	"deedkeep/app/settings"
)

// These are lengths of time for tests of retention.
const (
	Day  = 24 * time.Hour
	Year = 365 * Day
)

// Clock is a manually advanced clock for tests. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that starts at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward, or backward if by is negative.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// Rand returns an endless, deterministic source of random bytes. It is safe for concurrent use.
func Rand() io.Reader {
	return &lockedRand{source: rand.NewChaCha8([32]byte{1})}
}

// lockedRand is a deterministic io.Reader that is safe for concurrent use.
type lockedRand struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (l *lockedRand) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Read(p)
}

// Settings returns the default settings, adjusted for tests: no disk reserve, no reserve file, and a longer search timeout
// for busy machines.
func Settings() instance.Settings {
	return instance.Settings{FileSize: 100 << 20, FilesPerRequest: 100, Inspect: document.DefaultInspectLimits(),
		Runsheet: runsheet.DefaultLimits(), IdempotencyPeriod: 24 * time.Hour, Search: search.Settings{Deadline: 20 * time.Second}}
}

// With returns a Loader with other defaults, by key. Without "retention.keep", nothing is retained.
func With(defaults map[string]string) settings.Loader {
	return func(stored map[string]string) (config.Config, error) {
		all := map[string]string{"retention.keep": "0s"}
		maps.Copy(all, defaults)
		maps.Copy(all, stored)
		return config.Load(config.Source{Stored: func(string) (map[string]string, error) { return all, nil }})
	}
}

// Options returns options for a test vault with its own directory, a test clock, deterministic random bytes, cheap
// password hashes, no retention, and a Reader that doesn't start worker processes.
func Options(t testing.TB) instance.Options {
	t.Helper()
	return instance.Options{
		Dir: t.TempDir(), Create: true, Settings: Settings(), Load: With(nil), Reader: Reader{}, Now: NewClock().Now, Rand: Rand(),
		Passwords: secret.Argon2Params{Memory: 8, Passes: 1, Lanes: 1}, Log: discardLogger(),
	}
}

// Open opens a vault. When the test ends, the vault is verified and closed. The test fails if the verification has
// findings.
func Open(t testing.TB, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(context.Background(), opts)
	if err != nil {
		t.Fatalf("open the vault: %v", err)
	}
	t.Cleanup(func() {
		Verify(t, v)
		if err := v.Close(); err != nil {
			t.Errorf("close the vault: %v", err)
		}
	})
	return v
}

// OpenVerified calls Open with test options, which change may modify if it is not nil. It also returns the options.
func OpenVerified(t *testing.T, change func(*instance.Options)) (*instance.Instance, instance.Options) {
	t.Helper()
	opts := Options(t)
	if change != nil {
		change(&opts)
	}
	return Open(t, opts), opts
}

// OpenWithClock does the same as OpenVerified, but the vault uses the returned Clock.
func OpenWithClock(t *testing.T) (*instance.Instance, instance.Options, *Clock) {
	t.Helper()
	clock := NewClock()
	v, opts := OpenVerified(t, func(o *instance.Options) { o.Now = clock.Now })
	return v, opts, clock
}

// OpenUnchecked opens a vault that the test must close. Unlike Open, it doesn't verify the vault.
func OpenUnchecked(t testing.TB, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open the vault: %v", err)
	}
	return v
}

// Close closes a vault.
func Close(t testing.TB, v *instance.Instance) {
	t.Helper()
	if err := v.Close(); err != nil {
		t.Fatalf("close the vault: %v", err)
	}
}

// Status returns the status of a vault.
func Status(t *testing.T, v *instance.Instance) instance.Status {
	t.Helper()
	s, err := v.Status(t.Context())
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	return s
}

// Verify verifies a vault and reports each finding as a test error.
func Verify(t testing.TB, v *instance.Instance) {
	t.Helper()
	report, err := v.Integrity.Verify(context.Background(), func(int, int) {})
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	for _, f := range report.Findings {
		t.Errorf("verify: %s %s: %s", f.Kind, f.Subject, f.Problem)
	}
}

// VerifyReport verifies a vault and checks the reported progress. It returns the report, which may contain findings.
func VerifyReport(t *testing.T, v *instance.Instance) integrity.Report {
	t.Helper()
	report, err := v.Integrity.Verify(t.Context(), func(done, total int) {
		if done < 1 || done > total {
			t.Errorf("progress of the verification: got %d of %d, want 1 to %[2]d", done, total)
		}
	})
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	return report
}

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// OpenWithRetention opens a vault that retains abstracts for 20 years, and those with template 2 for 7 years.
func OpenWithRetention(t *testing.T) (*instance.Instance, instance.Options, *Clock) {
	t.Helper()
	clock := NewClock()
	v, opts := OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Load = With(map[string]string{"retention.keep": "20y", "retention.templates": "2=7y"})
	})
	return v, opts, clock
}
