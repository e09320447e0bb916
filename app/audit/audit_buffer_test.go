package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// accessEntries returns the audit log entries after the first one in the form "record
// address count".
func accessEntries(t *testing.T, v *instance.Instance) (list []string) {
	t.Helper()
	for _, e := range entriesFrom(t, v, 2) {
		list = append(list, strings.TrimSpace(fmt.Sprint(e.Record, " ", e.Actor.Address, " ", e.Detail["count"])))
	}
	return list
}

func TestRepeatedViewsAreCountedPerMinute(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	view := func(file int, address string) {
		v.Events.RecordAccess(vaulttest.LinkActor(address), "file.opened", fmt.Sprint("file:", file), nil)
	}
	var want []string
	wantNew := func(step string, entries ...string) {
		t.Helper()
		want = append(want, entries...)
		if got := accessEntries(t, v); !slices.Equal(got, want) {
			t.Errorf("%s: entries = %q, want %q", step, got, want)
		}
	}
	view(1, "a")
	wantNew("first view", "file:1 a")
	view(1, "a")
	view(2, "a")
	view(1, "b")
	view(1, "a")
	wantNew("other views, and repeats of the first", "file:2 a", "file:1 b")
	clock.Advance(time.Minute - time.Microsecond)
	wantNew("before the minute is over")
	clock.Advance(time.Microsecond)
	wantNew("after the minute", "file:1 a 2")
	view(1, "a")
	wantNew("first view of another minute", "file:1 a")
	view(1, "a")
	clock.Advance(time.Hour)
	view(1, "a")
	wantNew("an hour later", "file:1 a 1", "file:1 a")
	view(1, "a")
	clock.Advance(-time.Hour)
	view(1, "a")
	wantNew("clock set back", "file:1 a 1", "file:1 a")

	// Downloads by an operator are logged individually.
	for range 3 {
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:1", map[string]string{"x": "y"})
	}
	wantNew("downloads", "file:1", "file:1", "file:1")
}

// A range request continues an earlier view. If there is no earlier view, it is logged as a
// new one.
func TestContinueView(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	for range 20 {
		v.Events.ContinueView(vaulttest.LinkActor("a"), "file.opened", "file:1")
		clock.Advance(9 * time.Minute)
	}
	if got, want := accessEntries(t, v), []string{"file:1 a"}; !slices.Equal(got, want) {
		t.Errorf("entries after 20 ranges = %q, want %q", got, want)
	}
	v.Events.ContinueView(vaulttest.LinkActor("b"), "file.opened", "file:1")
	v.Events.ContinueView(vaulttest.LinkActor("b"), "file.opened", "file:1")
	clock.Advance(10 * time.Minute)
	v.Events.ContinueView(vaulttest.LinkActor("a"), "file.opened", "file:1")
	if got, want := accessEntries(t, v), []string{"file:1 a", "file:1 b", "file:1 a"}; !slices.Equal(got, want) {
		t.Errorf("entries after ranges without a view = %q, want %q", got, want)
	}
}

// The audit log is sorted by time even if other entries are written while views are
// buffered.
func TestBufferedViewsAreSortedByTime(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	viewedAt := clock.Now()
	clock.Advance(500 * time.Millisecond)
	vaulttest.CreateKey(t, v, model.KeyDraft{})
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:2", nil)
	list := entriesFrom(t, v, 2)
	if len(list) != 3 || list[1].Kind != "file.opened" || list[1].At.Before(list[0].At) || list[1].At.Sub(viewedAt) > time.Second ||
		list[2].At.Before(list[1].At) {
		t.Errorf("entries = %+v, want the key, the view of %v, and the download, sorted by time", list, viewedAt)
	}
}

// logBuffer collects the server log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// linesWith returns the lines that contain text.
func (l *logBuffer) linesWith(text string) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, text) {
			list = append(list, line)
		}
	}
	return list
}

