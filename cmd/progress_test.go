package cmd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deedkeep/app/apitypes"
)

// Elsewhere than on a terminal: nothing in the first second, then a line every ten.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, messages := testShell()
		report, finish := s.showProgress("backup")
		for second := range 25 {
			report(apitypes.Progress{Done: int64(second) << 20, Total: 25 << 20, Unit: "bytes"})
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

// What came before the first of it, and what was done another time, is not taken for its
// pace; nothing is said of the time left before a second of it.
func TestProgressTellsNoTimeItDoesNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, messages := testShell()
		report, finish := s.showProgress("")
		time.Sleep(3 * time.Second) // records are looked at
		for done := range int64(1450) {
			report(apitypes.Progress{Done: done + 1, Total: 1450, Unit: "documents"})
			time.Sleep(10 * time.Millisecond)
		}
		finish()
		want := "deedkeep: 1 of 1450 documents\ndeedkeep: 1001 of 1450 documents, 4s left\n"
		if got := messages.String(); got != want {
			t.Errorf("%s", got)
		}

		s, _, messages = testShell()
		report, finish = s.showProgress("reindex")
		for done := int64(900); done < 1000; done += 2 {
			report(apitypes.Progress{Done: done, Total: 1000, Unit: "records"})
			time.Sleep(time.Second)
		}
		finish()
		if got := messages.String(); !strings.HasPrefix(got, "deedkeep: reindex: 902 of 1000 records, 49s left\n") {
			t.Errorf("%s", got)
		}
	})
}

func TestFarAs(t *testing.T) {
	rows := []struct {
		p    apitypes.Progress
		want string
	}{
		{apitypes.Progress{Unit: "documents"}, "0 documents"},
		{apitypes.Progress{Done: 3, Unit: "documents"}, "3 documents"},
		{apitypes.Progress{Total: 9, Unit: "documents"}, "0 of 9 documents"},
		{apitypes.Progress{Done: 3, Total: 9, Unit: "documents"}, "3 of 9 documents, 20s left"},
		{apitypes.Progress{Done: 9, Total: 9, Unit: "documents"}, "9 of 9 documents"},
	}
	for _, row := range rows {
		if got := progressLine(row.p, progressRate{at: time.Now().Add(-10 * time.Second)}); got != row.want {
			t.Errorf("%+v: %q, want %q", row.p, got, row.want)
		}
	}
	if strings.Contains(progressLine(apitypes.Progress{Done: 2048, Total: 4096, Unit: "bytes"}, progressRate{}), "bytes") {
		t.Error("sizes are told for people")
	}
}
