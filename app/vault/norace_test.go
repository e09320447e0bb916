//go:build !race

package vault_test

// manyDocuments is the number of documents in a large abstract.
const manyDocuments = 5_000