// Recording never blocks. If the buffer is full, further entries are dropped, and the
// server log says how many.
func TestBufferIsLimited(t *testing.T) {
	t.Parallel()
	var log logBuffer
	opts := vaulttest.Options(t)
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	for i := range 10_000 {
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", fmt.Sprint("file:", i), nil)
		v.Events.RecordAccess(vaulttest.LinkActor(fmt.Sprint(i)), "file.opened", "file:1", nil)
		v.Events.ContinueView(vaulttest.LinkActor(fmt.Sprint("x", i)), "file.opened", "file:1")
	}
	if got := len(entriesFrom(t, v, 2)); got != 4096 {
		t.Errorf("written entries = %d, want 4096", got)
	}
	vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.Close(t, v)
	if lines := log.linesWith("lost="); len(lines) != 1 || !strings.Contains(lines[0], "level=WARN") {
		t.Errorf("log lines about lost entries = %q, want one warning", lines)
	}
}

// A buffer that is half full is written immediately instead of at the next timer tick.
func TestHalfFullBufferIsWritten(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	for i := range 3000 {
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", fmt.Sprint("file:", i), nil)
	}
	vaulttest.Eventually(t, "3,000 entries are written", func() bool {
		r, err := v.Events.Verify(t.Context(), func(uint64, uint64) {})
		return err == nil && r.OK() && r.Entries == 3001
	})
}

func TestBufferIsWrittenInBackgroundAndOnClose(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	v.Start(time.Hour)
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	vaulttest.Eventually(t, "the first view is written", func() bool {
		r, err := v.Events.Verify(t.Context(), func(uint64, uint64) {})
		return err == nil && r.Entries == 2
	})
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	v.Events.RecordAccess(vaulttest.LinkActor("b"), "file.opened", "file:1", nil)
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if got := accessEntries(t, v); len(got) != 3 || !slices.Contains(got, "file:1 a 1") || !slices.Contains(got, "file:1 b") {
		t.Errorf(`entries after a restart = %q, want 3 with "file:1 a 1" and "file:1 b"`, got)
	}
}

// If the database is not writable, views are dropped, the server log says so, and the
// server continues to run.
func TestViewsAreDroppedIfDatabaseIsNotWritable(t *testing.T) {
	t.Parallel()
	var log logBuffer
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now, o.Log = clock.Now, slog.New(slog.NewTextHandler(&log, nil)) })
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	v.Store.Fail(errors.New("a broken disk"))
	for i := range 5 {
		vaulttest.WantKeyValid(t, v, text, true)
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", fmt.Sprint("file:", i), nil)
		if got := len(entriesFrom(t, v, 1)); got != 2 {
			t.Errorf("entries after %d downloads = %d, want 2", i+1, got)
		}
		clock.Advance(20 * time.Second)
	}
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 0 {
		t.Errorf("written uses of the key = %d, want 0", k.UseCount)
	}
	lines := log.linesWith("lost=")
	if len(lines) != 2 || !strings.Contains(lines[0], "lost=1 ") || !strings.Contains(lines[1], "lost=3 ") {
		t.Errorf("log lines about lost entries = %q, want one with lost=1 and one with lost=3", lines)
	}
}

// If a flush is canceled, the next flush writes its entries.
func TestCanceledFlushIsRetried(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:1", nil)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Events.Each(canceled, 1, func(model.Event, error) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Each() with a canceled context: got %v, want %v", err, context.Canceled)
	}
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:2", nil)
	if list := entriesFrom(t, v, 2); len(list) != 2 || list[0].Record != "file:1" || list[1].Record != "file:2" {
		t.Errorf("entries = %+v, want the downloads of file:1 and file:2", list)
	}
}

// If the last audit log entry is damaged, views are dropped, but key uses are written.
func TestViewsAreDroppedIfLogIsDamaged(t *testing.T) {
	t.Parallel()
	l := newClosedLog(t, 3)
	v, err := instance.Open(t.Context(), l.opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.Close(t, v)
	l.alter(func(b *bolt.Bucket) {
		if err := b.Put(entryKey(4), []byte("x")); err != nil {
			t.Errorf("damage entry 4: %v", err)
		}
	})
	var log logBuffer
	l.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	if v, err = instance.Open(t.Context(), l.opts); err != nil {
		t.Fatalf("open the instance with the damaged log: %v", err)
	}
	vaulttest.WantKeyValid(t, v, text, true)
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:1", nil)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 1 {
		t.Errorf("written uses of the key = %d, want 1", k.UseCount)
	}
	vaulttest.Close(t, v)
	if lines := log.linesWith("lost=1"); len(lines) != 1 || !strings.Contains(lines[0], "damaged") {
		t.Errorf("log lines about lost entries = %q, want one that says the log is damaged", lines)
	}
}

