package sandbox

import (
	"errors"

	"deedkeep/app/document"
)

// Findings about a document that Picture and Text return besides those of
// package document. They are final: another try would end alike.
var (
	// ErrDeadline says that the document took longer than its kind of work may.
	ErrDeadline = errors.New("document takes too long")
	// ErrMemory says that the document took more memory than a child may have.
	ErrMemory = errors.New("document takes too much memory")
)

// ErrKilled says that something outside this program killed the processes over a
// document: the system when memory ran out, or a person. It is not a finding: another
// try may succeed.
var ErrKilled = errors.New("document process was killed from outside")

// docErrors are the kinds of a fault by their names in the protocol.
var docErrors = []struct {
	kind string
	err  error
}{
	{"unsupported", document.ErrUnsupported},
	{"too large", document.ErrTooLarge},
	{"no page", document.ErrNoPage},
	{"damaged", document.ErrDamaged},
}

// docErrorName names the finding that err is; "" when it is none.
func docErrorName(err error) string {
	for _, f := range docErrors {
		if errors.Is(err, f.err) {
			return f.kind
		}
	}
	return ""
}

// docErrorByName is the finding of that name; nil when there is none.
func docErrorByName(kind string) error {
	for _, f := range docErrors {
		if f.kind == kind {
			return f.err
		}
	}
	return nil
}

// IsDocumentError reports whether err is a finding about the document, so that to try
// again is of no use. Every other error of this package is the machine's, the
// store's or the caller's, and may pass.
func IsDocumentError(err error) bool {
	return docErrorName(err) != "" || errors.Is(err, ErrDeadline) || errors.Is(err, ErrMemory)
}

// workerDied is a document over which children died.
type workerDied struct{ cause error }

func (e *workerDied) Error() string { return "document process ended: " + e.cause.Error() }

// Unwrap gives the death the name of a finding: what kills two children without
// a reason is damaged.
func (e *workerDied) Unwrap() error {
	switch {
	case errors.Is(e.cause, errDeadline):
		return ErrDeadline
	case errors.Is(e.cause, errMemory):
		return ErrMemory
	}
	return document.ErrDamaged
}
