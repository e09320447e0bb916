package ui

import (
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestWhatATextLacks(t *testing.T) {
	t.Parallel()
	const office = "application/vnd.openxmlformats-officedocument."
	const lacks = "Text only: layout and tables are not shown. Download the original to see them."
	for _, row := range []struct {
		name, mime, lacks string
		plain             bool
	}{
		{"Word", office + "wordprocessingml.document", lacks, false},
		{"old Word", "application/msword", lacks, false},
		{"PowerPoint", office + "presentationml.presentation", lacks, false},
		{"Excel", office + "spreadsheetml.sheet", "Cells only: formatting, charts, and pictures are not shown. Download the original to see them.", false},
		{"text", "text/plain", "", true},
		{"PDF", model.MIMEPDF, "", false},
	} {
		s := documentSheet{File: model.File{MIME: row.mime}}
		if s.Lacks() != row.lacks || s.Plain() != row.plain {
			t.Errorf("%s: got %q, plain %t, want %q, plain %t", row.name, s.Lacks(), s.Plain(), row.lacks, row.plain)
		}
	}
}

func TestFiledNoticeOfAPassword(t *testing.T) {
	t.Parallel()
	refused := []model.RejectedFile{{Filename: "a.pdf", Reason: "PDF is password-protected"}, {Filename: "b.pdf", Reason: "PDF is password-protected"}, {Filename: "c.pdf", Reason: "PDF is empty"}}
	const want = "3 documents were not uploaded: a.pdf (PDF is password-protected); b.pdf (PDF is password-protected); c.pdf (PDF is empty). " +
		"Open it with its password, print it to a new PDF or save a copy without the password, and upload that."
	if got := filedNotice(vault.Filed{Failures: refused}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
