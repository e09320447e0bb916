//go:build harness && linux

// Stress tests of the pool: workers are killed at random, and decompression bombs arrive together
// with valid documents. The tests take minutes and log measurements:
//
//	go test -tags harness -run Stress -v ./app/sandbox
//
// DEEDKEEP_TEST_WORKER_KILLS is the number of workers to kill (default 200; use 1000 for a long
// run).

package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// workers returns the process IDs of this process's children.
func workers(t testing.TB) (pids []int) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatalf("list files: %v", err)
	}
	for _, file := range stats {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended in the meantime
		}
		_, rest, _ := strings.Cut(string(content), ") ")
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(path.Base(path.Dir(file)))
		if err == nil && len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// resident returns the total resident memory of the processes in bytes.
func resident(pids []int) (sum int64) {
	for _, pid := range pids {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if fields := strings.Fields(string(content)); err == nil && len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes only numbers
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}

// times collects the durations of calls.
type times struct {
	mu   sync.Mutex
	list []time.Duration
}

func (t *times) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, d)
}

func (t *times) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == 0 {
		return "none"
	}
	slices.Sort(t.list)
	at := func(share float64) time.Duration {
		return t.list[int(share*float64(len(t.list)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d calls, p50 %v, p99 %v, longest %v", len(t.list), at(0.5), at(0.99), at(1))
}

// loaded is a sample with its content and expected text.
type loaded struct {
	vaulttest.Sample
	content []byte
	text    string // as returned when no worker is killed
}

func (l *loaded) request(owner string, class sandbox.Class) sandbox.Request {
	return sandbox.Request{
		Doc: bytes.NewReader(l.content), Size: int64(len(l.content)), MIME: l.MIME,
		Ext: path.Ext(l.Path)[1:], Owner: owner, Class: class,
	}
}

func (l *loaded) inspect(ctx context.Context, p *sandbox.Pool, owner string) (string, error) {
	r := l.request(owner, sandbox.Upload)
	report, err := p.Inspect(sandbox.WithOwner(ctx, owner), r.Doc, r.Size, r.Ext, limits)
	return report.Rejection, err
}

// load reads the samples for which selected returns true.
func load(t testing.TB, selected func(vaulttest.Sample) bool) (list []*loaded) {
	t.Helper()
	for _, s := range vaulttest.Samples(t) {
		if !selected(s) {
			continue
		}
		content, err := os.ReadFile(s.File)
		if err != nil {
			t.Fatalf("read file: %v", err)
		}
		list = append(list, &loaded{Sample: s, content: content})
	}
	return list
}

func bomb(s vaulttest.Sample) bool {
	return strings.Contains(s.Path, "bomb") || strings.HasPrefix(s.Path, "refuse/")
}

func honest(s vaulttest.Sample) bool { return s.Accept && !bomb(s) }

// readText returns the text of s. It fails the test if a page comes twice.
func readText(t testing.TB, p *sandbox.Pool, s *loaded, owner string) (string, error) {
	var all strings.Builder
	last := 0
	err := p.Text(context.Background(), s.request(owner, sandbox.Background), document.ExtractLimits{}, func(page int, text string) error {
		if page <= last {
			t.Errorf("%s: got page %d after %d, want ascending numbers", s.Path, page, last)
		}
		last = page
		fmt.Fprintf(&all, "%d %s\n", page, text)
		return nil
	})
	return all.String(), err
}

// stressRun is one run with random kills.
type stressRun struct {
	t       *testing.T
	p       *sandbox.Pool
	samples []*loaded
	kills   atomic.Int64
	calls   atomic.Int64
	excused atomic.Int64 // failed calls during which two or more workers were killed
	took    [3]times     // durations of inspections, images, and texts
}

func TestStressKills(t *testing.T) {
	kills := int64(200)
	if s := os.Getenv("DEEDKEEP_TEST_WORKER_KILLS"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatalf("parse number of kills: %v", err)
		}
		kills = n
	}
	before := runtime.NumGoroutine()
	s := &stressRun{t: t, samples: load(t, honest)}
	s.p = sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 2})
	for _, sample := range s.samples {
		var err error
		if sample.text, err = readText(t, s.p, sample, ""); err != nil && !sandbox.IsDocumentError(err) {
			t.Fatalf("read text: %v", err)
		}
	}
	began := time.Now()
	s.run(kills)
	took := time.Since(began)
	stats := s.p.Stats()
	if err := s.p.Close(); err != nil {
		t.Errorf("close pool: %v", err)
	}
	end := s.p.Stats()
	if end.Alive != 0 || end.Started != end.Killed {
		t.Errorf("Stats() after Close = %+v, want none alive and all killed", end)
	}
	nothingLeft(t, before)
	t.Logf("%d workers killed in %v under %d calls (%.0f a second); %d started; %d documents were excused after two kills",
		s.kills.Load(), took.Round(time.Millisecond), s.calls.Load(), float64(s.calls.Load())/took.Seconds(), stats.Started, s.excused.Load())
	t.Logf("inspections: %v", &s.took[0])
	t.Logf("pictures:    %v", &s.took[1])
	t.Logf("texts:       %v", &s.took[2])
}

