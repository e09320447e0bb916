package sandbox

import (
	"errors"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/runsheet"
)

// Document errors that the methods of Pool return in addition to those of package document. They
// are permanent.
var (
	// ErrDeadline reports that a worker took longer than the deadline for its task.
	ErrDeadline = errors.New("document takes too long")
	// ErrMemory reports that a worker exceeded its memory limit while processing the document.
	ErrMemory = errors.New("document takes too much memory")
)

// ErrKilled reports that something outside this program killed the document's workers: the system
// when memory ran out, or an administrator. A retry may succeed.
var ErrKilled = errors.New("another process stopped the document worker")

// docErrors maps document errors to their names in the protocol.
var docErrors = []struct {
	name string
	err  error
}{
	{"unsupported", document.ErrUnsupported},
	{"too large", document.ErrTooLarge},
	{"no page", document.ErrNoPage},
	{"damaged", document.ErrDamaged},
	{"unreadable words", ocr.ErrUnreadable},
	{"invalid runsheet", runsheet.ErrInvalid},
	{"large runsheet", runsheet.ErrTooLarge},
	{"no header", runsheet.ErrNoHeader},
	{"too many rows", runsheet.ErrTooManyRows},
}

// docErrorName returns the protocol name of a document error, or "" for any other error.
func docErrorName(err error) string {
	for _, f := range docErrors {
		if errors.Is(err, f.err) {
			return f.name
		}
	}
	return ""
}

// docErrorByName returns the document error with the given protocol name, or nil if there is none.
func docErrorByName(name string) error {
	for _, f := range docErrors {
		if f.name == name {
			return f.err
		}
	}
	return nil
}

// IsDocumentError reports whether the document itself caused err, so that a retry is useless. All
// other errors of this package are caused by the server, the store, or the caller, and may be
// temporary.
func IsDocumentError(err error) bool {
	return docErrorName(err) != "" || errors.Is(err, ErrDeadline) || errors.Is(err, ErrMemory)
}

// workerDiedError is returned when the workers that processed a document died.
type workerDiedError struct{ cause error }

func (e *workerDiedError) Error() string { return "document worker process ended:  " + e.cause.Error() }

// Unwrap returns the document error for the cause. A document whose workers died twice for an
// unknown reason counts as damaged.
func (e *workerDiedError) Unwrap() error {
	switch {
	case errors.Is(e.cause, errDeadline):
		return ErrDeadline
	case errors.Is(e.cause, errMemory):
		return ErrMemory
	}
	return document.ErrDamaged
}
