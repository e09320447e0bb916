// Package docio reads the bytes of one untrusted document on behalf of the parsers in
// package document and its subpackages. It keeps two failures apart: a document that is
// damaged, which is a result, and a read that failed or a context that ended, which is an
// error of this machine or of the caller.
package docio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Findings about a document. Every other error is the machine's or the caller's.
var (
	// ErrUnsupported reports that this type of document, or this variant of it, can't
	// provide what the caller asked for.
	ErrUnsupported = errors.New("not supported for this document")
	// ErrTooLarge reports that the work would exceed the limits.
	ErrTooLarge = errors.New("document is beyond the limits")
	// ErrDamaged reports that the document doesn't follow its format.
	ErrDamaged = errors.New("document is damaged")
)

// errTooManyReads ends parsing that reads far more than the size of the document justifies.
var errTooManyReads = Damaged("more reads than its size warrants")

// Damaged returns an error that wraps ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// DecodeUTF16 returns b as UTF-8. Unpaired surrogates become U+FFFD, and an odd byte at
// the end is dropped.
func DecodeUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
