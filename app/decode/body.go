// Package decode parses request bodies: strict JSON, urlencoded forms, and multipart/form-data.
//
// Everything it accepts has exactly one meaning (no repeated key, no lone surrogate, no part without a name), its
// errors say where the fault is, and its memory doesn't grow with the size of a file. It knows no endpoints, statuses,
// or net/http: it takes bytes and readers and returns values and two types of errors, [MalformedError] and
// [LimitError]. Errors of the reader are passed on unchanged in the chain.
package decode

import "fmt"

// MalformedError says that a body is not valid for its media type. It matches [io.ErrUnexpectedEOF] if the body ended
// before it was complete although the transport saw a clean end. A body that the transport cut off is the transport's
// own error and never a MalformedError.
type MalformedError struct {
	// Part is the number of the malformed part, from 1; 0 if the body has no parts.
	Part int
	// Reason is one sentence for the client that says where the fault is.
	Reason string
	// Err is io.ErrUnexpectedEOF if the body ended too early, otherwise nil.
	Err error
}

// Error returns Reason.
func (e *MalformedError) Error() string { return e.Reason }

// Unwrap returns Err.
func (e *MalformedError) Unwrap() error { return e.Err }

// LimitError says that a body is larger than a limit of this package.
type LimitError struct {
	// Counted is a plural: "parts", "bytes of fields".
	Counted string
	// Limit is the largest count that is accepted.
	Limit int64
}

// Error returns one sentence for the client that names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("The request body has more than %d %s.", e.Limit, e.Counted)
}
