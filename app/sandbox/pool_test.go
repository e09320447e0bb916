package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == sandbox.FakeArg {
		os.Exit(sandbox.Fake(os.Args))
	}
	if len(os.Args) > 2 && os.Args[1] == parentArg {
		os.Exit(beParent(os.Args[2]))
	}
	vaulttest.Main(m)
}

// limits are the upload limits in the API contract.
var limits = document.InspectLimits{MaxPDFPages: 500, MaxImageHeavySize: 50 << 20, MaxImageHeavyPages: 300, MaxZipEntries: 10_000}

// open returns a pool. At the end of the test, it closes the pool and checks that no worker
// outlives it.
func open(t *testing.T, o sandbox.Options) *sandbox.Pool {
	t.Helper()
	p := sandbox.Open(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close pool: %v", err)
		}
		if alive := p.Stats().Alive; alive != 0 {
			t.Errorf("got %d workers after Close, want none", alive)
		}
	})
	return p
}

// fake returns options that run the fake worker with the given name.
func fake(t *testing.T, kind string) sandbox.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find test binary: %v", err)
	}
	return sandbox.Options{Command: []string{self, sandbox.FakeArg, kind}}
}

// await waits until done returns true. It fails the test after 20 seconds.
func await(t *testing.T, condition string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited 20 s, want %s", condition)
		}
	}
}

func text(s string) (io.ReaderAt, int64) { return strings.NewReader(s), int64(len(s)) }

func TestMisbehavingWorkers(t *testing.T) {
	type row struct {
		kind    string
		started int // workers per document
	}
	rows := []row{{"crashes", 2}, {"reads endlessly", 1}, {"never reads", 1}, {"spins", 1}}
	for _, kind := range sandbox.BadFrames() {
		rows = append(rows, row{kind, 2})
	}
	for _, c := range rows {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			o := fake(t, c.kind)
			if c.started == 1 {
				o.Deadline = 200 * time.Millisecond
			}
			p := open(t, o)
			for ext, want := range map[string]string{"pdf": document.ReasonPDFUnreadable, "txt": document.ReasonMismatch("txt")} {
				doc, size := text("0123456789")
				report, err := p.Inspect(t.Context(), doc, size, ext, limits)
				if err != nil || report.Rejection != want || report.Pages != nil {
					t.Errorf("Inspect(%s) = %+v, %v; want rejection %q and no page count", ext, report, err, want)
				}
			}
			if got, want := p.Stats(), (sandbox.Stats{Started: 2 * c.started, Killed: 2 * c.started, Served: 2}); got != want {
				t.Errorf("Stats() = %+v, want %+v", got, want)
			}
		})
	}
}

func TestRetryAfterCrash(t *testing.T) {
	p := open(t, fake(t, "crashes once="+filepath.Join(t.TempDir(), "mark")))
	doc, size := text("x")
	report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
	if err != nil || report.MIME != "x/y" || report.Pages == nil || *report.Pages != 7 {
		t.Errorf("Inspect = %+v, %v; want type x/y and 7 pages", report, err)
	}
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 2, Killed: 1, Served: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// parentArg is the argument that turns the test binary into a parent process for tests that kill
// the parent.
const parentArg = "parent"

// beParent inspects a document in a worker that writes its process ID to file and then loops
// forever.
func beParent(file string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	p := sandbox.Open(sandbox.Options{Command: []string{self, sandbox.FakeArg, "writes its ID and spins=" + file}})
	doc, size := text("x")
	if _, err := p.Inspect(context.Background(), doc, size, "pdf", limits); err != nil {
		return 1
	}
	return 0
}

// A worker that exits between two documents does not affect the next document.
func TestIdleWorkerExits(t *testing.T) {
	p := open(t, fake(t, "responds and exits"))
	for range 2 {
		doc, size := text("x")
		report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
		if err != nil || report.MIME != "x/y" {
			t.Errorf("Inspect = %+v, %v; want type x/y", report, err)
		}
	}
	if s := p.Stats(); s.Started != 2 || s.Served != 2 {
		t.Errorf("Stats() = %+v, want 2 started and 2 served", s)
	}
}

func TestWorkersThatDoNotStart(t *testing.T) {
	for kind, want := range map[string]string{
		"dies": "read from worker process", "silent": "no message", "other build": "another version", "wrong first word": "protocol violation",
		"no program": "no such file", "verdict instead of ready": "expected 'r'", "ready of no JSON": "protocol violation",
		"unknown protection": "invalid missing protection", "protection with an escape": "invalid missing protection",
		"many protections":        "too many missing protections: 9",
		"language with an escape": "invalid language", "many languages": "too many languages: 17",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := fake(t, kind).WithHelloTimeout(2 * time.Second)
			if kind == "silent" {
				o = o.WithHelloTimeout(20 * time.Millisecond)
			}
			if kind == "no program" {
				o.Command = []string{filepath.Join(t.TempDir(), "nothing")}
			}
			p := open(t, o)
			doc, size := text("x")
			began := time.Now()
			_, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
			if err == nil || (kind != "no program" && !strings.Contains(err.Error(), want)) {
				t.Errorf("error = %v, want %q in it", err, want)
			}
			// The delays between five starts are 100, 200, 400, and 800 ms.
			if took := time.Since(began); took < 1500*time.Millisecond {
				t.Errorf("gave up after %v, want at least 1.5 s", took)
			}
			if got, want := p.Stats(), (sandbox.Stats{}); got != want {
				t.Errorf("Stats() = %+v, want %+v", got, want)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := p.Inspect(ctx, doc, size, "pdf", limits); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("second call: error = %v, want DeadlineExceeded", err)
			}
		})
	}
}

