// Package errs defines the errors that the web pages, the API, and the CLI show. An error
// has a kind, a message, and field errors.
package errs

import (
	"errors"
	"fmt"
)

// Kind is the kind of an Error. The API maps it to a status, the web interface to a page,
// and the CLI to an exit code. Errors that are not an *Error have kind Internal.
type Kind int

// The kinds of errors.
const (
	Internal            Kind = iota // a server error; its details are only logged
	Invalid                         // field values are invalid; see Error.Fields
	Unauthenticated                 // the credential is missing, unknown, expired, or revoked
	Forbidden                       // the credential is valid but doesn't have the required scope or role
	NotFound                        // the record doesn't exist
	Conflict                        // the state of the record doesn't allow the request
	InsufficientStorage             // the disk is full
	Unavailable                     // temporarily impossible; see Cause
	Locked                          // another process has the vault open; see also upload.ErrUploadBusy
	PreconditionFailed              // the record has changed since the caller read it
)

// Cause is the cause of an error of kind Unavailable.
type Cause int

// The causes of Unavailable.
const (
	Busy       Cause = iota + 1 // too many requests at the same time, or one that takes too long
	Rebuilding                  // the data is being rebuilt
	Stopping                    // the server is stopping
	ReadOnly                    // the disk or the data directory can't be written to
)

// Error is an error that callers can handle. Message is one sentence that users see. Err is
// the cause, if any, and is only logged. Errors of kind Unavailable have a Cause.
type Error struct {
	Kind    Kind
	Cause   Cause
	Message string
	Fields  Fields
	Err     error
}

func (e *Error) Error() string {
	if e.Err != nil {
		cause := e.Err.Error()
		if cause == e.Message { // Message is a copy of the cause's text
			return cause
		}
		return e.Message + ": " + cause
	}
	return e.Message
}

// Unwrap returns the cause, which is only logged.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain, or Internal if there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// NotNow returns an error of kind Unavailable.
func NotNow(cause Cause, message string, err error) *Error {
	return &Error{Kind: Unavailable, Cause: cause, Message: message, Err: err}
}

// ServerStopping returns the Unavailable error for requests that arrive while the server is stopping.
func ServerStopping() *Error {
	return NotNow(Stopping, "The server is stopping. Try again in a moment.", nil)
}

// DiskFailed returns the Unavailable error for a vault that is read-only because its disk failed to sync.
func DiskFailed(err error) *Error {
	return NotNow(ReadOnly, "The server is read-only after a disk error. Check the disk, then restart the server.", err)
}

// DiskFull returns the error for a full disk.
func DiskFull(err error) *Error {
	return &Error{Kind: InsufficientStorage, Message: "The disk is full.", Err: err}
}

// NotWritable reports whether err means that the vault can't be written to, either
// temporarily or until a restart, because the disk is full or the vault is closing or
// read-only.
func NotWritable(err error) bool {
	kind := KindOf(err)
	return kind == Unavailable || kind == InsufficientStorage
}

// UserMessage returns the text of err that users see. This is the Message of an *Error
// or the error text of any other error.
func UserMessage(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// RecordNotFound returns the NotFound error for a record, given its type and ID, such as
// "order" and 7.
func RecordNotFound(recordType string, id any) error {
	return &Error{Kind: NotFound, Message: "Not found.", Err: fmt.Errorf("no %s %v", recordType, id)}
}

// Fields contains the field errors of a draft. Core fields are in the order of the API's
// tables. Custom fields come after them, in the order of their definitions.
type Fields []FieldError

// FieldError contains the reasons why a field is invalid.
type FieldError struct {
	Field    string
	Problems []Problem
}

// Sentences returns the sentences of the API, one per reason.
func (f FieldError) Sentences() []string {
	list := make([]string, 0, len(f.Problems))
	for _, p := range f.Problems {
		list = append(list, p.Sentence())
	}
	return list
}

// Add adds a reason why a field is invalid. Fields remain in the order in which they were
// first added.
func (f *Fields) Add(field string, code Code, args ...any) {
	f.AddProblem(field, Problem{Code: code, Name: displayName(field), Args: args})
}

// AddValue is like Add for a field with a text that isn't valid.
func (f *Fields) AddValue(field string, code Code, value string) {
	const shown = 40 // characters
	if start := []rune(value); len(start) > shown {
		value = string(start[:shown]) + "…"
	}
	f.AddProblem(field, Problem{Code: code, Name: displayName(field), Value: value})
}

// AddProblem is like Add for a problem of another check.
func (f *Fields) AddProblem(field string, p Problem) {
	for i := range *f {
		if (*f)[i].Field == field {
			(*f)[i].Problems = append((*f)[i].Problems, p)
			return
		}
	}
	*f = append(*f, FieldError{field, []Problem{p}})
}

// Err returns nil if there are no field errors. Otherwise, it returns an *Error of kind
// Invalid whose message is the summary of the API.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Message: f.Summary(Problem.Sentence), Fields: f}
}

// Summary returns the sentence about the first problem and the number of further problems.
func (f Fields) Summary(sentence func(Problem) string) string {
	count := 0
	for _, field := range f {
		count += len(field.Problems)
	}
	switch first := sentence(f[0].Problems[0]); count {
	case 1:
		return first
	case 2:
		return first + " (and 1 more error)"
	default:
		return fmt.Sprintf("%s (and %d more errors)", first, count-1)
	}
}

// InvalidField returns an error of kind Invalid for a single field.
func InvalidField(field string, code Code, args ...any) error {
	var f Fields
	f.Add(field, code, args...)
	return f.Err()
}
