package cmd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deedkeep/app/apitypes"
)

// If the output is not a terminal, the first line is printed after one second, and then a line
// every ten seconds.
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
		want := "deedkeep: backup: 1 MB of 25 MB, 24s left\n" +
			"deedkeep: backup: 11 MB of 25 MB, 14s left\n" +
			"deedkeep: backup: 21 MB of 25 MB, 4s left\n"
		if got := messages.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// The rate excludes the time before the first report and the work done by earlier runs. The
// remaining time is printed only one second after the first report.
func TestProgressTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, messages := testShell()
		report, finish := s.showProgress("")
		time.Sleep(3 * time.Second) // time before the first report
		for done := range int64(1450) {
			report(apitypes.Progress{Done: done + 1, Total: 1450, Unit: "documents"})
			time.Sleep(10 * time.Millisecond)
		}
		finish()
		want := "deedkeep: 1 of 1450 documents\ndeedkeep: 1001 of 1450 documents, 4s left\n"
		if got := messages.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}

		s, _, messages = testShell()
		report, finish = s.showProgress("reindex")
		for done := int64(900); done < 1000; done += 2 {
			report(apitypes.Progress{Done: done, Total: 1000, Unit: "records"})
			time.Sleep(time.Second)
		}
		finish()
		want = "deedkeep: reindex: 902 of 1000 records, 49s left\n"
		if got := messages.String(); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestProgressLine(t *testing.T) {
	rows := []struct {
		progress apitypes.Progress
		want     string
	}{
		{apitypes.Progress{Unit: "documents"}, "0 documents"},
		{apitypes.Progress{Done: 3, Unit: "documents"}, "3 documents"},
		{apitypes.Progress{Total: 9, Unit: "documents"}, "0 of 9 documents"},
		{apitypes.Progress{Done: 3, Total: 9, Unit: "documents"}, "3 of 9 documents, 20s left"},
		{apitypes.Progress{Done: 9, Total: 9, Unit: "documents"}, "9 of 9 documents"},
	}
	for _, row := range rows {
		t.Run(row.want, func(t *testing.T) {
			if got := progressLine(row.progress, progressRate{at: time.Now().Add(-10 * time.Second)}); got != row.want {
				t.Errorf("progressLine(%+v) = %q, want %q", row.progress, got, row.want)
			}
		})
	}
	if got := progressLine(apitypes.Progress{Done: 2048, Total: 4096, Unit: "bytes"}, progressRate{}); strings.Contains(got, "bytes") {
		t.Errorf("progressLine of 2048 bytes = %q, want sizes in KB", got)
	}
}
