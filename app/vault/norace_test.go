//go:build !race

package vault_test

// manyDocuments is the number of documents of a large abstract.
const manyDocuments = 5_000
