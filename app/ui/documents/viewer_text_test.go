package documents

import (
	"testing"

	"deedkeep/app/model"
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
		{"Excel", office + "spreadsheetml.sheet", "Cells only: formatting, charts, and pictures are not shown. Download the original to see them.", false},
		{"text", "text/plain", "", true},
		{"PDF", model.MIMEPDF, "", false},
	} {
		s := viewerData{File: model.File{MIME: row.mime}}
		if s.Lacks() != row.lacks || s.Plain() != row.plain {
			t.Errorf("%s: got %q, plain %t, want %q, plain %t", row.name, s.Lacks(), s.Plain(), row.lacks, row.plain)
		}
	}
}
