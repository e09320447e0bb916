//go:build !race

package audit_test

const longLogEntries = 100_000 // of the log in which one entry is looked for