func TestCanceledCall(t *testing.T) {
	p := open(t, fake(t, "spins"))
	ctx, cancel := context.WithCancel(t.Context())
	doc := &signalingDoc{onRead: cancel}
	_, err := open(t, fake(t, "reads endlessly")).Inspect(ctx, doc, 10, "pdf", limits)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	// A call whose context is already canceled does not start.
	if _, err := p.Inspect(ctx, doc, 10, "pdf", limits); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// signalingDoc calls a function when it is first read.
type signalingDoc struct {
	once   sync.Once
	onRead func()
}

func (s *signalingDoc) ReadAt(p []byte, _ int64) (int, error) {
	s.once.Do(s.onRead)
	clear(p)
	return len(p), nil
}

func TestCloseWhileWorking(t *testing.T) {
	p := sandbox.Open(fake(t, "reads endlessly"))
	reading := make(chan struct{})
	got := make(chan error, 1)
	go func() {
		_, err := p.Inspect(context.Background(), &signalingDoc{onRead: func() { close(reading) }}, 10, "pdf", limits)
		got <- err
	}()
	<-reading
	if err := p.Close(); err != nil {
		t.Errorf("close pool: %v", err)
	}
	if err := <-got; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("error = %v, want sandbox.ErrClosed", err)
	}
	doc, size := text("x")
	if _, err := p.Inspect(t.Context(), doc, size, "pdf", limits); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// This test doesn't open PDFs, so it doesn't need to compile PDFium.
func TestRealWorker(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	for range 3 {
		doc, size := text(strings.Repeat("WARRANTY DEED\r\n", 20_000))
		report, err := p.Inspect(t.Context(), doc, size, "txt", limits)
		if err != nil || report.Rejection != "" || report.MIME != "text/plain" {
			t.Errorf("Inspect = %+v, %v; want accepted text/plain", report, err)
		}
	}
	doc := bytes.NewReader(bytes.Repeat([]byte{0}, 1<<20))
	report, err := p.Inspect(t.Context(), doc, doc.Size(), "txt", limits)
	if err != nil || report.Rejection != document.ReasonMismatch("txt") {
		t.Errorf("Inspect = %+v, %v, want the rejection %q", report, err, document.ReasonMismatch("txt"))
	}
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 1, Served: 4}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// This test renders and reads only documents that don't need PDFium.
func TestRealWorkerExtracts(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	var drawing bytes.Buffer
	if err := png.Encode(&drawing, image.NewRGBA(image.Rect(0, 0, 400, 600))); err != nil {
		t.Fatalf("encode PNG: %v", err)
	}
	doc := bytes.NewReader(drawing.Bytes())
	got, err := p.PageImage(t.Context(), sandbox.Request{Doc: doc, Size: doc.Size(), MIME: "image/png", Ext: "png"}, 1, 200,
		document.ExtractLimits{})
	if err != nil || got.Width != 200 || got.Height != 300 {
		t.Fatalf("got %d by %d pixels, %v, want 200 by 300", got.Width, got.Height, err)
	}
	seen, kind, err := image.DecodeConfig(bytes.NewReader(got.Bytes))
	if err != nil || seen.Width != 200 || seen.Height != 300 || "image/"+kind != got.MIME {
		t.Errorf("image = %s, %+v, %v; want %s of 200 by 300", kind, seen, err, got.MIME)
	}
	for _, c := range []struct {
		name, mime string
		lim        document.ExtractLimits
		want       string
		err        error
	}{
		{"text", "text/plain", document.ExtractLimits{}, "[1 Lot 7\tBlock B\n]", nil},
		{"cut off", "text/plain", document.ExtractLimits{MaxTextBytes: 5}, "[1 Lot 7]", document.ErrTooLarge},
		{"a kind without", "image/png", document.ExtractLimits{}, "[]", document.ErrUnsupported},
	} {
		var pages []string
		words, size := text("Lot 7\tBlock B\r\n")
		err := p.Text(t.Context(), sandbox.Request{Doc: words, Size: size, MIME: c.mime}, c.lim, collect(&pages))
		if !errors.Is(err, c.err) || fmt.Sprint(pages) != c.want {
			t.Errorf("%s: Text = %q, %v; want %s, %v", c.name, pages, err, c.want, c.err)
		}
	}
	if _, err := p.PageImage(t.Context(), sandbox.Request{Doc: failing{}, Size: 1 << 20, MIME: "image/png"}, 1, 200,
		document.ExtractLimits{}); !errors.Is(err, errDisk) || sandbox.IsDocumentError(err) {
		t.Errorf("error = %v, want errDisk", err)
	}
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 1, Served: 4}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// A worker loads PDFium before its first document. A worker that was started for another document
// type never gets a PDF. Opening the first PDF fills the cache.
func TestEngineLoadsBeforeFirstDocument(t *testing.T) {
	t.Parallel()
	o := fake(t, "small engine")
	o.Workers, o.CacheDir = 1, t.TempDir()
	p := open(t, o)
	compiled := func() int {
		files, err := filepath.Glob(filepath.Join(o.CacheDir, "wazero-*", "*"))
		if err != nil {
			t.Fatalf("list files: %v", err)
		}
		return len(files)
	}
	for i, row := range []struct {
		ext, content      string
		started, compiled int
	}{
		{"txt", "WARRANTY DEED", 1, 0},
		{"txt", "MORTGAGE", 1, 0},
		{"pdf", "%PDF-1.4", 2, 2}, // PDFium, and the module with its callbacks
		{"txt", "PLAT", 2, 2},
		{"pdf", "%PDF-1.4", 2, 2},
	} {
		doc, size := text(row.content)
		_, err := p.Inspect(t.Context(), doc, size, row.ext, limits)
		if (err != nil) != (row.ext == "pdf") || sandbox.IsDocumentError(err) {
			t.Errorf("document %d, %s: error = %v, want one for PDFs only, and temporary", i, row.ext, err)
		}
		if got := p.Stats().Started; got != row.started || compiled() != row.compiled {
			t.Errorf("document %d, %s: got %d workers and %d files in the cache, want %d and %d", i, row.ext, got, compiled(), row.started,
				row.compiled)
		}
	}
}

func TestUnreadableDocument(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	_, err := p.Inspect(t.Context(), failing{}, 1<<20, "txt", limits)
	if !errors.Is(err, errDisk) {
		t.Errorf("error = %v, want errDisk", err)
	}
	short := strings.NewReader("short")
	if _, err := p.Inspect(t.Context(), short, 1<<20, "txt", limits); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error = %v, want io.ErrUnexpectedEOF", err)
	}
	doc, size := text("still there")
	if report, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil || report.Rejection != "" {
		t.Errorf("Inspect = %+v, %v; want accepted", report, err)
	}
	if s := p.Stats(); s.Started != 1 {
		t.Errorf("Stats() = %+v, want 1 started", s)
	}
}

