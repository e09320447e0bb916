package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// tight holds limits that are low enough for a test to exceed.
var tight = document.ExtractLimits{MaxPages: 10, MaxPageTextBytes: 100, MaxTextBytes: 200}

func request() sandbox.Request {
	doc, size := text("0123456789")
	return sandbox.Request{Doc: doc, Size: size, MIME: "application/pdf", Ext: "pdf"}
}

// collect returns a callback for Text that appends each page's text to got.
func collect(got *[]string) func(int, string) error {
	return func(page int, text string) error {
		*got = append(*got, fmt.Sprintf("%d %s", page, text))
		return nil
	}
}

func TestPictureAndText(t *testing.T) {
	p := open(t, fake(t, "sends=picture done"))
	got, err := p.PageImage(t.Context(), request(), 1, 100, document.ExtractLimits{})
	if err != nil || got.MIME != "image/png" || got.Width != 80 || got.Height != 100 || len(got.Bytes) != 24+512<<10 {
		t.Errorf("PageImage = %s, %d by %d, %d bytes, %v, want PNG, 80 by 100", got.MIME, got.Width, got.Height, len(got.Bytes), err)
	}
	var pages []string
	p = open(t, fake(t, "sends=page page done"))
	err = p.Text(t.Context(), request(), tight, collect(&pages))
	if want := "[1 text of page 1\n 2 text of page 2\n]"; err != nil || fmt.Sprint(pages) != want {
		t.Errorf("Text = %q, %v, want %q", pages, err, want)
	}
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 1, Served: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestDocumentErrors(t *testing.T) {
	for kind, want := range map[string]error{
		"unsupported": document.ErrUnsupported, "too_large": document.ErrTooLarge, "damaged": document.ErrDamaged, "no_page": document.ErrNoPage,
	} {
		p := open(t, fake(t, "sends="+kind))
		_, err := p.PageImage(t.Context(), request(), 1, 100, tight)
		if !errors.Is(err, want) || !sandbox.IsDocumentError(err) {
			t.Errorf("%s: error = %v, want %v", kind, err, want)
		}
		if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 1, Served: 1}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	}
	for _, err := range []error{sandbox.ErrBusy, sandbox.ErrClosed, context.Canceled, errDisk, nil} {
		if sandbox.IsDocumentError(err) {
			t.Errorf("IsDocumentError(%v) = true, want false", err)
		}
	}
}

// If part of a result violates the protocol, the caller doesn't get any of that result.
func TestProtocolViolationsInResults(t *testing.T) {
	for _, kind := range append(sandbox.BadPictures(), "crashes") {
		t.Run("picture, "+kind, func(t *testing.T) {
			t.Parallel()
			p := open(t, fake(t, kind))
			got, err := p.PageImage(t.Context(), request(), 1, 100, tight)
			if !errors.Is(err, document.ErrDamaged) || !sandbox.IsDocumentError(err) || got.Bytes != nil {
				t.Errorf("Picture = %+v, %v; want ErrDamaged", got, err)
			}
			if got, want := p.Stats(), (sandbox.Stats{Started: 2, Killed: 2, Served: 1}); got != want {
				t.Errorf("Stats() = %+v, want %+v", got, want)
			}
		})
	}
	for _, kind := range append(sandbox.BadTexts(), "crashes") {
		t.Run("text, "+kind, func(t *testing.T) {
			t.Parallel()
			p := open(t, fake(t, kind))
			var pages []string
			err := p.Text(t.Context(), request(), tight, collect(&pages))
			if !errors.Is(err, document.ErrDamaged) || len(pages) > 2 || strings.ContainsAny(fmt.Sprint(pages), "\x00\x1b\u009b") ||
				!utf8.ValidString(fmt.Sprint(pages)) {
				t.Errorf("Text = %q, %v, want at most 2 clean pages and %v", pages, err, document.ErrDamaged)
			}
			if got, want := p.Stats(), (sandbox.Stats{Started: 2, Killed: 2, Served: 1}); got != want {
				t.Errorf("Stats() = %+v, want %+v", got, want)
			}
		})
	}
}

