package sandbox

import (
	"context"
	"errors"
	"io"
	"time"

	"deedkeep/app/document"
)

// Request contains a document and the settings for scheduling work on it.
type Request struct {
	Doc   io.ReaderAt
	Size  int64  // size of Doc in bytes
	MIME  string // media type, as in document.Report
	Ext   string // extension of the filename, without the dot
	Owner string // on whose behalf the work is done, such as an actor; owners of the same class share the workers fairly
	Class Class
	// RunToCompletion makes work that has started continue even if the caller's context is
	// canceled. Stopping it would mean replacing the worker.
	RunToCompletion bool
}

type ownerKey struct{}

// WithOwner returns a context that sets the owner (see Request) of Inspect calls. The default is
// "".
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Inspect returns the type of doc and, if it must be rejected, the reason. Its class is Upload. A
// document that kills its worker, or exceeds its deadline or memory limit, is rejected: a PDF as
// unreadable, any other type as not matching its extension. The document itself never causes an
// error. The error is ctx's error, ErrBusy, ErrClosed, ErrKilled, or an error from reading doc, or
// it reports that a worker can't start or has no engine.
func (p *Pool) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	owner, _ := ctx.Value(ownerKey{}).(string)
	a := &reportResult{}
	r := Request{Doc: doc, Size: size, Ext: ext, Owner: owner, Class: Upload}
	err := p.run(ctx, r, task{Task: taskInspect, Limits: lim}, a)
	var died *workerDiedError
	if errors.As(err, &died) {
		return document.Report{Rejection: rejectionFor(ext)}, nil
	}
	if err != nil {
		return document.Report{}, err
	}
	return a.report, nil
}

// rejectionFor returns the reason for rejecting a document that killed its workers.
func rejectionFor(ext string) string {
	if ext == "pdf" {
		return document.ReasonPDFUnreadable
	}
	return document.ReasonMismatch(ext)
}

// PageImage renders a page as an image that is at most width pixels wide. Page numbers start at 1. It
// returns the document errors of package document, ErrDeadline, ErrMemory (see IsDocumentError),
// and the errors of Inspect.
func (p *Pool) PageImage(ctx context.Context, r Request, page, width int, lim document.ExtractLimits) (document.Image, error) {
	lim = withDefaultLimits(lim)
	width = min(max(width, 1), lim.MaxWidth)
	a := &imageResult{width: width}
	if err := p.run(ctx, r, task{Task: taskImage, Extract: lim, Page: page, Width: width}, a); err != nil {
		return document.Image{}, err
	}
	return a.image(), nil
}

// Text calls emit for each page that has text, in order. Page numbers start at 1. emit runs on the
// caller's goroutine and is called once per page even if the worker is replaced. Its time does not
// count toward the deadline. If emit returns an error, Text stops and returns it. Otherwise, Text
// returns the same errors as PageImage. Pages that were passed to emit before an error are valid
// unless the error came from reading the document.
func (p *Pool) Text(ctx context.Context, r Request, lim document.ExtractLimits, emit func(page int, text string) error) error {
	lim = withDefaultLimits(lim)
	a := &textResult{lim: lim, emit: emit, lastEmitted: -1}
	return p.run(ctx, r, task{Task: taskText, Extract: lim}, a)
}

// withDefaultLimits returns l with defaults for zero fields. The worker does the same, but the
// parent needs the limits to check the results. The text of a page is limited to one frame.
func withDefaultLimits(l document.ExtractLimits) document.ExtractLimits {
	l = l.WithDefaults()
	l.MaxPageTextBytes = min(l.MaxPageTextBytes, maxTextSize)
	return l
}

func positiveOr[N int | int64 | time.Duration](n, fallback N) N {
	if n <= 0 {
		return fallback
	}
	return n
}
