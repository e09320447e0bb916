//go:build !race

package vault_test

// longLogEntries is the length of the log in which one entry is looked for.
const longLogEntries = 100_000
