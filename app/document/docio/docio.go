// Package docio has what the parsers of untrusted documents in package document and its subpackages
// share: a reader of the bytes of one document, limits, and a writer of its text. It distinguishes
// two failures. A damaged document is a result. A failed read or
// an ended context is an error of the server or the caller.
package docio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Errors that a document causes. Any other error is caused by the server or the caller.
var (
	// ErrUnsupported reports that this document type, or this variant of it, doesn't support the
	// operation.
	ErrUnsupported = errors.New("not supported for this document")
	// ErrTooLarge reports that the operation would exceed the limits.
	ErrTooLarge = errors.New("document exceeds the limits")
	// ErrDamaged reports that the document violates its format.
	ErrDamaged = errors.New("document is damaged")
	// ErrNoPage reports that the document has no page with that number.
	ErrNoPage = errors.New("page not found in the document")
)

// FaultError marks an error of the server or the caller. It is never a document error, even if it
// wraps one.
type FaultError struct{ Cause error }

func (e *FaultError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *FaultError) Unwrap() error { return e.Cause }

// errTooManyReads stops a parser that reads far more than the size of the document justifies.
var errTooManyReads = Damaged("too many reads for the document size")

// Damaged returns an error that wraps ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// DecodeUTF16 converts b to UTF-8. Unpaired surrogates become U+FFFD. If the number of bytes is
// odd, the last one is dropped.
func DecodeUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// DecodeCharmap converts b to UTF-8. It drops bytes that are undefined in the encoding.
func DecodeCharmap(b []byte, from *charmap.Charmap) string {
	text := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		if r := from.DecodeByte(c); r != utf8.RuneError {
			text = utf8.AppendRune(text, r)
		}
	}
	return string(text)
}
