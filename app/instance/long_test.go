//go:build !race

package instance_test

const (
	longLogEntries = 100_000 // of the log in which one entry is looked for
	manyDocuments  = 5_000   // of the abstract that goes into the trash
)
