package model

import (
	"strings"
	"testing"
)

// Types of earlier versions get their current names unless the firm edited them. Input still accepts the
// old names.
func TestRenewDocumentTypes(t *testing.T) {
	old := DocumentTypes{{ID: 1, Name: "Warranty Deed", Category: Conveyance}, {ID: 5, Name: "Sheriff's or Tax Deed", Category: Conveyance},
		{ID: 9, Name: "UCC", Category: Security, Encumbrance: true}, {ID: 12, Name: "Timber Deed", Category: Conveyance}}
	renewed := old.Renew()
	var got []string
	for _, kind := range renewed {
		name := kind.Name
		if kind.Retired {
			name += " (retired)"
		}
		got = append(got, name)
	}
	want := "Warranty Deed, Sheriff's or Tax Deed (retired), Sheriff's Deed, Tax Deed, UCC Financing Statement, Timber Deed"
	if strings.Join(got, ", ") != want || renewed[2].ID != 13 || renewed[3].ID != 14 || renewed[4].ID != 9 || old[2].Name != "UCC" {
		t.Errorf("Renew = %+v, want %s with IDs 13 and 14", renewed, want)
	}
	if again := renewed.Renew(); len(again) != len(renewed) {
		t.Errorf("Renew again = %+v, want no change", again)
	}
	edited := DocumentTypes{{ID: 5, Name: "Sheriff's or Tax Deed", Category: Court, Retired: true}, {ID: 9, Name: "UCC-1", Category: Security}}
	if now := edited.Renew(); len(now) != 2 || now[1].Name != "UCC-1" {
		t.Errorf("Renew of edited types = %+v, want no change", now)
	}
	for name, id := range map[string]uint64{"ucc": 9, "UCC  Financing Statement": 9, "Sheriff's or Tax Deed": 5, "sheriff's deed": 13} {
		var f validation
		var i Instrument
		InstrumentInput{"type": encodeJSON(name)}.checkType(&f, &i, renewed)
		if len(f.Fields) > 0 || i.TypeID != id {
			t.Errorf("type %q: got %d, %+v; want %d", name, i.TypeID, f.Fields, id)
		}
	}
}

// A firm can call the parties of a type something else. A label that is the usual one isn't stored.
func TestPartyLabels(t *testing.T) {
	current := NewDocumentTypes()
	kind, _ := current.ByName("Deed of Trust")
	changed := kind
	changed.GrantorLabel, changed.GranteeLabel, changed.Category = "Grantor", " Beneficiary ", "mortgages and security instruments"
	now, problems := DocumentTypes{changed}.Check(current)
	if len(problems) > 0 || now[0].GrantorLabel != "Grantor" || now[0].GranteeLabel != "" || now[0].Category != Security {
		t.Fatalf("Check = %+v, %v; want Grantor and the usual label", now[0], problems)
	}
	if got := now[0].PartyLabels(); got != "Grantor / Beneficiary" {
		t.Errorf("PartyLabels = %s, want Grantor / Beneficiary", got)
	}
	changed.GranteeLabel = strings.Repeat("x", maxPartyLabel+1)
	if _, problems := (DocumentTypes{changed}).Check(current); len(problems) != 1 || problems[0].Field != "types.0.grantee_label" {
		t.Errorf("Check of a long label: got %+v, want a problem with it", problems)
	}
	for name, want := range map[string]string{"Judgment": "Filed", "UCC Financing Statement": "Filed", "Lis Pendens": "Filed", "Mortgage": "Recorded"} {
		if kind, _ := current.ByName(name); kind.RecordedLabel() != want {
			t.Errorf("RecordedLabel of %s = %s, want %s", name, kind.RecordedLabel(), want)
		}
	}
	judgment, _ := current.ByName("Judgment")
	if got := judgment.StatusText(InstrumentReleased); got != "Released or satisfied" {
		t.Errorf("status of a judgment = %s, want Released or satisfied", got)
	}
}
