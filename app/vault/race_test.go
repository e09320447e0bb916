//go:build race

package vault_test

// manyDocuments is the number of documents in a large abstract. It is lower with the race
// detector, which makes the test about 10 times slower.
const manyDocuments = 1_000
