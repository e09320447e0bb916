package vaulttest

import (
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/integrity"
)

func VerifyReport(t *testing.T, v *instance.Instance) integrity.Report {
	t.Helper()
	report, err := v.Integrity.Verify(t.Context(), func(done, total int) {
		if done < 1 || done > total {
			t.Errorf("%d of %d", done, total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
