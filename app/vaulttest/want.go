package vaulttest

import (
	"testing"
	"time"

	"deedkeep/app/errs"
)

// NoError stops the test if err is not nil.
func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// WantKind checks the kind of an error. what describes the call in the failure message.
func WantKind(t *testing.T, what string, err error, want errs.Kind) {
	t.Helper()
	if err == nil || errs.KindOf(err) != want {
		t.Errorf("%s: got error %v (kind %d), want kind %d", what, err, errs.KindOf(err), want)
	}
}

// WantNoDocuments checks that the data directory dir doesn't contain any documents, not even temporary ones.
func WantNoDocuments(t *testing.T, dir string) {
	t.Helper()
	for _, folder := range []string{"blobs", "tmp"} {
		if paths := FilesUnder(t, dir, folder); len(paths) > 0 {
			t.Errorf("files in %s: got %v, want none", folder, paths)
		}
	}
}

// Eventually waits up to 20 seconds until condition returns true. what describes the condition in the failure message.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("timeout waiting for %s", what)
		}
	}
}
