package records

import (
	"fmt"

	"deedkeep/app/ui/page"
)

// filterChip says what one filter of a list selects.
type filterChip struct {
	Text    string
	Without string // address of the list without the filter
}

// chipTexts say what filters select, by the names of the filters. %s is the value. Filters that tabs show are left out.
var chipTexts = []struct {
	name, text string
	date       bool
}{
	{"q", "Contains “%s”", false},
	{"status", "Status is %s", false},
	{"type_id", "Type is %s", false},
	{"book", "Book is %s", false},
	{"page", "Page is %s", false},
	{"assignee", "Assigned to %s", false},
	{"template", "Template is %s", false},
	{"county", "County is %s", false},
	{"state", "State is %s", false},
	{"due_from", "Due %s or later", true},
	{"due_to", "Due %s or earlier", true},
	{"recorded_from", "Recorded %s or later", true},
	{"recorded_to", "Recorded %s or earlier", true},
	{"from", "Created %s or later", true},
	{"to", "Created %s or earlier", true},
}

// addChips adds a chip for each filter. named has the texts of values that are IDs or codes, by the names of the filters.
func (l *tableList) addChips(named map[string]string) {
	for _, c := range chipTexts {
		value := l.Asked.Get(c.name)
		if value == "" || l.Problems[c.name] != "" {
			continue
		}
		switch {
		case named[c.name] != "":
			value = named[c.name]
		case c.name == "status":
			value = page.FormatStatus(value)
		case c.date:
			value = page.FormatDate(value)
		}
		l.Chips = append(l.Chips, filterChip{fmt.Sprintf(c.text, page.Truncate(value, maxCell)), l.addressWith(c.name, "")})
	}
}
