//go:build race

package audit_test

// The race detector makes the test about ten times slower. A short log is sufficient,
// because only one goroutine reads it.
const longLogEntries = 3_000
