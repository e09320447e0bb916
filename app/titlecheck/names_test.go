package titlecheck

import (
	"fmt"
	"testing"

	"deedkeep/app/model"
)

// The names of the chain are offered with the period in which they owned the property, except for those that are listed.
func TestNamesToRun(t *testing.T) {
	deed := func(recorded string, from, to []string) Instrument {
		return Instrument{Instrument: model.Instrument{Recorded: recorded, Grantors: from, Grantees: to},
			Type: model.DocumentType{Category: model.Conveyance}}
	}
	lien := Instrument{Instrument: model.Instrument{Recorded: "2010-01-02", Grantors: []string{"Roe, Bo"}, Grantees: []string{"First Bank"}},
		Type: model.DocumentType{Category: model.Security, Encumbrance: true}, Status: model.InstrumentOpen}
	s := Search{Instruments: []Instrument{
		deed("1990-05-01", []string{"Farmer, Al", "Sheriff of Albany County"}, []string{"Lee, Ann"}),
		deed("1998-03-09", []string{"Ann Lee"}, []string{"Roe, Bo", "Roe, Eve"}),
		deed("", []string{"Roe, Bo"}, []string{"Quill, Nora"}), lien,
	}}
	s.Work.NamesRun = []model.NameRun{{Name: "Roe, Eve"}, {Name: "Farmer, Al", Pending: true}}
	var got []string
	for _, row := range NamesToRun(&s) {
		got = append(got, fmt.Sprintf("%s %s/%s", row.Name, row.From, row.To))
	}
	if want := "[Lee, Ann 1990-05-01/1998-03-09 Roe, Bo 1998-03-09/ Quill, Nora /]"; fmt.Sprint(got) != want {
		t.Errorf("NamesToRun() = %v, want %s", got, want)
	}
	if again := NamesToRun(&Search{}); len(again) != 0 {
		t.Errorf("NamesToRun of an empty search = %v, want none", again)
	}
}
