//go:build !race

package audit_test

// longLogEntries is the number of entries in the log in which Verify must find a single
// altered entry.
const longLogEntries = 100_000
