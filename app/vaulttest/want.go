package vaulttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
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

// WantLogged checks the newest entries of the audit log, newest first. Each wanted entry is "kind record", followed by
// the changes as "field:from>to".
func WantLogged(t *testing.T, v *instance.Instance, want ...string) {
	t.Helper()
	var got []string
	for _, e := range AuditEntries(t, v, len(want)) {
		line := e.Kind + " " + e.Record
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s:%s>%s", c.Field, c.From, c.To)
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("audit log: got\n     %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
