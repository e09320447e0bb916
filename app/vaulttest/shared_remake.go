package vaulttest

import (
	"testing"

	"deedkeep/app/instance"
)

// remade waits until no text is to be made any more.
func WaitTextsRebuilt(t *testing.T, v *instance.Instance) {
	t.Helper()
	Eventually(t, "all texts", func() bool {
		s, err := v.Search.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Ready && !s.Building && s.PendingChanges == 0 && s.MissingText == 0 && Status(t, v).Queue == 0
	})
}
