package sandbox

import (
	"context"
	"errors"
	"io"
	"time"

	"deedkeep/app/document"
)

// Request is a document and how to schedule the work on it.
type Request struct {
	Doc   io.ReaderAt
	Size  int64  // bytes of Doc
	MIME  string // as in document.Report
	Ext   string // extension of the filename, without the dot
	Owner string // who the work is for, such as an actor; owners of a class share the workers fairly
	Class Class
	// RunToCompletion completes work that has started even if the caller's context is canceled,
	// because stopping it would mean replacing the worker.
	RunToCompletion bool
}

type ownerKey struct{}

// WithOwner returns a context that sets the owner (see Request) for calls of Inspect. The
// default is "".
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Inspect returns the type of doc, and whether and why it must be rejected; it is Upload work.
// A document that kills its worker, or exceeds its deadline or memory, is rejected: a PDF as
// unreadable, any other as not matching its extension. Errors are never caused by the document:
// ctx's error, ErrBusy, ErrClosed, ErrKilled, an error of reading doc, or a worker that can't
// start or has no engine.
func (p *Pool) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	owner, _ := ctx.Value(ownerKey{}).(string)
	a := &reportResult{}
	r := Request{Doc: doc, Size: size, Ext: ext, Owner: owner, Class: Upload}
	err := p.run(ctx, r, task{Task: taskInspect, Size: size, Ext: ext, Limits: lim}, a)
	var died *workerDiedError
	if errors.As(err, &died) {
		return document.Report{Rejection: rejectionFor(ext)}, nil
	}
	if err != nil {
		return document.Report{}, err
	}
	return a.report, nil
}

// rejectionFor returns the reason for a document that killed its workers.
func rejectionFor(ext string) string {
	if ext == "pdf" {
		return document.ReasonPDFUnreadable
	}
	return document.ReasonMismatch(ext)
}

// Picture renders a page, counted from 1, as an image at most width pixels wide. Errors are the
// document errors of package document, ErrDeadline, ErrMemory (see IsDocumentError), or those
// of Inspect.
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

// Text calls emit with the text of each page that has any, in order, counted from 1. emit runs
// on the caller's goroutine, once per page even if the worker is replaced. Its time does not
// count toward the deadline, and its error ends the call. Other errors are those of Picture.
// Pages emitted before an error are valid unless reading the document failed.
func (p *Pool) Text(ctx context.Context, r Request, lim document.ExtractLimits, emit func(page int, text string) error) error {
	lim = withDefaultLimits(lim)
	a := &textResult{lim: lim, emit: emit, lastEmitted: -1}
	return p.run(ctx, r, task{Task: taskText, Size: r.Size, MIME: r.MIME, Ext: r.Ext, Extract: lim}, a)
}

// withDefaultLimits fills zero fields like the worker does, because the parent checks what it
// receives. A page is limited to the size of a frame.
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

func positiveOr[N int | int64 | time.Duration](n, fallback N) N {
	if n <= 0 {
		return fallback
	}
	return n
}
