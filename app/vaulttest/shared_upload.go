package vaulttest

import (
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/upload"
)

// begin makes room for a document.
func BeginUpload(t *testing.T, v *instance.Instance, plan upload.Plan) upload.Upload {
	t.Helper()
	up, err := v.Uploads.Begin(t.Context(), Operator, plan)
	if err != nil {
		t.Fatal(err)
	}
	return up
}