var errDisk = errors.New("disk is gone")

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestConcurrentCalls(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 2})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			doc, size := text("Lot 7, Block B")
			if report, err := p.Inspect(context.Background(), doc, size, "txt", limits); err != nil || report.Rejection != "" {
				t.Errorf("Inspect = %+v, %v; want accepted", report, err)
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.Served != 16 || s.Started > 2 || s.Killed != 0 {
		t.Errorf("Stats() = %+v, want 16 served, at most 2 started, none killed", s)
	}
}

// Slow work is preempted for another owner and completed later. The caller still gets each page
// exactly once.
func TestPreemption(t *testing.T) {
	o := fake(t, "sends a little, then=spins@"+filepath.Join(t.TempDir(), "mark"))
	o.Workers = 1
	p := open(t, o)
	read := func(owner string, emit func(int, string) error) error {
		doc, size := text("0123456789")
		return p.Text(t.Context(), sandbox.Request{Doc: doc, Size: size, MIME: "text/plain", Owner: owner}, document.ExtractLimits{}, emit)
	}
	var slow, quick []string
	begun, ended := make(chan struct{}), make(chan error)
	go func() {
		add := collect(&slow)
		ended <- read("slow", func(page int, text string) error {
			if page == 2 {
				close(begun)
			}
			return add(page, text)
		})
	}()
	<-begun
	if err := read("quick", collect(&quick)); err != nil {
		t.Errorf("quick: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("slow: %v", err)
	}
	want := fmt.Sprint([]string{"1 text of page 1\n", "2 text of page 2\n", "3 text of page 3\n"})
	if fmt.Sprint(slow) != want || fmt.Sprint(quick) != want {
		t.Errorf("got %q and %q, want %q from both", slow, quick, want)
	}
	if got, want := p.Stats(), (sandbox.Stats{Started: 3, Killed: 3, Served: 2}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}
