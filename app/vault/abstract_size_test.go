//go:build !race

package vault_test

const manyDocuments = 5_000 // of the abstract that goes into the trash
