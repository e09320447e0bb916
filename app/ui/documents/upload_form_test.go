package documents

import (
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestUploadNoticeForPasswords(t *testing.T) {
	t.Parallel()
	rejected := []model.RejectedFile{{Filename: "a.pdf", Reason: "PDF is password-protected"},
		{Filename: "b.pdf", Reason: "PDF is password-protected"}, {Filename: "c.pdf", Reason: "PDF is empty"}}
	const want = "3 documents were rejected: a.pdf (PDF is password-protected); b.pdf (PDF is password-protected); " +
		"c.pdf (PDF is empty). " +
		"Open it with its password, print it to a new PDF or save a copy without the password, and upload that."
	if got := uploadNotice(vault.AbstractWithFiles{Failures: rejected}); got != want {
		t.Errorf("uploadNotice() = %q, want %q", got, want)
	}
}
