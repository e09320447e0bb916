//go:build race

package audit_test

// Less under the race detector, which makes everything ten times as dear: one goroutine
// reads the log, and one files and trashes.
const longLogEntries = 3_000
