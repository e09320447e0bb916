package documents

import (
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestTextViewLimits(t *testing.T) {
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
		{"Excel", office + "spreadsheetml.sheet",
			"Cells only: formatting, charts, and pictures are not shown. Download the original to see them.", false},
		{"text", "text/plain", "", true},
		{"PDF", model.MIMEPDF, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			data := viewerData{DocumentWork: vault.DocumentWork{File: model.File{MIME: row.mime}}}
			if data.Lacks() != row.lacks || data.Plain() != row.plain {
				t.Errorf("Lacks() = %q, Plain() = %t, want %q, %t", data.Lacks(), data.Plain(), row.lacks, row.plain)
			}
		})
	}
}
