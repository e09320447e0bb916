package vault

import (
	"errors"
	"slices"

	"deedkeep/app/errs"
)

// Match is the condition in an If-Match header (RFC 9110, section 13.1.1). It is checked
// in the transaction that makes the change. The zero value accepts every version.
type Match struct {
	Given    bool     // false: accept every version
	Any      bool     // accept every version of an existing record
	Versions []uint64 // accept one of these versions
}

// check returns PreconditionFailed if the condition does not accept the version.
func (m Match) check(version uint64) error {
	if !m.Given || m.Any || slices.Contains(m.Versions, version) {
		return nil
	}
	return &errs.Error{Kind: errs.PreconditionFailed, Message: "The record has changed since you read it. Read it again.",
		Err: errors.New("version in If-Match doesn't match")}
}
