package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/apitypes"
)

func TestRefusalsReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	list, err := newRejectionReport(path)
	if err != nil {
		t.Fatalf("newRejectionReport: %v", err)
	}
	for _, name := range []string{"=1+1.pdf", "a\nb,c.pdf", "caf\xe9.pdf", "Stra\u00dfe.pdf", "\t-x.pdf"} {
		err = errors.Join(err, list.add(apitypes.ImportRejection{Path: name, What: "refused", Reason: "File is empty"}))
	}
	for range maxListed {
		err = errors.Join(err, list.add(apitypes.ImportRejection{Path: "x", What: "link", Reason: "y"}))
	}
	if err := errors.Join(err, list.close()); err != nil || len(list.first) != maxListed || list.count != maxListed+5 {
		t.Fatalf("%d of %d, %v", len(list.first), list.count, err)
	}
	text, err := os.ReadFile(path)
	const want = "\ufeffpath,what,reason\r\n'=1+1.pdf,refused,File is empty\r\n\"a b,c.pdf\",refused,File is empty\r\ncaf\ufffd.pdf,refused,File is empty\r\n" +
		"Stra\u00dfe.pdf,refused,File is empty\r\n\" -x.pdf\",refused,File is empty\r\nx,link,y\r\n"
	if err != nil || string(text[:len(want)]) != want {
		t.Errorf("%q, %v", text[:len(want)], err)
	}
	if got := quoteUnprintable("a\x1b[2Jb.pdf"); got != `"a\x1b[2Jb.pdf"` {
		t.Errorf("%s", got)
	}
}
