//go:build race

package vault_test

// longLogEntries is less under the race detector, which makes each entry ten times
// as dear: the log is read by one goroutine.
const longLogEntries = 10_000
