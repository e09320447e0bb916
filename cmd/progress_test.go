package cmd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deedkeep/app/wire"
)

// Elsewhere than on a terminal: nothing in the first second, then a line every ten.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, messages := testShell()
		report, finish := s.bar("backup")
		for second := range 25 {
			report(wire.Progress{Done: int64(second) << 20, Total: 25 << 20, Unit: "bytes"})
			time.Sleep(time.Second)
		}
		finish()
		finish()
		want := "deedkeep: backup: 1 MB of 25 MB, 24s left\ndeedkeep: backup: 11 MB of 25 MB, 14s left\ndeedkeep: backup: 21 MB of 25 MB, 4s left\n"
		if got := messages.String(); got != want {
			t.Errorf("%s", got)
		}
	})
}

func TestFarAs(t *testing.T) {
	rows := []struct {
		p    wire.Progress
		want string
	}{
		{wire.Progress{Unit: "documents"}, "0 documents"},
		{wire.Progress{Done: 3, Unit: "documents"}, "3 documents"},
		{wire.Progress{Total: 9, Unit: "documents"}, "0 of 9 documents"},
		{wire.Progress{Done: 3, Total: 9, Unit: "documents"}, "3 of 9 documents, 20s left"},
		{wire.Progress{Done: 9, Total: 9, Unit: "documents"}, "9 of 9 documents"},
	}
	for _, row := range rows {
		if got := farAs(row.p, 10*time.Second); got != row.want {
			t.Errorf("%+v: %q, want %q", row.p, got, row.want)
		}
	}
	if strings.Contains(farAs(wire.Progress{Done: 2048, Total: 4096, Unit: "bytes"}, time.Second), "bytes") {
		t.Error("sizes are told for people")
	}
}
