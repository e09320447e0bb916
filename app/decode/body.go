// Package decode parses request bodies: strict JSON, urlencoded forms, and multipart/form-data.
//
// It accepts only bodies with exactly one meaning: repeated keys, lone surrogates, and parts without a name are
// errors. Its errors say where the problem is. Its memory use doesn't depend on the size of uploaded files. The
// package doesn't know about endpoints, statuses, or net/http. Its own errors are [MalformedError] and [LimitError].
// Errors from the underlying reader are wrapped unchanged.
package decode

import "fmt"

// MalformedError means that a body is not valid for its media type, or that it ends too early although the transport
// reported a normal end. If the transport itself cut off the body, the error is the transport's error.
type MalformedError struct {
	// Reason is one sentence that tells the client where the problem is.
	Reason string
}

// Error returns Reason.
func (e *MalformedError) Error() string { return e.Reason }

// LimitError means that a body exceeds a limit of this package.
type LimitError struct {
	// Counted is what the limit counts, as a plural: "parts" or "bytes of fields".
	Counted string
	// Limit is the maximum count.
	Limit int64
}

// Error returns one sentence that tells the client the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("The request body has more than %d %s.", e.Limit, e.Counted)
}
