package reader_test

import (
	"testing"

	"deedkeep/app/inspect"
	"deedkeep/app/reader"
)

func TestChildSwells(t *testing.T) {
	o := fake(t, "swells")
	o.MemoryLimit = 64 << 20
	p := open(t, o)
	doc, size := text("x")
	report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
	if err != nil || report.Refusal != inspect.PDFUnreadable {
		t.Errorf("%+v, %v", report, err)
	}
	if s := p.Stats(); s != (reader.Stats{Started: 1, Killed: 1, Served: 1}) {
		t.Errorf("%+v", s)
	}
}
