package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

func TestChildSwells(t *testing.T) {
	o := fake(t, "swells")
	o.MemoryLimit = 64 << 20
	p := open(t, o)
	doc, size := text("x")
	report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
	if err != nil || report.Rejection != document.ReasonPDFUnreadable {
		t.Errorf("%+v, %v", report, err)
	}
	if s := p.Stats(); s != (sandbox.Stats{Started: 1, Killed: 1, Served: 1}) {
		t.Errorf("%+v", s)
	}
}

// TestChildSwellsAtOnce: what no watch is quick enough for, the system refuses.
func TestChildSwellsAtOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "had it")
	if err := exec.Command(self, sandbox.FakeArg, "confined="+file).Run(); err == nil {
		t.Error("the child went on")
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the child got its memory")
	}
}
