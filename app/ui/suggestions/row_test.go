package suggestions

import (
	"slices"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestRowShowsLabelOfRecordingSystem(t *testing.T) {
	row := reviewRow{Suggestion: vault.Suggestion{Instrument: model.Instrument{RecordingSystem: "registered"},
		Fields: model.Inputs{"recording_system": model.StringInput("registered")}}}
	if got, want := row.Others(), []string{"Recording system: Registered (Torrens)"}; !slices.Equal(got, want) {
		t.Errorf("Others() = %q, want %q", got, want)
	}
}
