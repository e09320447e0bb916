package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/apitypes"
)

// The CSV report of rejected files is safe to open in spreadsheet applications. It contains
// all rejections, although only the first ones are listed in the output.
func TestRejectionReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	report := newRejectionReport(path)
	err := report.open()
	if err != nil {
		t.Fatalf("create report: %v", err)
	}
	for _, name := range []string{"=1+1.pdf", "a\nb,c.pdf", "caf\xe9.pdf", "Stra\u00dfe.pdf", "\t-x.pdf"} {
		err = errors.Join(err, report.add(apitypes.ImportRejection{Path: name, Kind: "rejected", Reason: "File is empty"}))
	}
	for range maxListed {
		err = errors.Join(err, report.add(apitypes.ImportRejection{Path: "x", Kind: "link", Reason: "y"}))
	}
	if err := errors.Join(err, report.close()); err != nil || len(report.first) != maxListed || report.count != maxListed+5 {
		t.Fatalf("close report: got %d listed of %d rejections, %v, want %d of %d", len(report.first), report.count, err, maxListed, maxListed+5)
	}
	text, err := os.ReadFile(path)
	const want = "\ufeffpath,kind,reason\r\n" +
		"'=1+1.pdf,rejected,File is empty\r\n\"a b,c.pdf\",rejected,File is empty\r\ncaf\ufffd.pdf,rejected,File is empty\r\n" +
		"Stra\u00dfe.pdf,rejected,File is empty\r\n\" -x.pdf\",rejected,File is empty\r\nx,link,y\r\n"
	if err != nil || string(text[:len(want)]) != want {
		t.Errorf("report: got %q, %v, want prefix %q", text[:len(want)], err, want)
	}
	if got, want := quoteUnprintable("a\x1b[2Jb.pdf"), `"a\x1b[2Jb.pdf"`; got != want {
		t.Errorf("quoteUnprintable: got %s, want %s", got, want)
	}
}