// If a view was evicted from memory, its next range request is logged as a new view.
func TestEvictedViewIsLoggedAgain(t *testing.T) {
	t.Parallel()
	v, _, _ := vaulttest.OpenWithClock(t)
	user := model.Actor{Kind: model.ActorUser, ID: 7}
	for i := range 4096 + 500 {
		v.Events.RecordAccess(vaulttest.LinkActor(fmt.Sprint(i)), "file.opened", "file:1", nil)
		if i%1000 == 999 {
			entriesFrom(t, v, 2) // flushes the buffer
		}
	}
	entriesFrom(t, v, 2)
	v.Events.ContinueView(user, "file.opened", "file:2")
	v.Events.ContinueView(user, "file.opened", "file:2")
	list := entriesFrom(t, v, 2)
	if last := list[len(list)-1]; len(list) != 4096+500+1 || last.Record != "file:2" || last.Actor.ID != 7 {
		t.Errorf("got %d entries, the last %+v; want %d, the last a view of file:2 by user 7", len(list), last, 4096+500+1)
	}
}

// A user's first view or download of a document is logged individually. Repeats are
// combined into one entry per minute with a count, even if they come from different IP
// addresses.
func TestUserReadsAreCountedPerMinute(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	kim := model.Actor{Kind: model.ActorUser, ID: 7}
	for i := range 1000 {
		kim.Address = fmt.Sprint("192.0.2.", i)
		v.Events.RecordAccess(kim, "file.opened", "file:1", nil)
		v.Events.ContinueView(kim, "file.opened", "file:1")
		v.Events.RecordAccess(kim, "file.downloaded", "file:1", nil)
		v.Events.RecordAccess(kim, "file.downloaded", "file:1", map[string]string{"as": "zip"})
	}
	clock.Advance(time.Minute)
	var got []string
	for _, e := range entriesFrom(t, v, 2) {
		got = append(got, fmt.Sprint(e.Kind, e.Detail))
	}
	slices.Sort(got)
	want := []string{"file.downloadedmap[]", "file.downloadedmap[as:zip count:999]", "file.downloadedmap[as:zip]",
		"file.downloadedmap[count:999]", "file.openedmap[]", "file.openedmap[count:999]"}
	if !slices.Equal(got, want) {
		t.Errorf("entries = %q, want %q", got, want)
	}
}

// A user whose views and downloads add too many audit log entries is rate limited for a
// minute. Other users are not affected.
func TestReadRateLimit(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	kim, lee := model.Actor{Kind: model.ActorUser, ID: 7}, model.Actor{Kind: model.ActorUser, ID: 8}
	for i := range 600 {
		if v.Events.RateLimited(kim) {
			t.Fatalf("RateLimited() after %d files = true, want false", i)
		}
		v.Events.RecordAccess(kim, "file.opened", fmt.Sprint("file:", i), nil)
		v.Events.RecordAccess(kim, "file.opened", fmt.Sprint("file:", i), nil)
		v.Events.RecordAccess(lee, "file.downloaded", fmt.Sprint("file:", i), map[string]string{"as": "zip"})
	}
	for _, tt := range []struct {
		name  string
		actor model.Actor
		want  bool
	}{
		{"user who viewed 600 files", kim, true}, {"user who downloaded archives", lee, false}, {"operator", vaulttest.Operator, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := v.Events.RateLimited(tt.actor); got != tt.want {
				t.Errorf("RateLimited() = %v, want %v", got, tt.want)
			}
		})
	}
	clock.Advance(time.Minute)
	if v.Events.RateLimited(kim) {
		t.Error("RateLimited() a minute later = true, want false")
	}
}
