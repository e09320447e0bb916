package sandbox

import (
	"context"
	"errors"
	"io"
	"time"

	"deedkeep/app/document"
)

// Request is a document and who waits for what is to be had of it.
type Request struct {
	Doc   io.ReaderAt
	Size  int64  // bytes of Doc
	MIME  string // what the content is, as document.Report says it
	Ext   string // as document.Extension gives it
	Owner string // whose work it is: an actor, a tray; owners of one class take turns
	Class Class
	// RunToCompletion has work that has begun brought to its end, though nobody waits for it
	// any more: a child that is stopped in the middle must be replaced.
	RunToCompletion bool
}

type ownerKey struct{}

// WithOwner returns a context whose calls of Inspect are of that owner (see
// Request); without one they are of the owner "".
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Inspect says what doc is, as document.Inspect does, in a child; it is Upload
// work. A document over which a child dies, spins or swells is refused: a .pdf
// with document.ReasonPDFUnreadable, any other with document.ReasonMismatch(ext). Errors are
// never the document's: ctx's, ErrBusy, ErrClosed, ErrKilled, those of doc, a child
// that cannot be started, or an engine that is missing.
func (p *Pool) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	owner, _ := ctx.Value(ownerKey{}).(string)
	a := &reportResult{}
	r := Request{Doc: doc, Size: size, Ext: ext, Owner: owner, Class: Upload}
	err := p.run(ctx, r, task{Task: taskInspect, Size: size, Ext: ext, Limits: lim}, a)
	var death *workerDied
	if errors.As(err, &death) {
		return document.Report{Rejection: refusal(ext)}, nil
	}
	if err != nil {
		return document.Report{}, err
	}
	return a.report, nil
}

// refusal is what is said of a document that no child came through.
func refusal(ext string) string {
	if ext == "pdf" {
		return document.ReasonPDFUnreadable
	}
	return document.ReasonMismatch(ext)
}

// Picture draws a page, from 1, in a child, as document.PageImage does: at most width
// pixels wide. Errors are the findings of package document, ErrDeadline,
// ErrMemory (see Final), or those of Inspect.
func (p *Pool) Picture(ctx context.Context, r Request, page, width int, lim document.ExtractLimits) (document.Image, error) {
	lim = withDefaultLimits(lim)
	width = min(max(width, 1), lim.MaxWidth)
	a := &imageResult{width: width}
	t := task{Task: taskPicture, Size: r.Size, MIME: r.MIME, Ext: r.Ext, Extract: lim, Page: page, Width: width}
	if err := p.run(ctx, r, t, a); err != nil {
		return document.Image{}, err
	}
	return a.picture(), nil
}

// Text calls emit with the text of each page that has any, in order and from 1,
// as document.Text does in a child. emit is called on the caller's goroutine,
// once for a page whatever befalls the child, and its time is not the
// document's; its error ends the call. Other errors are those of Picture; what
// was emitted until then is good, but for a document that could not be read.
func (p *Pool) Text(ctx context.Context, r Request, lim document.ExtractLimits, emit func(page int, text string) error) error {
	lim = withDefaultLimits(lim)
	a := &textResult{lim: lim, emit: emit, lastEmitted: -1}
	return p.run(ctx, r, task{Task: taskText, Size: r.Size, MIME: r.MIME, Ext: r.Ext, Extract: lim}, a)
}

// withDefaultLimits fills the zero fields in, as the child would, for the parent checks
// what it lets through. No page is longer than a frame.
func withDefaultLimits(l document.ExtractLimits) document.ExtractLimits {
	d := document.DefaultExtractLimits()
	l = document.ExtractLimits{
		MaxPixels: positiveOr(l.MaxPixels, d.MaxPixels), MaxWidth: positiveOr(l.MaxWidth, d.MaxWidth),
		MaxTextBytes: positiveOr(l.MaxTextBytes, d.MaxTextBytes), MaxPageTextBytes: positiveOr(l.MaxPageTextBytes, d.MaxPageTextBytes),
		MaxPages: positiveOr(l.MaxPages, d.MaxPages), MaxUnpackedBytes: positiveOr(l.MaxUnpackedBytes, d.MaxUnpackedBytes),
	}
	l.MaxPageTextBytes = min(l.MaxPageTextBytes, maxTextSize)
	return l
}

func positiveOr[N int | int64 | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}
