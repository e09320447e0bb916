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

// limits are those of SPEC.md.
var limits = document.InspectLimits{MaxPDFPages: 500, MaxImageHeavySize: 50 << 20, MaxImageHeavyPages: 300, MaxZipEntries: 10_000}

// open returns a pool that the test closes and whose children it counts.
func open(t *testing.T, o sandbox.Options) *sandbox.Pool {
	t.Helper()
	p := sandbox.Open(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if alive := p.Stats().Alive; alive != 0 {
			t.Errorf("%d children outlive the pool", alive)
		}
	})
	return p
}

// fake returns options with children of a bad kind.
func fake(t *testing.T, kind string) sandbox.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Options{Command: []string{self, sandbox.FakeArg, kind}}
}

// await looks until seen says yes, and fails the test after 20 seconds.
func await(t *testing.T, what string, seen func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !seen() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func text(s string) (io.ReaderAt, int64) { return strings.NewReader(s), int64(len(s)) }

func TestBadChildren(t *testing.T) {
	type row struct {
		kind    string
		started int // children per document
	}
	rows := []row{{"crashes", 2}, {"asks for ever", 1}, {"never listens", 1}, {"spins", 1}}
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
					t.Errorf("%s: %+v, %v", ext, report, err)
				}
			}
			s := p.Stats()
			if s != (sandbox.Stats{Started: 2 * c.started, Killed: 2 * c.started, Served: 2}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestSecondChance(t *testing.T) {
	p := open(t, fake(t, "crashes once="+filepath.Join(t.TempDir(), "mark")))
	doc, size := text("x")
	report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
	if err != nil || report.MIME != "x/y" || report.Pages == nil || *report.Pages != 7 {
		t.Errorf("%+v, %v", report, err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 2, Killed: 1, Served: 1}) {
		t.Errorf("%+v", s)
	}
}

// parentArg is the word that makes the test binary a process with a child, for
// the tests that end such a process.
const parentArg = "parent"

// beParent has a document inspected by a child that writes its number to file
// and spins.
func beParent(file string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	p := sandbox.Open(sandbox.Options{Command: []string{self, sandbox.FakeArg, "says who and spins=" + file}})
	doc, size := text("x")
	if _, err := p.Inspect(context.Background(), doc, size, "pdf", limits); err != nil {
		return 1
	}
	return 0
}

// TestIdleChildLeaves: that a child ended between two documents is no
// document's fault.
func TestIdleChildLeaves(t *testing.T) {
	p := open(t, fake(t, "answers and leaves"))
	for range 2 {
		doc, size := text("x")
		report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
		if err != nil || report.MIME != "x/y" {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if s := p.Stats(); s.Started != 2 || s.Served != 2 {
		t.Errorf("%+v", s)
	}
}

func TestChildrenThatDoNotStart(t *testing.T) {
	for kind, want := range map[string]string{
		"dies": "hear child", "silent": "said nothing", "other build": "another build", "wrong first word": "breach",
		"no program": "no such file", "verdict instead of ready": "instead of ready", "ready of no JSON": "breach",
		"unknown gap": "gap", "gap with an escape": "gap", "many gaps": "9 gaps",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := fake(t, kind).WithGreeting(2 * time.Second)
			if kind == "silent" {
				o = o.WithGreeting(20 * time.Millisecond)
			}
			if kind == "no program" {
				o.Command = []string{filepath.Join(t.TempDir(), "nothing")}
			}
			p := open(t, o)
			doc, size := text("x")
			began := time.Now()
			_, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
			if err == nil || (kind != "no program" && !strings.Contains(err.Error(), want)) {
				t.Errorf("%v", err)
			}
			// 100, 200, 400 and 800 ms between five starts.
			if took := time.Since(began); took < 1500*time.Millisecond {
				t.Errorf("gave up after %v", took)
			}
			if s := p.Stats(); s != (sandbox.Stats{}) {
				t.Errorf("%+v", s)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := p.Inspect(ctx, doc, size, "pdf", limits); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("no delay: %v", err)
			}
		})
	}
}

func TestCallerLeaves(t *testing.T) {
	p := open(t, fake(t, "spins"))
	ctx, cancel := context.WithCancel(t.Context())
	doc := &signaling{asked: cancel}
	_, err := open(t, fake(t, "asks for ever")).Inspect(ctx, doc, 10, "pdf", limits)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	// Who has left before is not begun with.
	if _, err := p.Inspect(ctx, doc, 10, "pdf", limits); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// signaling is a document that says when it is first read.
type signaling struct {
	once  sync.Once
	asked func()
}

func (s *signaling) ReadAt(p []byte, _ int64) (int, error) {
	s.once.Do(s.asked)
	clear(p)
	return len(p), nil
}

func TestCloseWhileWorking(t *testing.T) {
	p := sandbox.Open(fake(t, "asks for ever"))
	asked := make(chan struct{})
	got := make(chan error, 1)
	go func() {
		_, err := p.Inspect(context.Background(), &signaling{asked: func() { close(asked) }}, 10, "pdf", limits)
		got <- err
	}()
	<-asked
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-got; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("%v", err)
	}
	doc, size := text("x")
	if _, err := p.Inspect(t.Context(), doc, size, "pdf", limits); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestRealChild opens no PDF, which would compile PDFium.
func TestRealChild(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	for range 3 {
		doc, size := text(strings.Repeat("WARRANTY DEED\r\n", 20_000))
		report, err := p.Inspect(t.Context(), doc, size, "txt", limits)
		if err != nil || report.Rejection != "" || report.MIME != "text/plain" {
			t.Errorf("%+v, %v", report, err)
		}
	}
	doc := bytes.NewReader(bytes.Repeat([]byte{0}, 1<<20))
	report, err := p.Inspect(t.Context(), doc, doc.Size(), "txt", limits)
	if err != nil || report.Rejection != document.ReasonMismatch("txt") {
		t.Errorf("%+v, %v", report, err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 1, Served: 4}) {
		t.Errorf("%+v", s)
	}
}

// TestRealChildExtracts draws and reads what needs no PDFium.
func TestRealChildExtracts(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	var drawing bytes.Buffer
	if err := png.Encode(&drawing, image.NewRGBA(image.Rect(0, 0, 400, 600))); err != nil {
		t.Fatal(err)
	}
	doc := bytes.NewReader(drawing.Bytes())
	got, err := p.Picture(t.Context(), sandbox.Request{Doc: doc, Size: doc.Size(), MIME: "image/png", Ext: "png"}, 1, 200, document.ExtractLimits{})
	if err != nil || got.Width != 200 || got.Height != 300 {
		t.Fatalf("%d by %d, %v", got.Width, got.Height, err)
	}
	seen, kind, err := image.DecodeConfig(bytes.NewReader(got.Bytes))
	if err != nil || seen.Width != 200 || seen.Height != 300 || "image/"+kind != got.MIME {
		t.Errorf("%s, %+v, %v", kind, seen, err)
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
			t.Errorf("%s: %q, %v", c.name, pages, err)
		}
	}
	if _, err := p.Picture(t.Context(), sandbox.Request{Doc: failing{}, Size: 1 << 20, MIME: "image/png"}, 1, 200, document.ExtractLimits{}); !errors.Is(err, errDisk) || sandbox.IsDocumentError(err) {
		t.Errorf("%v", err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 1, Served: 4}) {
		t.Errorf("%+v", s)
	}
}

// What PDFium needs of files is done before the first document: a child that was started
// for another type is not given a PDF, and the cache is filled when the PDF is opened.
func TestEngineBeforeDocuments(t *testing.T) {
	t.Parallel()
	o := fake(t, "small engine")
	o.Workers, o.CacheDir = 1, t.TempDir()
	p := open(t, o)
	compiled := func() int {
		files, err := filepath.Glob(filepath.Join(o.CacheDir, "wazero-*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for i, row := range []struct {
		ext, content      string
		started, compiled int
	}{
		{"txt", "WARRANTY DEED", 1, 0},
		{"txt", "MORTGAGE", 1, 0},
		{"pdf", "%PDF-1.4", 2, 1},
		{"txt", "PLAT", 2, 1},
		{"pdf", "%PDF-1.4", 2, 1},
	} {
		doc, size := text(row.content)
		_, err := p.Inspect(t.Context(), doc, size, row.ext, limits)
		if (err != nil) != (row.ext == "pdf") || sandbox.IsDocumentError(err) {
			t.Errorf("document %d, %s: %v", i, row.ext, err)
		}
		if got := p.Stats().Started; got != row.started || compiled() != row.compiled {
			t.Errorf("document %d, %s: got %d children and %d files in the cache, want %d and %d", i, row.ext, got, compiled(), row.started, row.compiled)
		}
	}
}

func TestDocumentCannotBeRead(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	_, err := p.Inspect(t.Context(), failing{}, 1<<20, "txt", limits)
	if !errors.Is(err, errDisk) {
		t.Errorf("%v", err)
	}
	short := strings.NewReader("short")
	if _, err := p.Inspect(t.Context(), short, 1<<20, "txt", limits); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	doc, size := text("still there")
	if report, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil || report.Rejection != "" {
		t.Errorf("%+v, %v", report, err)
	}
	if s := p.Stats(); s.Started != 1 {
		t.Errorf("%+v", s)
	}
}

var errDisk = errors.New("disk is gone")

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestManyAtOnce(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 2})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			doc, size := text("Lot 7, Block B")
			if report, err := p.Inspect(context.Background(), doc, size, "txt", limits); err != nil || report.Rejection != "" {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.Served != 16 || s.Started > 2 || s.Killed != 0 {
		t.Errorf("%+v", s)
	}
}

// TestGivesWay: the work on a slow document is stopped for another owner's and done
// later, and the caller that waits for its text gets each page once.
func TestGivesWay(t *testing.T) {
	o := fake(t, "says a little, then=spins@"+filepath.Join(t.TempDir(), "mark"))
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
		t.Errorf("got %q and %q, want %q of both", slow, quick, want)
	}
	if s := p.Stats(); s != (sandbox.Stats{Started: 3, Killed: 3, Served: 2}) {
		t.Errorf("%+v", s)
	}
}
