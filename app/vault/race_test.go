//go:build race

package vault_test

// manyDocuments is lower with the race detector, which makes the test about ten times slower.
const manyDocuments = 1_000
