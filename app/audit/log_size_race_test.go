//go:build race

package audit_test

// The race detector slows the test down about ten times. It needs no long log, because one
// goroutine reads it.
const longLogEntries = 3_000
