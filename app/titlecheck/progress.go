package titlecheck

import (
	"slices"

	"deedkeep/app/model"
)

// Progress is what is open in a search, in numbers. It follows from the same rules as the findings.
type Progress struct {
	Gaps       []model.Gap
	Open       []OpenLiens // in the sequence of the runsheet
	Names, Run int         // names that the search runs, and how many of them are run
}

// OpenLiens are the open mortgages and other liens of a type.
type OpenLiens struct {
	Type  model.DocumentType
	Count int
	First uint64 // the first instrument
}

// ProgressOf returns the progress of a search.
func ProgressOf(s *Search) (progress Progress) {
	progress.Gaps = s.gaps()
	for _, i := range s.Instruments {
		if !i.isOpenLien() {
			continue
		}
		at := slices.IndexFunc(progress.Open, func(o OpenLiens) bool { return o.Type.ID == i.Type.ID })
		if at < 0 {
			at = len(progress.Open)
			progress.Open = append(progress.Open, OpenLiens{Type: i.Type, First: i.ID})
		}
		progress.Open[at].Count++
	}
	run, counted := s.namesRun(false), model.NewPartyNames()
	s.eachName(func(name, _ string, _ uint64) {
		if model.IsOfficial(name) || counted.HasAll(name) {
			return
		}
		counted.Add(name)
		progress.Names++
		if len(missingNames(run, name)) == 0 {
			progress.Run++
		}
	})
	return progress
}
