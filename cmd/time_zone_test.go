package cmd

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// In tables and flags, times are in the configured time zone. With --json, they are in UTC.
func TestTimeZoneOfCommands(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	t.Setenv("DEEDKEEP_TIME_ZONE", "Pacific/Kiritimati") // UTC+14 all year
	var events []struct {
		At time.Time `json:"at"`
	}
	got := runCLI(t.Context(), t, nil, "events", "list", "--json", "--data", data)
	if err := json.Unmarshal([]byte(got.out), &events); err != nil || len(events) == 0 {
		t.Fatalf("events list --json: got %+v, %v, want events", got, err)
	}
	at := events[0].At
	local := at.Add(14 * time.Hour).UTC()
	table := runCLI(t.Context(), t, nil, "events", "list", "--data", data).out
	if want := local.Format("Jan 2, 2006, 3:04:05 PM") + " +14"; !strings.Contains(table, want) {
		t.Errorf("events list: got no %s for %s:\n%s", want, at, table)
	}
	after := local.AddDate(0, 0, 1).Format(time.DateOnly)
	if got := runCLI(t.Context(), t, nil, "events", "list", "--from", after, "--data", data); got.out != "no matching entries\n" {
		t.Errorf("--from %s: got %+v, want none", after, got)
	}
	got = runCLI(t.Context(), t, nil, "events", "list", "--from", local.Format(time.DateOnly), "--data", data)
	if want := local.Format("Jan 2, 2006, 3:04:05 PM"); !strings.Contains(got.out, want) {
		t.Errorf("--from the day of the event: got %+v, want %s", got, want)
	}
	t.Setenv("DEEDKEEP_TIME_ZONE", "Eastern")
	got = runCLI(t.Context(), t, nil, "config", "check", "--data", data)
	if got.code != exitUsage || !strings.Contains(got.messages, `time_zone: "Eastern" is not a time zone`) {
		t.Errorf("config check with an invalid zone: got %+v, want exit code %d", got, exitUsage)
	}
}

// Without a setting, times are in the time zone that an administrator chose.
func TestTimeZoneThatWasChosen(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	v, err := instance.Open(t.Context(), instance.Options{Dir: data, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{}, Now: time.Now,
		Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("instance.Open: %v", err)
	}
	err = v.Stored.ChooseTimeZone(t.Context(), model.Actor{Kind: "operator"}, "Pacific/Kiritimati")
	if err := errors.Join(err, v.Close()); err != nil {
		t.Fatalf("Choose and Close: %v", err)
	}
	day := time.Now().UTC().Add(14 * time.Hour)
	got := runCLI(t.Context(), t, nil, "events", "list", "--kind", "settings.changed", "--from", day.Format(time.DateOnly), "--data", data)
	if !strings.Contains(got.out, " +14") || got.code != exitDone {
		t.Errorf("events list --from today: got %+v, want an entry in +14", got)
	}
	got = runCLI(t.Context(), t, nil, "events", "list", "--from", day.AddDate(0, 0, 1).Format(time.DateOnly), "--data", data)
	if got.out != "no matching entries\n" {
		t.Errorf("events list --from tomorrow: got %+v, want none", got)
	}
}
