package titlecheck

import (
	"slices"

	"deedkeep/app/model"
)

// NamesToRun returns a row for each name that a search runs and that its names run doesn't have. The period of an owner
// is from the first conveyance to them through the last one by them.
func NamesToRun(s *Search) (rows []model.NameRun) {
	listed := model.NewPartyNames()
	for _, row := range s.Work.NamesRun {
		listed.Add(row.Name)
	}
	s.eachName(func(name, _ string, _ uint64) {
		for _, name := range missingNames(listed, name) {
			if listed.HasAll(name) {
				continue
			}
			listed.Add(name)
			row := model.NameRun{Name: name}
			row.From, row.To = s.ownership(name)
			rows = append(rows, row)
		}
	})
	return rows
}

// ownership returns the recording dates of the first conveyance to a name and of the last one by it after that, or "".
func (s *Search) ownership(name string) (from, to string) {
	isIn := func(list []string) bool {
		return slices.ContainsFunc(list, func(party string) bool {
			known := model.NewPartyNames()
			known.Add(party)
			return known.HasAll(name)
		})
	}
	for _, i := range s.Instruments {
		if i.Type.Category != model.Conveyance || i.Recorded == "" {
			continue
		}
		if isIn(i.Grantees) && (from == "" || i.Recorded < from) {
			from = i.Recorded
		}
		if isIn(i.Grantors) {
			to = max(to, i.Recorded)
		}
	}
	if to < from {
		to = ""
	}
	return from, to
}