// nothingLeft checks that no goroutine or process outlives the pool.
func nothingLeft(t *testing.T, before int) {
	t.Helper()
	if left := workers(t); len(left) != 0 {
		t.Errorf("processes left: %v, want none", left)
	}
	await(t, "end of the goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

// run makes concurrent calls until the given number of workers have been killed.
func (s *stressRun) run(kills int64) {
	over := make(chan struct{})
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for {
				select {
				case <-over:
					return
				default:
					s.call(rnd, fmt.Sprint("caller ", i%4))
				}
			}
		})
	}
	rnd := rand.New(rand.NewPCG(2, 2))
	for s.kills.Load() < kills {
		// Let a few calls complete between kills, so that most calls lose at most one worker.
		next := s.calls.Load() + 1 + rnd.Int64N(8)
		await(s.t, "the next calls", func() bool { return s.calls.Load() >= next })
		if pids := workers(s.t); len(pids) > 0 {
			s.kills.Add(1)
			_ = syscall.Kill(pids[rnd.IntN(len(pids))], syscall.SIGKILL) // the worker may have exited already
		}
	}
	close(over)
	callers.Wait()
}

// call makes one random call and checks its result.
func (s *stressRun) call(rnd *rand.Rand, owner string) {
	sample := s.samples[rnd.IntN(len(s.samples))]
	kind := rnd.IntN(3)
	kills, began := s.kills.Load(), time.Now()
	wrong := s.check(kind, sample, owner)
	s.took[kind].add(time.Since(began))
	s.calls.Add(1)
	switch {
	case wrong == "":
	case s.kills.Load()-kills >= 2:
		s.excused.Add(1) // the call may have lost two workers, so its document may be reported as damaged
	default:
		s.t.Errorf("%s: %s", sample.Path, wrong)
	}
}

// check makes a call and returns a description of what is wrong with its result, or "".
func (s *stressRun) check(kind int, sample *loaded, owner string) string {
	switch kind {
	case 0:
		if rejection, err := sample.inspect(context.Background(), s.p, owner); err != nil || rejection != "" {
			return fmt.Sprintf("inspected: %q, %v", rejection, err)
		}
	case 1:
		picture, err := s.p.PageImage(context.Background(), sample.request(owner, sandbox.View), 1, 200, document.ExtractLimits{})
		supported := sample.Kind == "pdf" || strings.HasPrefix(sample.MIME, "image/")
		if supported && (err != nil || len(picture.Bytes) == 0) || !sandbox.IsDocumentError(err) && err != nil {
			return fmt.Sprintf("drawn: %d bytes, %v", len(picture.Bytes), err)
		}
	case 2:
		text, err := readText(s.t, s.p, sample, owner)
		if text != sample.text || err != nil && !sandbox.IsDocumentError(err) {
			return fmt.Sprintf("read: %d bytes, want %d, %v", len(text), len(sample.text), err)
		}
	}
	return ""
}

// TestStressBombs sends each bomb and rejected sample ten times at once. At the same time, another
// owner sends valid documents one after another.
func TestStressBombs(t *testing.T) {
	before := runtime.NumGoroutine()
	good := load(t, func(s vaulttest.Sample) bool { return honest(s) && strings.HasPrefix(s.Path, "title/") })
	bombs := load(t, bomb)
	p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 2})

	var peak atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				peak.Store(max(peak.Load(), resident(workers(t))))
			}
		}
	}()

	var alone times
	for range 20 {
		inspectAll(t, p, good, &alone)
	}
	alonePeak := peak.Load()

	var running sync.WaitGroup
	var left atomic.Int64
	began := time.Now()
	for range 10 {
		for _, b := range bombs {
			left.Add(1)
			running.Go(func() {
				defer left.Add(-1)
				rejection, err := b.inspect(context.Background(), p, "bombs")
				if err != nil || rejection != b.Rejection && !strings.Contains(b.Path, "exe") {
					t.Errorf("%s: got %q, %v, want %q", b.Path, rejection, err, b.Rejection)
				}
			})
		}
	}
	sent := left.Load()
	var beside times
	for left.Load() > 0 {
		inspectAll(t, p, good, &beside)
	}
	running.Wait()
	took := time.Since(began)
	close(stop)
	<-stopped
	stats := p.Stats()
	if err := p.Close(); err != nil {
		t.Errorf("close pool: %v", err)
	}
	nothingLeft(t, before)
	t.Logf("%d bombs in %v, %d workers started", sent, took.Round(time.Millisecond), stats.Started)
	t.Logf("valid documents alone:       %v", &alone)
	t.Logf("valid documents beside them: %v", &beside)
	t.Logf("workers together at most:     %d MiB alone, %d MiB beside them", alonePeak>>20, peak.Load()>>20)
}

func inspectAll(t *testing.T, p *sandbox.Pool, list []*loaded, took *times) {
	for _, s := range list {
		began := time.Now()
		rejection, err := s.inspect(context.Background(), p, "valid")
		took.add(time.Since(began))
		if err != nil || rejection != "" {
			t.Errorf("%s: got rejection %q, %v, want none", s.Path, rejection, err)
		}
	}
}
