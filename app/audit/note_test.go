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

// views are the entries of views in the log: record, address, count.
func views(t *testing.T, v *instance.Instance) (list []string) {
	t.Helper()
	for _, e := range seqs(t, v, 2) {
		list = append(list, strings.TrimSpace(fmt.Sprint(e.Record, " ", e.Actor.Address, " ", e.Detail["count"])))
	}
	return list
}

func TestViewsCountOnceAMinute(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	look := func(file int, address string) {
		v.Events.RecordAccess(vaulttest.LinkActor(address), "file.opened", fmt.Sprint("file:", file), nil)
	}
	var want []string
	expect := func(what string, more ...string) {
		t.Helper()
		want = append(want, more...)
		if got := views(t, v); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	look(1, "a")
	expect("one is written", "file:1 a")
	look(1, "a")
	look(2, "a")
	look(1, "b")
	look(1, "a")
	expect("others by themselves, the same not again", "file:2 a", "file:1 b")
	clock.Advance(time.Minute - time.Microsecond)
	expect("the minute is not over")
	clock.Advance(time.Microsecond)
	expect("the minute is over", "file:1 a 2")
	look(1, "a")
	expect("a new one", "file:1 a")
	look(1, "a")
	clock.Advance(time.Hour)
	look(1, "a")
	expect("late", "file:1 a 1", "file:1 a")
	look(1, "a")
	clock.Advance(-time.Hour)
	look(1, "a")
	expect("a clock that is set back", "file:1 a 1", "file:1 a")

	// Downloads are counted one by one.
	for range 3 {
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:1", map[string]string{"x": "y"})
	}
	expect("downloads", "file:1", "file:1", "file:1")
}

// A range belongs to the view that began; without one it is a view.
func TestRangesBelongToAView(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	for range 20 {
		v.Events.ContinueView(vaulttest.LinkActor("a"), "file.opened", "file:1")
		clock.Advance(9 * time.Minute)
	}
	if got := views(t, v); !slices.Equal(got, []string{"file:1 a"}) {
		t.Errorf("%q", got)
	}
	v.Events.ContinueView(vaulttest.LinkActor("b"), "file.opened", "file:1")
	v.Events.ContinueView(vaulttest.LinkActor("b"), "file.opened", "file:1")
	clock.Advance(10 * time.Minute)
	v.Events.ContinueView(vaulttest.LinkActor("a"), "file.opened", "file:1")
	if got := views(t, v); !slices.Equal(got, []string{"file:1 a", "file:1 b", "file:1 a"}) {
		t.Errorf("%q", got)
	}
}

// The log is in order of time, whatever was written while views waited.
func TestViewsKeepTheOrderOfTime(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	begun := clock.Now()
	clock.Advance(500 * time.Millisecond)
	vaulttest.CreateKey(t, v, model.KeyDraft{})
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:2", nil)
	list := seqs(t, v, 2)
	if len(list) != 3 || list[1].Kind != "file.opened" || list[1].At.Before(list[0].At) || list[1].At.Sub(begun) > time.Second || list[2].At.Before(list[1].At) {
		t.Errorf("%+v", list)
	}
}

// journal is what a vault says, line by line.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *journal) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *journal) lines(word string) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, word) {
			list = append(list, line)
		}
	}
	return list
}

// Nobody waits for the log, and what waits for it is bounded.
func TestViewsAreBounded(t *testing.T) {
	t.Parallel()
	var said journal
	opts := vaulttest.Options(t)
	opts.Log = slog.New(slog.NewTextHandler(&said, nil))
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", fmt.Sprint("file:", i), nil)
		v.Events.RecordAccess(vaulttest.LinkActor(fmt.Sprint(i)), "file.opened", "file:1", nil)
		v.Events.ContinueView(vaulttest.LinkActor(fmt.Sprint("x", i)), "file.opened", "file:1")
	}
	if got := len(seqs(t, v, 2)); got != 4096 {
		t.Errorf("%d were written", got)
	}
	vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.Close(t, v)
	if lost := said.lines("lost="); len(lost) != 1 || !strings.Contains(lost[0], "level=WARN") {
		t.Errorf("%q", lost)
	}
}

// Many are written at once, long before a second is over.
func TestManyViewsAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	for i := range 3000 {
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", fmt.Sprint("file:", i), nil)
	}
	vaulttest.Eventually(t, "three thousand", func() bool {
		r, err := v.Events.Verify(t.Context(), func(uint64, uint64) {})
		return err == nil && r.OK() && r.Entries == 3001
	})
}

func TestViewsAreWrittenByThemselvesAndAtTheEnd(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	v.Start(time.Hour)
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	vaulttest.Eventually(t, "the first view", func() bool {
		r, err := v.Events.Verify(t.Context(), func(uint64, uint64) {})
		return err == nil && r.Entries == 2
	})
	v.Events.RecordAccess(vaulttest.LinkActor("a"), "file.opened", "file:1", nil)
	v.Events.RecordAccess(vaulttest.LinkActor("b"), "file.opened", "file:1", nil)
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if got := views(t, v); len(got) != 3 || !slices.Contains(got, "file:1 a 1") || !slices.Contains(got, "file:1 b") {
		t.Errorf("%q", got)
	}
}

