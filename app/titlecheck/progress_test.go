package titlecheck_test

import (
	"fmt"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
)

// The progress counts what the checks find: gaps, open liens by type, and names that aren't run.
func TestProgress(t *testing.T) {
	t.Parallel()
	types := model.NewDocumentTypes()
	of := func(name, from, to string) model.Instrument {
		documentType, ok := types.ByName(name)
		if !ok {
			t.Fatalf("no document type %q", name)
		}
		return model.Instrument{TypeID: documentType.ID, Grantors: []string{from}, Grantees: []string{to}}
	}
	released := of("Mortgage", "Bo Roe", "First Bank")
	released.Status = model.InstrumentReleased
	names := []model.NameRun{{Name: "Lee, Ann"}, {Name: "Bo Roe", Pending: true}}
	for _, row := range []struct {
		name   string
		search titlecheck.Search
		want   string
	}{
		{"empty", titlecheck.Search{}, "0 gaps, open [], run 0 of 0"},
		{"open", titlecheck.Search{Work: model.TitleWork{NamesRun: names}, Instruments: runsheet(types,
			of("Warranty Deed", "Ann Lee", "Bo Roe"), of("Mortgage", "Bo Roe", "First Bank"), released,
			of("Judgment", "Bo Roe", "Second Bank"), of("Easement or Right of Way", "Bo Roe", "Gas Co"),
			of("Mortgage", "Roe, Bo", "Third Bank"), of("Quitclaim Deed", "John Farmer", "Sheriff of Wexcombe County"))},
			"1 gaps, open [2 Mortgage 2 1 Judgment 4], run 1 of 3"},
		{"all run", titlecheck.Search{Work: model.TitleWork{NamesRun: []model.NameRun{{Name: "Ann Lee"}, {Name: "Bo Roe"}}},
			Instruments: runsheet(types, of("Warranty Deed", "Ann Lee", "Bo Roe"))}, "0 gaps, open [], run 2 of 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.search.Types = types
			s := titlecheck.ProgressOf(&row.search)
			var open []any
			for _, o := range s.Open {
				open = append(open, o.Count, o.Type.Name, o.First)
			}
			if got := fmt.Sprintf("%d gaps, open %v, run %d of %d", len(s.Gaps), open, s.Run, s.Names); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			notRun := 0
			for _, f := range titlecheck.Run(&row.search) {
				if f.Check == "name_not_run" {
					notRun++
				}
			}
			if notRun != s.Names-s.Run {
				t.Errorf("names not run: got %d findings, want %d", notRun, s.Names-s.Run)
			}
		})
	}
}
