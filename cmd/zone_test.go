package cmd

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Times that people read are those of the setting's zone; --json stays UTC.
func TestTimeZoneOfCommands(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("seed: %v", err)
	}
	t.Setenv("DEEDKEEP_TIME_ZONE", "Pacific/Kiritimati") // 14 hours before UTC, all year
	var events []struct {
		At time.Time `json:"at"`
	}
	got := runCLI(t.Context(), t, nil, "events", "list", "--json", "--data", data)
	if err := json.Unmarshal([]byte(got.out), &events); err != nil || len(events) == 0 {
		t.Fatalf("got %v, %+v", err, got)
	}
	at := events[0].At
	there := at.Add(14 * time.Hour).UTC()
	table := runCLI(t.Context(), t, nil, "events", "list", "--data", data).out
	if want := there.Format(time.DateTime) + " +14"; !strings.Contains(table, want) {
		t.Errorf("the table lacks %s of %s:\n%s", want, at, table)
	}
	after := there.AddDate(0, 0, 1).Format(time.DateOnly)
	if got := runCLI(t.Context(), t, nil, "events", "list", "--from", after, "--data", data); got.out != "there is no such entry\n" {
		t.Errorf("--from %s: got %+v, want none", after, got)
	}
	if got := runCLI(t.Context(), t, nil, "events", "list", "--from", there.Format(time.DateOnly), "--data", data); !strings.Contains(got.out, there.Format(time.DateTime)) {
		t.Errorf("--from the day of the entry: got %+v", got)
	}
	t.Setenv("DEEDKEEP_TIME_ZONE", "Eastern")
	if got := runCLI(t.Context(), t, nil, "config", "check", "--data", data); got.code != exitUsage || !strings.Contains(got.messages, `time_zone: "Eastern" is not a time zone`) {
		t.Errorf("a name that is none: got %+v", got)
	}
}