// A vault that takes no writes loses views, says so, and goes on.
func TestViewsOfAVaultThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	var said journal
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now, o.Log = clock.Now, slog.New(slog.NewTextHandler(&said, nil)) })
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	v.Store.Fail(errors.New("a broken disk"))
	for i := range 5 {
		vaulttest.WantKeyValid(t, v, text, true)
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", fmt.Sprint("file:", i), nil)
		if got := len(seqs(t, v, 1)); got != 2 {
			t.Errorf("%d entries", got)
		}
		clock.Advance(20 * time.Second)
	}
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 0 {
		t.Errorf("%+v", k)
	}
	lost := said.lines("lost=")
	if len(lost) != 2 || !strings.Contains(lost[0], "lost=1 ") || !strings.Contains(lost[1], "lost=3 ") {
		t.Errorf("%q", lost)
	}
}

// What a canceled flush could not write is written by the next.
func TestViewsAreGivenBack(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:1", nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Events.Each(gone, 1, func(model.Event, error) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:2", nil)
	if list := seqs(t, v, 2); len(list) != 2 || list[0].Record != "file:1" || list[1].Record != "file:2" {
		t.Errorf("%+v", list)
	}
}

// A log whose end is damaged takes no views, and keeps no key's use from being written.
func TestViewsOfADamagedLog(t *testing.T) {
	t.Parallel()
	l := longLog(t, 3)
	v, err := instance.Open(t.Context(), l.opts)
	if err != nil {
		t.Fatal(err)
	}
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.Close(t, v)
	l.alter(func(b *bolt.Bucket) {
		if err := b.Put(place(4), []byte("x")); err != nil {
			t.Error(err)
		}
	})
	var said journal
	l.opts.Log = slog.New(slog.NewTextHandler(&said, nil))
	if v, err = instance.Open(t.Context(), l.opts); err != nil {
		t.Fatal(err)
	}
	vaulttest.WantKeyValid(t, v, text, true)
	v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", "file:1", nil)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 1 {
		t.Errorf("%+v", k)
	}
	vaulttest.Close(t, v)
	if lost := said.lines("lost=1"); len(lost) != 1 || !strings.Contains(lost[0], "damaged") {
		t.Errorf("%q", lost)
	}
}

// However many views are remembered, none goes on without having begun in the log.
func TestNoViewIsLeftOut(t *testing.T) {
	t.Parallel()
	v, _, _ := vaulttest.OpenWithClock(t)
	many := model.Actor{Kind: model.ActorUser, ID: 7}
	for i := range 4096 + 500 {
		v.Events.RecordAccess(vaulttest.LinkActor(fmt.Sprint(i)), "file.opened", "file:1", nil)
		if i%1000 == 999 {
			seqs(t, v, 2) // they are written
		}
	}
	seqs(t, v, 2)
	v.Events.ContinueView(many, "file.opened", "file:2")
	v.Events.ContinueView(many, "file.opened", "file:2")
	list := seqs(t, v, 2)
	if last := list[len(list)-1]; len(list) != 4096+500+1 || last.Record != "file:2" || last.Actor.ID != 7 {
		t.Errorf("%d entries, the last %+v", len(list), last)
	}
}

// What a user reads from several addresses, or downloads again, counts once a minute.
func TestReadingOfAUserCountsOnceAMinute(t *testing.T) {
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
	for _, e := range seqs(t, v, 2) {
		got = append(got, fmt.Sprint(e.Kind, e.Detail))
	}
	slices.Sort(got)
	want := []string{"file.downloadedmap[]", "file.downloadedmap[as:zip count:999]", "file.downloadedmap[as:zip]", "file.downloadedmap[count:999]", "file.openedmap[]", "file.openedmap[count:999]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Who writes the log full by reading is fast, for a minute, and nobody else is.
func TestReadingHasAPace(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	kim, lee := model.Actor{Kind: model.ActorUser, ID: 7}, model.Actor{Kind: model.ActorUser, ID: 8}
	for i := range 600 {
		if v.Events.RateLimited(kim) {
			t.Fatalf("after %d", i)
		}
		v.Events.RecordAccess(kim, "file.opened", fmt.Sprint("file:", i), nil)
		v.Events.RecordAccess(kim, "file.opened", fmt.Sprint("file:", i), nil)
		v.Events.RecordAccess(lee, "file.downloaded", fmt.Sprint("file:", i), map[string]string{"as": "zip"})
	}
	if !v.Events.RateLimited(kim) || v.Events.RateLimited(lee) || v.Events.RateLimited(vaulttest.Operator) {
		t.Errorf("%v, %v", v.Events.RateLimited(kim), v.Events.RateLimited(lee))
	}
	clock.Advance(time.Minute)
	if v.Events.RateLimited(kim) {
		t.Error("still")
	}
}
