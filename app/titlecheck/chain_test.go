package titlecheck_test

import (
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
)

// chainOf returns the chain of title of instruments, given as "Type: grantors > grantees" with names separated by "; ". An
// "|" is where no instrument is from the owners before.
func chainOf(t *testing.T, instruments ...string) string {
	t.Helper()
	types := model.NewDocumentTypes()
	var list []model.Instrument
	for _, text := range instruments {
		kind, parties, _ := strings.Cut(text, ": ")
		from, to, _ := strings.Cut(parties, " > ")
		documentType, ok := types.ByName(kind)
		if !ok {
			t.Fatalf("no document type %q", kind)
		}
		list = append(list, model.Instrument{TypeID: documentType.ID, Grantors: model.SplitNames(from), Grantees: model.SplitNames(to)})
	}
	var b strings.Builder
	for n, owners := range titlecheck.Chain(&titlecheck.Search{Types: types, Instruments: runsheet(types, list...)}) {
		switch {
		case owners.Apart:
			b.WriteString(" | ")
		case n > 0:
			b.WriteString(" > ")
		}
		b.WriteString(owners.Short)
	}
	return b.String()
}

// The chain names owners only as the instruments do. It never joins owners that no instrument joins.
func TestChain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		instruments []string
		want        string
	}{
		{"none", nil, ""},
		{"only liens", []string{"Mortgage: Bo Roe > First Bank"}, ""},
		{"deeds", []string{"Warranty Deed: Ann Farmer > John Smith; Mary Smith", "Mortgage: John Smith > First Bank",
			"Quitclaim Deed: Smith, John; Smith, Mary > Carl Abernathy"}, "Farmer > Smith > Abernathy"},
		{"gap", []string{"Warranty Deed: Ann Farmer > John Smith", "Warranty Deed: Eve Jones > Carl Abernathy"},
			"Farmer > Smith | Jones > Abernathy"},
		{"two deeds of the same owner", []string{"Warranty Deed: Ann Farmer > John Smith", "Warranty Deed: Ann Farmer > Carl Abernathy"},
			"Farmer > Smith | Farmer > Abernathy"},
		{"shares", []string{"Warranty Deed: Ann Farmer > John Smith; Bo Roe", "Quitclaim Deed: Bo Roe > Carl Abernathy",
			"Quitclaim Deed: John Smith > Carl Abernathy"}, "Farmer > Smith and Roe > Smith and Abernathy > Abernathy"},
		{"one of two shares", []string{"Warranty Deed: Ann Farmer > John Smith; Bo Roe", "Quitclaim Deed: Bo Roe > Carl Abernathy",
			"Warranty Deed: John Smith > Eve Poe"}, "Farmer > Smith and Roe > Smith and Abernathy > Abernathy and Poe"},
		{"buyout", []string{"Warranty Deed: Ann Farmer > John Smith; Bo Roe", "Quitclaim Deed: Bo Roe > John Smith",
			"Warranty Deed: Bo Roe > Carl Abernathy"}, "Farmer > Smith and Roe > Smith | Roe > Abernathy"},
		{"to a trustee", []string{"Warranty Deed: Ann Farmer > John Smith", "Quitclaim Deed: John Smith > John Smith, Trustee"},
			"Farmer > Smith > John Smith, Trustee"},
		{"corrective deed", []string{"Warranty Deed: Ann Farmer > John Smith", "Corrective Deed: Ann Farmer > John Smith"},
			"Farmer > Smith"},
		{"between owners", []string{"Warranty Deed: Ann Farmer > John Smith; Mary Smith", "Quitclaim Deed: Mary Smith > John Smith"},
			"Farmer > John Smith and Mary Smith > John Smith"},
		{"heirs by affidavit", []string{"Warranty Deed: Ann Farmer > John Smith", "Affidavit: John Smith > Eve Poe",
			"Warranty Deed: Eve Poe > Carl Abernathy"}, "Farmer > Smith > Poe > Abernathy"},
		{"probate", []string{"Warranty Deed: Ann Farmer > John Smith", "Probate: John Smith > Eve Poe; Bea Roe",
			"Warranty Deed: Eve Poe; Bea Roe > Carl Abernathy"}, "Farmer > Smith > Poe and Roe > Abernathy"},
		{"probate of someone else", []string{"Warranty Deed: Ann Farmer > John Smith", "Probate: Dan Other > Eve Poe",
			"Warranty Deed: Eve Poe > Carl Abernathy"}, "Farmer > Smith | Poe > Abernathy"},
		{"sheriff", []string{"Warranty Deed: Ann Farmer > John Smith", "Sheriff's Deed: Sheriff of Wexcombe County > First Bank, N.A."},
			"Farmer > Smith > First Bank, N.A."},
		{"after a sheriff", []string{"Warranty Deed: Ann Farmer > John Smith", "Sheriff's Deed: Sheriff of Wexcombe County > First Bank",
			"Warranty Deed: John Smith > Carl Abernathy"}, "Farmer > Smith > First Bank | Smith > Abernathy"},
		{"same last name", []string{"Warranty Deed: Ann Farmer > John Smith", "Warranty Deed: John Smith > Eve Smith"},
			"Farmer > John Smith > Eve Smith"},
		{"no grantor", []string{"Warranty Deed: Ann Farmer > John Smith", "Warranty Deed:  > Carl Abernathy"}, "Farmer > Smith | Abernathy"},
		{"no grantee", []string{"Warranty Deed: Ann Farmer > ", "Warranty Deed: John Smith > Carl Abernathy"}, "Smith > Abernathy"},
		{"names", []string{"Warranty Deed: SMITH JOHN A > John and Mary Roe, husband and wife",
			"Warranty Deed: John Roe; Mary Roe > The Poe Family Trust; Dan Lee Jr.; Li"}, "SMITH JOHN A > Roe > The Poe Family Trust and 2 others"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := chainOf(t, test.instruments...); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
