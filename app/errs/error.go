// Package errs defines the errors that transports show: a kind, a message, and
// field errors.
package errs

import (
	"errors"
	"fmt"
)

// Kind is the kind of an Error; each transport maps it to a status, a page, or an
// exit code. Any error that is not an *Error is Internal.
type Kind int

// The kinds of failure.
const (
	Internal            Kind = iota // a server error; its details are only logged
	Invalid                         // field values break rules; see Error.Fields
	Unauthenticated                 // no credential, or one that is unknown, expired or revoked
	Forbidden                       // a valid credential without the scope or role
	NotFound                        // no such record
	Conflict                        // the state of the record does not allow it
	InsufficientStorage             // the disk is full
	Unavailable                     // the vault is stopping, or went read-only after a failed sync
	Locked                          // another process holds the vault
	PreconditionFailed              // the record has changed since the caller read it
)

// Error is a failure that callers may act on. Message is one sentence for people;
// Err is the cause, if any, and is only logged.
type Error struct {
	Kind    Kind
	Message string
	Fields  Fields
	Err     error
}

func (e *Error) Error() string {
	if e.Err != nil {
		cause := e.Err.Error()
		if cause == e.Message { // the message is a copy of it
			return cause
		}
		return e.Message + ": " + cause
	}
	return e.Message
}

// Unwrap returns the cause, which is only logged.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain, else Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// RecordNotFound returns the NotFound error for a record of a type: "order", 7.
func RecordNotFound(recordType string, id any) error {
	return &Error{Kind: NotFound, Message: "Not found.", Err: fmt.Errorf("no %s %v", recordType, id)}
}

// Fields are the field errors of a draft: core fields in the order of the API's
// tables, then custom fields in the order of their definitions.
type Fields []FieldError

// FieldError lists why one field is invalid, one sentence per reason.
type FieldError struct {
	Field     string
	Sentences []string
}

// Add appends a sentence to a field. Fields stay in the order in which each was
// first added.
func (f *Fields) Add(field, sentence string) {
	for i := range *f {
		if (*f)[i].Field == field {
			(*f)[i].Sentences = append((*f)[i].Sentences, sentence)
			return
		}
	}
	*f = append(*f, FieldError{field, []string{sentence}})
}

// Err returns nil when there are no field errors, else an *Error of kind Invalid
// whose message is the first sentence and the number of the others.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Message: f.summary(), Fields: f}
}

func (f Fields) summary() string {
	count := 0
	for _, field := range f {
		count += len(field.Sentences)
	}
	switch first := f[0].Sentences[0]; count {
	case 1:
		return first
	case 2:
		return first + " (and 1 more error)"
	default:
		return fmt.Sprintf("%s (and %d more errors)", first, count-1)
	}
}

// InvalidField returns the Invalid error for a single field.
func InvalidField(field, sentence string) error {
	return Fields{{field, []string{sentence}}}.Err()
}
