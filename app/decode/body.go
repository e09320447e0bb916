// Package decode reads request bodies that come from outside: strict JSON,
// urlencoded forms and multipart/form-data.
//
// It promises that what it accepts has one meaning only (no repeated key, no
// lone surrogate, no part without a name), that a refusal says where the fault
// is, and that its memory does not grow with the size of a file. It refuses to
// know endpoints, statuses or net/http: it takes bytes and readers and hands
// back values, and two kinds of error, [MalformedError] and [LimitError]. Any
// other error is the reader's own, unchanged in the chain.
//
// The rules are API.md's "Everywhere" and "Multipart bodies".
package decode

import "fmt"

// MalformedError says that a body is not what its media type promises; it is
// API.md's 400. It matches [io.ErrUnexpectedEOF] when the body ended, cleanly as
// far as the transport could tell, before it was complete. A body that broke off
// on the way is the transport's own error and never a MalformedError.
type MalformedError struct {
	// Part is the number of the part at fault, from 1; 0 when there is none.
	Part int
	// Reason is one sentence for the caller that says where the fault is.
	Reason string
	// Err is io.ErrUnexpectedEOF when the body ended too early, else nil.
	Err error
}

// Error is the Reason.
func (e *MalformedError) Error() string { return e.Reason }

// Unwrap gives Err.
func (e *MalformedError) Unwrap() error { return e.Err }

// LimitError says that a body is larger than a limit of this package allows; it
// is API.md's 413.
type LimitError struct {
	// Counted is counted, as a plural noun: "parts", "bytes of fields".
	Counted string
	// Limit is the largest count that is accepted.
	Limit int64
}

// Error is one sentence for the caller that names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("The request body has more than %d %s.", e.Limit, e.Counted)
}
