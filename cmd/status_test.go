package cmd

import (
	"encoding/json"
	"testing"

	"deedkeep/app/apitypes"
)

// What there is none of is null for a program: no progress of an index that nobody makes,
// no trouble with it.
func TestStatusOfAnIdleIndex(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("seed: %v", err)
	}
	if got := runCLI(t.Context(), t, nil, "reindex", "--data", data); got.code != exitDone {
		t.Fatalf("reindex: %+v", got)
	}
	var status struct{ Search map[string]any }
	got := runCLI(t.Context(), t, nil, "status", "--json", "--data", data)
	if err := json.Unmarshal([]byte(got.out), &status); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	index := status.Search
	for _, name := range []string{"done", "total", "error"} {
		if value, there := index[name]; !there || value != nil {
			t.Errorf("%s: %v (%t)", name, value, there)
		}
	}
	if records, _ := index["records"].(float64); index["ready"] != true || index["building"] != false || records < 1 {
		t.Errorf("%v", index)
	}
}

func TestStatusSaysWhyWritesAreDenied(t *testing.T) {
	for want, is := range map[string]apitypes.Status{
		"taken":                               {DiskFree: 10, DiskReserve: 10},
		"DENIED: The data directory is gone.": {WritesDenied: new("The data directory is gone.")},
	} {
		if got := writesRow(is); got != want {
			t.Errorf("%+v: got %q, want %q", is, got, want)
		}
	}
}
