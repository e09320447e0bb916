package kv

import (
	"fmt"
	"runtime/debug"
)

// RecoverPanic runs fn and converts a panic into an error. It also converts memory faults, because an engine may map
// its file into memory, and a damaged page can point outside of it, which must not crash the process.
func RecoverPanic(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, debug.Stack()}
		}
	}()
	return fn()
}

// PanicError is a recovered panic. Its text contains the stack trace for the log.
type PanicError struct {
	Reason any
	Stack  []byte
}

func (p *PanicError) Error() string {
	return fmt.Sprintf("panic in a transaction: %v\n%s", p.Reason, p.Stack)
}
