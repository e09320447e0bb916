//go:build race

package vault_test

// Less under the race detector, which makes everything ten times as dear: one goroutine
// reads the log, and one files and trashes.
const manyDocuments = 1_000
