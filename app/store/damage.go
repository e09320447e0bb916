package store

import (
	"errors"
	"fmt"

	berrors "go.etcd.io/bbolt/errors"
)

// errNotVault is in the chain of Open's error for a file that lacks what every vault has.
var errNotVault = errors.New("this file is no vault")

// DescribeDamage gives the sentence of an error that comes from a damaged database file, and
// false for every other error.
func DescribeDamage(err error) (sentence string, damaged bool) {
	if caught, ok := errors.AsType[*panicError](err); ok {
		return fmt.Sprint(caught.reason), true
	}
	if errors.Is(err, errBrokenPages) {
		return "its pages cannot be read", true
	}
	for _, known := range []error{berrors.ErrInvalid, berrors.ErrChecksum, berrors.ErrVersionMismatch, errNotVault} {
		if errors.Is(err, known) {
			return known.Error(), true
		}
	}
	return "", false
}

// describeProblem is the sentence of an error for a finding: without the way to a panic.
func describeProblem(err error) string {
	if sentence, damaged := DescribeDamage(err); damaged {
		return sentence
	}
	return err.Error()
}
