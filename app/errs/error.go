package errs

import (
	"errors"
	"fmt"
)

// Kind says what sort of failure an Error is; the voices map it to a status, a
// page or an exit code. Whatever is not an *Error is Internal.
type Kind int

// The kinds of failure.
const (
	Internal            Kind = iota // our fault; nothing of it is shown
	Invalid                         // fields do not hold to the rules; see Error.Fields
	Unauthenticated                 // no credential, or one that is unknown, expired or revoked
	Forbidden                       // a valid credential without the ability
	NotFound                        // no such record
	Conflict                        // the record's state does not allow it now
	InsufficientStorage             // the disk has no room
	Unavailable                     // the vault is stopping, or went read-only after a failed sync
	Locked                          // another process holds the vault
	PreconditionFailed              // the record has changed since the caller read it
)

// Error is a failure that its caller may act on. Message is one sentence for
// people; Err, if any, is for the log only.
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

// Unwrap gives the cause, which is for the log.
func (e *Error) Unwrap() error { return e.Err }

// KindOf gives the kind of the first *Error in err's chain, else Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// RecordNotFound is the NotFound error of one record.
func RecordNotFound(noun string, id any) error {
	return &Error{Kind: NotFound, Message: "Not found.", Err: fmt.Errorf("no %s %v", noun, id)}
}

// Fields are the refusals of a draft, in the order of SPEC.md's tables and then
// of the custom fields' definitions.
type Fields []FieldError

// FieldError is what one field is refused for, a sentence a reason.
type FieldError struct {
	Field     string
	Sentences []string
}

// Add appends a sentence to a field, keeping the order of first mention.
func (f *Fields) Add(field, sentence string) {
	for i := range *f {
		if (*f)[i].Field == field {
			(*f)[i].Sentences = append((*f)[i].Sentences, sentence)
			return
		}
	}
	*f = append(*f, FieldError{field, []string{sentence}})
}

// Err is nil when nothing was refused, else an *Error of kind Invalid whose
// message is the first sentence and the number of the others.
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

// InvalidField is the Invalid error of a single field.
func InvalidField(field, sentence string) error {
	return Fields{{field, []string{sentence}}}.Err()
}