// If a worker dies before it has sent all pages, no page is missing or emitted twice.
func TestEachPageOnce(t *testing.T) {
	p := open(t, fake(t, "sends a little, then=crashes@"+filepath.Join(t.TempDir(), "mark")))
	var pages []string
	err := p.Text(t.Context(), request(), tight, collect(&pages))
	if want := "[1 text of page 1\n 2 text of page 2\n 3 text of page 3\n]"; err != nil || fmt.Sprint(pages) != want {
		t.Errorf("Text = %q, %v, want %q", pages, err, want)
	}
	if got, want := p.Stats(), (sandbox.Stats{Started: 2, Killed: 2, Served: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestCallbackFails(t *testing.T) {
	p := open(t, fake(t, "sends=page page done"))
	err := p.Text(t.Context(), request(), tight, func(int, string) error { return errDisk })
	if !errors.Is(err, errDisk) || sandbox.IsDocumentError(err) {
		t.Errorf("error = %v, want errDisk", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("panic in the callback was not propagated")
			}
		}()
		_ = p.Text(t.Context(), request(), tight, func(int, string) error { panic("receiver") })
	}()
	// The slot must be free again.
	if err := p.Text(t.Context(), request(), tight, func(int, string) error { return nil }); err != nil {
		t.Errorf("read text: %v", err)
	}
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 3, Killed: 2, Served: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// Time spent in the callback does not count toward the deadline.
func TestSlowCallback(t *testing.T) {
	o := fake(t, "sends=page page done")
	o.Deadlines.Text = 300 * time.Millisecond
	p := open(t, o)
	ready := time.NewTimer(0)
	err := p.Text(t.Context(), request(), tight, func(int, string) error {
		ready.Reset(400 * time.Millisecond)
		<-ready.C
		return nil
	})
	if err != nil {
		t.Errorf("read text: %v", err)
	}
}

// Each kind of task has its own deadline.
func TestDeadlines(t *testing.T) {
	const short = 50 * time.Millisecond
	for name, d := range map[string]sandbox.Deadlines{
		"picture": {Image: short}, "text": {Text: short}, "ocr": {OCR: short}, "ocr at low priority": {OCR: short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fake(t, "sends=spin")
			o.Deadlines, o.LowPriority = d, name == "ocr at low priority"
			p := open(t, o)
			var err error
			switch {
			case name == "text":
				err = p.Text(t.Context(), request(), tight, nil)
			case d.OCR > 0:
				_, err = p.ReadPage(t.Context(), request(), 1, tight)
			default:
				_, err = p.PageImage(t.Context(), request(), 1, 10, tight)
			}
			if !errors.Is(err, sandbox.ErrDeadline) || !sandbox.IsDocumentError(err) {
				t.Errorf("error = %v, want sandbox.ErrDeadline", err)
			}
			// Deadline errors are not retried with a new worker.
			if got, want := p.Stats(), (sandbox.Stats{Started: 1, Killed: 1, Served: 1}); got != want {
				t.Errorf("Stats() = %+v, want %+v", got, want)
			}
		})
	}
}

// A used worker that exceeds the deadline may have been slow because of an earlier document, so the
// task gets a new worker. A page doesn't, because it takes minutes and OCR reads it again later.
func TestDeadlineInUsedWorker(t *testing.T) {
	for name, row := range map[string]struct {
		run     func(*sandbox.Pool) error
		want    error
		started int
	}{
		"text": {func(p *sandbox.Pool) error { return p.Text(t.Context(), request(), tight, nil) }, nil, 2},
		"ocr": {func(p *sandbox.Pool) error {
			_, err := p.ReadPage(t.Context(), request(), 1, tight)
			return err
		}, sandbox.ErrDeadline, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fake(t, "completes one task, then spins")
			o.Workers, o.Deadlines = 1, sandbox.Deadlines{Text: 2 * time.Second, OCR: 2 * time.Second}
			p := open(t, o)
			if err := row.run(p); err != nil {
				t.Errorf("first task: %v", err)
			}
			if err := row.run(p); !errors.Is(err, row.want) {
				t.Errorf("second task: error = %v, want %v", err, row.want)
			}
			if n := p.Stats().Started; n != row.started {
				t.Errorf("%d workers were started, want %d", n, row.started)
			}
		})
	}
}

// The deadline begins when a worker gets the document.
func TestDeadlineExcludesWaiting(t *testing.T) {
	o := fake(t, "sends=page done")
	o.Workers = 1
	o.Deadlines = sandbox.Deadlines{Text: 5 * time.Second, Image: time.Nanosecond}
	p := open(t, o)
	inside, leave := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- p.Text(t.Context(), request(), tight, func(int, string) error {
			close(inside)
			<-leave
			return nil
		})
	}()
	<-inside
	late := make(chan error, 1)
	go func() {
		_, err := p.PageImage(t.Context(), request(), 1, 10, tight)
		late <- err
	}()
	await(t, "the other call in the queue", func() bool { return p.Stats().Waiting == 1 })
	if n := p.Stats().Killed; n != 0 {
		t.Errorf("%d workers killed while a call waits, want none", n)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Errorf("call: %v", err)
	}
	if err := <-late; !sandbox.IsDocumentError(err) { // the deadline or a damaged document, whichever is noticed first
		t.Errorf("late call = %v, want an error of the document", err)
	}
}

func TestUnknownClass(t *testing.T) {
	p := open(t, fake(t, "sends=page done"))
	r := request()
	r.Class = sandbox.Upload + 1
	if err := p.Text(t.Context(), r, tight, nil); err == nil || sandbox.IsDocumentError(err) {
		t.Errorf("Text of an unknown class = %v, want an error that isn't the document's", err)
	}
}

// If the queue is full, a call fails immediately.
func TestBusy(t *testing.T) {
	o := fake(t, "reads endlessly")
	o.Workers, o.QueueSize = 1, 1
	p := open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	reading := make(chan struct{})
	results := make(chan error, 2)
	inspect := func(doc *signalingDoc) {
		_, err := p.Inspect(sandbox.WithOwner(ctx, "a"), doc, 10, "pdf", limits)
		results <- err
	}
	go inspect(&signalingDoc{onRead: func() { close(reading) }})
	<-reading
	go inspect(&signalingDoc{onRead: func() {}})
	await(t, "the other call in the queue", func() bool { return p.Stats().Waiting == 1 })
	if _, err := p.Inspect(sandbox.WithOwner(ctx, "a"), &signalingDoc{onRead: func() {}}, 10, "pdf",
		limits); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("error = %v, want sandbox.ErrBusy", err)
	}
	cancel()
	for range 2 {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
	}
}
