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

// tight are limits that a test can pass.
var tight = document.ExtractLimits{MaxPages: 10, MaxPageTextBytes: 100, MaxTextBytes: 200}

func request() sandbox.Request {
	doc, size := text("0123456789")
	return sandbox.Request{Doc: doc, Size: size, MIME: "application/pdf", Ext: "pdf"}
}

// collect is a receiver of text that remembers.
func collect(got *[]string) func(int, string) error {
	return func(page int, text string) error {
		*got = append(*got, fmt.Sprintf("%d %s", page, text))
		return nil
	}
}

func TestPictureAndText(t *testing.T) {
	p := open(t, fake(t, "says=picture done"))
	got, err := p.Picture(t.Context(), request(), 1, 100, document.ExtractLimits{})
	if err != nil || got.MIME != "image/png" || got.Width != 80 || got.Height != 100 || len(got.Bytes) != 24+512<<10 {
		t.Errorf("%s, %d by %d, %d bytes, %v", got.MIME, got.Width, got.Height, len(got.Bytes), err)
	}
	var pages []string
	p = open(t, fake(t, "says=page page done"))
	err = p.Text(t.Context(), request(), tight, collect(&pages))
	if want := "[1 text of page 1\n 2 text of page 2\n]"; err != nil || fmt.Sprint(pages) != want {
		t.Errorf("%q, %v", pages, err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 1, Served: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestFindings(t *testing.T) {
	for kind, want := range map[string]error{
		"unsupported": document.ErrUnsupported, "too_large": document.ErrTooLarge, "damaged": document.ErrDamaged, "no_page": document.ErrNoPage,
	} {
		p := open(t, fake(t, "says="+kind))
		_, err := p.Picture(t.Context(), request(), 1, 100, tight)
		if !errors.Is(err, want) || !sandbox.IsDocumentError(err) {
			t.Errorf("%s: %v", kind, err)
		}
		if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 1, Served: 1}) {
			t.Errorf("%s: %+v", kind, s)
		}
	}
	for _, err := range []error{sandbox.ErrBusy, sandbox.ErrClosed, context.Canceled, errDisk, nil} {
		if sandbox.IsDocumentError(err) {
			t.Errorf("%v is the document's", err)
		}
	}
}

// TestBadPicturesAndTexts: nothing of what a child says that breaks the protocol
// gets through.
func TestBadPicturesAndTexts(t *testing.T) {
	for _, kind := range append(sandbox.BadPictures(), "crashes") {
		t.Run("picture, "+kind, func(t *testing.T) {
			t.Parallel()
			p := open(t, fake(t, kind))
			got, err := p.Picture(t.Context(), request(), 1, 100, tight)
			if !errors.Is(err, document.ErrDamaged) || !sandbox.IsDocumentError(err) || got.Bytes != nil {
				t.Errorf("%+v, %v", got, err)
			}
			if s := p.Stats(); s != (sandbox.Stats{Started: 2, Killed: 2, Served: 1}) {
				t.Errorf("%+v", s)
			}
		})
	}
	for _, kind := range append(sandbox.BadTexts(), "crashes") {
		t.Run("text, "+kind, func(t *testing.T) {
			t.Parallel()
			p := open(t, fake(t, kind))
			var pages []string
			err := p.Text(t.Context(), request(), tight, collect(&pages))
			if !errors.Is(err, document.ErrDamaged) || len(pages) > 2 || strings.ContainsAny(fmt.Sprint(pages), "\x00\x1b\u009b") || !utf8.ValidString(fmt.Sprint(pages)) {
				t.Errorf("%q, %v", pages, err)
			}
			if s := p.Stats(); s != (sandbox.Stats{Started: 2, Killed: 2, Served: 1}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestTextOnce: a child that dies in the middle costs no page and doubles none.
func TestTextOnce(t *testing.T) {
	p := open(t, fake(t, "says a little, then=crashes@"+filepath.Join(t.TempDir(), "mark")))
	var pages []string
	err := p.Text(t.Context(), request(), tight, collect(&pages))
	if want := "[1 text of page 1\n 2 text of page 2\n 3 text of page 3\n]"; err != nil || fmt.Sprint(pages) != want {
		t.Errorf("%q, %v", pages, err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Started: 2, Killed: 2, Served: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestReceiverFails(t *testing.T) {
	p := open(t, fake(t, "says=page page done"))
	err := p.Text(t.Context(), request(), tight, func(int, string) error { return errDisk })
	if !errors.Is(err, errDisk) || sandbox.IsDocumentError(err) {
		t.Errorf("%v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_ = p.Text(t.Context(), request(), tight, func(int, string) error { panic("receiver") })
	}()
	// Neither slot nor child is lost over it.
	if err := p.Text(t.Context(), request(), tight, func(int, string) error { return nil }); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 3, Killed: 2, Served: 1}) {
		t.Errorf("%+v", s)
	}
}

// TestReceiverTakesItsTime: what the receiver takes is not the document's.
func TestReceiverTakesItsTime(t *testing.T) {
	o := fake(t, "says=page page done")
	o.Deadlines.Text = 300 * time.Millisecond
	p := open(t, o)
	ready := time.NewTimer(0)
	err := p.Text(t.Context(), request(), tight, func(int, string) error {
		ready.Reset(400 * time.Millisecond)
		<-ready.C
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDeadlines: each kind of work has its own.
func TestDeadlines(t *testing.T) {
	const short = 50 * time.Millisecond
	for name, d := range map[string]sandbox.Deadlines{
		"picture": {Picture: short}, "text": {Text: short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fake(t, "says=spin")
			o.Deadlines = d
			p := open(t, o)
			var err error
			if name == "text" {
				err = p.Text(t.Context(), request(), tight, nil)
			} else {
				_, err = p.Picture(t.Context(), request(), 1, 10, tight)
			}
			if !errors.Is(err, sandbox.ErrDeadline) || !sandbox.IsDocumentError(err) {
				t.Errorf("%v", err)
			}
			// A fresh child that is late would be late again.
			if s := p.Stats(); s != (sandbox.Stats{Started: 1, Killed: 1, Served: 1}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestWaitingIsNoWork: a deadline begins when a child has the document.
func TestWaitingIsNoWork(t *testing.T) {
	o := fake(t, "says=page done")
	o.Workers = 1
	o.Deadlines = sandbox.Deadlines{Text: 5 * time.Second, Picture: time.Nanosecond}
	p := open(t, o)
	inside, leave := make(chan struct{}), make(chan struct{})
	held := make(chan error, 1)
	go func() {
		held <- p.Text(t.Context(), request(), tight, func(int, string) error {
			close(inside)
			<-leave
			return nil
		})
	}()
	<-inside
	late := make(chan error, 1)
	go func() {
		_, err := p.Picture(t.Context(), request(), 1, 10, tight)
		late <- err
	}()
	await(t, "the other call in the queue", func() bool { return p.Stats().Waiting == 1 })
	if n := p.Stats().Killed; n != 0 {
		t.Errorf("%d killed while one waits", n)
	}
	close(leave)
	if err := <-held; err != nil {
		t.Error(err)
	}
	if err := <-late; !sandbox.IsDocumentError(err) { // late, or wrong before it was noticed
		t.Errorf("%v", err)
	}
}

func TestUnknownClass(t *testing.T) {
	p := open(t, fake(t, "says=page done"))
	r := request()
	r.Class = sandbox.Upload + 1
	if err := p.Text(t.Context(), r, tight, nil); err == nil || sandbox.IsDocumentError(err) {
		t.Errorf("%v", err)
	}
}

// TestBusy: what does not fit into the queue is told at once.
func TestBusy(t *testing.T) {
	o := fake(t, "asks for ever")
	o.Workers, o.QueueSize = 1, 1
	p := open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	results := make(chan error, 2)
	inspect := func(doc *signaling) {
		_, err := p.Inspect(sandbox.WithOwner(ctx, "a"), doc, 10, "pdf", limits)
		results <- err
	}
	go inspect(&signaling{asked: func() { close(asked) }})
	<-asked
	go inspect(&signaling{asked: func() {}})
	await(t, "the other call in the queue", func() bool { return p.Stats().Waiting == 1 })
	if _, err := p.Inspect(sandbox.WithOwner(ctx, "a"), &signaling{asked: func() {}}, 10, "pdf", limits); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("%v", err)
	}
	cancel()
	for range 2 {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}
