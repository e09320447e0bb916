package model

import (
	"slices"
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
		f.instrumentType(&i, Inputs{"type": StringInput(name)}, renewed)
		if len(f.Fields) > 0 || i.TypeID != id {
			t.Errorf("type %q: got %d, %+v; want %d", name, i.TypeID, f.Fields, id)
		}
		if found, _ := renewed.Find(name); found.ID != id { // as in pasted rows and runsheet files
			t.Errorf("Find(%q) = %d, want %d", name, found.ID, id)
		}
	}
}

// The history of an instrument calls its parties, its recording date, and its status as its type does.
func TestChangesOfTypes(t *testing.T) {
	types := NewDocumentTypes()
	for _, row := range []struct{ name, want string }{
		{"UCC Financing Statement", "Filed: Jan 2, 2026; Debtor: added Ann; Secured party: added Bank; Status: Open"},
		{"Easement or Right of Way", "Recorded: Jan 2, 2026; Grantor: added Ann; Grantee: added Bank; Status: In effect"},
		{"Mechanic's Lien", "Recorded: Jan 2, 2026; Owner: added Ann; Claimant: added Bank; Status: Open"},
		{"Reconveyance", "Recorded: Jan 2, 2026; Trustee: added Ann; Trustor: added Bank; Status: Open"},
		{"Probate", "Recorded: Jan 2, 2026; Decedent: added Ann; Devisee or heir: added Bank; Status: Open"},
		{"Deed of Trust", "Recorded: Jan 2, 2026; Grantor: added Ann; Trustee or beneficiary: added Bank; Status: Open"},
	} {
		e := Event{Kind: "instrument.created", Changes: Instrument{}.Changes(Instrument{Recorded: "2026-01-02", Status: InstrumentOpen,
			Grantors: []string{"Ann"}, Grantees: []string{"Bank"}})}
		kind, _ := types.ByName(row.name)
		e.Describe(Describer{Type: kind})
		texts := e.Texts()
		slices.SortStableFunc(texts, func(a, b string) int { return strings.Index(row.want, a) - strings.Index(row.want, b) })
		if got := strings.Join(texts, "; "); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// The history of document types names categories and the parties as pages do.
func TestChangesOfPartyLabels(t *testing.T) {
	from, _ := NewDocumentTypes().ByName("Deed of Trust")
	to := from
	to.GrantorLabel, to.Category = "Trustor", Support
	e := Event{Kind: "document_types.changed", Changes: DocumentTypes{from}.Changes(DocumentTypes{to})}
	e.Describe(Describer{})
	want := "Document types, Deed of Trust: Category: Mortgages and Security Instruments → Supporting Documents; " +
		"Label for grantors: (blank) → Trustor"
	if got := strings.Join(e.Texts(), "; "); got != want {
		t.Errorf("text = %s, want %s", got, want)
	}
}

// A firm can call the parties of a type something else. A label that is the usual one isn't stored.
func TestPartyLabels(t *testing.T) {
	current := NewDocumentTypes()
	kind, _ := current.ByName("Deed of Trust")
	changed := kind
	changed.GrantorLabel, changed.GranteeLabel, changed.Category = "Grantor", " Beneficiary ", "mortgages and security instruments"
	now, problems := DocumentTypes{changed}.Check(current)
	if len(problems) > 0 || now[0].GrantorLabel != "" || now[0].GranteeLabel != "Beneficiary" || now[0].Category != Security {
		t.Fatalf("Check = %+v, %v; want the usual label and Beneficiary", now[0], problems)
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

func TestFindType(t *testing.T) {
	types := NewDocumentTypes()
	for text, want := range map[string]string{
		"Warranty Deed": "Warranty Deed", "WARRANTY  deed": "Warranty Deed", "wd": "Warranty Deed", "swd": "Special Warranty Deed", "QCD": "Quitclaim Deed",
		"Open-End Mortgage": "Mortgage", "purchase money mortgage": "Mortgage", "Deed of Distribution": "Fiduciary Deed", "JDG": "Judgment",
		"war": "Warranty Deed", "mort": "Mortgage", "DOT": "Deed of Trust", "sat": "Release or Satisfaction", "rel": "Release or Satisfaction",
		"easement": "Easement or Right of Way", "fed": "Federal Tax Lien", "deed": "Deed", "DEED": "Deed", "tax": "", "lien": "", "m": "", "": "", "par": "", "nothing": "",
	} {
		if got, found := types.Find(text); got.Name != want || found != (want != "") {
			t.Errorf("Find(%q) = %q, %t, want %q", text, got.Name, found, want)
		}
	}
}

// The usual abbreviations of abstractors name a type, or deliberately none: one that can mean several instruments is
// corrected by a person instead. A type that the firm adds is found by its name and its initials.
func TestFindAbbreviation(t *testing.T) {
	types := NewDocumentTypes()
	for want, abbreviations := range map[string]string{
		"Warranty Deed":            "WD|GWD|Gen Warr Deed|War. Deed",
		"Special Warranty Deed":    "LWD|SWD|Ltd Warr Deed|Spec. Warr. Deed",
		"Quitclaim Deed":           "QCD|QC|Q.C.D.|Quit Claim Deed",
		"Sheriff's Deed":           "Shrf Deed|Sheriff Deed|Sher. Deed",
		"Fiduciary Deed":           "Exec Deed|Fid Deed|Fid. Deed|Admin Deed|Exr Deed|Executor's Deed|Grdn Deed",
		"Corrective Deed":          "Corr Deed|Corr. Deed",
		"Deed of Trust":            "DOT|D/T|DT|D.O.T.",
		"Mortgage":                 "MTG|MTGE|Mort|Mtg.",
		"Assignment":               "ASGN|ASGMT|Assgn|Assn Mtg|Asgmt of Mtg",
		"Release or Satisfaction":  "SAT|REL|Satis|Rel of Mtg|Sat. of Mtg|Disch",
		"Partial Release":          "Part Rel|PREL",
		"Reconveyance":             "RECON|Reconv",
		"Modification":             "MOD|Mod. Agmt|Mtg Mod",
		"Subordination":            "SUB|Subord|Sub Agmt",
		financingStatement:         "UCC1|UCC-1|UCC3|UCC 3|UCC",
		"Federal Tax Lien":         "FTL|Fed Tax Lien|NFTL",
		"State Tax Lien":           "STL|St Tax Lien",
		"Mechanic's Lien":          "mech lien|Mech. Lien|Mechs Lien",
		"Judgment":                 "JGMT|Judg|JMT|Jdgmt|Judgement Lien",
		"Lis Pendens":              "LP|Lis Pend|Lis Pen",
		"Affidavit":                "AFF|Affid|Affdvt",
		"Easement or Right of Way": "EASE|Esmt|ROW|R/W|R.O.W.",
		"Power of Attorney":        "POA|P/A",
		"Probate":                  "Cert of Transfer|Certificate of Transfer|Cert. of Transfer",
		"":                         "TD|SD|NOT|TOD|NOC|Notice of Commencement|ML|AFFT",
	} {
		for text := range strings.SplitSeq(abbreviations, "|") {
			if got, found := types.Find(text); got.Name != want || found != (want != "") {
				t.Errorf("Find(%q) = %q, %t, want %q", text, got.Name, found, want)
			}
		}
	}
	types = append(types, DocumentType{ID: 99, Name: "Notice of Commencement", Category: Lien})
	for text, want := range map[string]uint64{"NOC": 99, "Notice of Commencement": 99, "NOT": 0} {
		if got, _ := types.Find(text); got.ID != want {
			t.Errorf("Find(%q) with a type of the firm = %d, want %d", text, got.ID, want)
		}
	}
}
