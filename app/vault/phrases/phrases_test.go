package phrases_test

import (
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vault/phrases"
	"deedkeep/app/vaulttest"
)

// Placeholders have the values of the instrument as the runsheet has them. Those without a value stay.
func TestFill(t *testing.T) {
	t.Parallel()
	mortgage := model.DocumentType{ID: 7, Name: "Mortgage", Category: model.Security, Encumbrance: true}
	trust := model.DocumentType{ID: 8, Name: "Deed of Trust", Category: model.Security, GranteeLabel: "Beneficiary"}
	i := model.Instrument{Number: "1998-883", BookType: "Deed Book", Book: "1022", Page: "311", Recorded: "1998-03-09", Dated: "1998-03-02",
		Grantors: []string{"Birch, Dana", "Birch, Robin"}, Grantees: []string{"Harlow Savings Bank"}, Consideration: "120000.00",
		OtherParties: []model.Party{{Role: "Trustee", Name: "First Title Co."}}, Parcels: []string{"21-4-117"}, County: "Wexcombe",
		Legal: "Lot {4}"}
	for text, want := range map[string]string{
		"No placeholder.": "No placeholder.",
		"Release of the {type} from {grantor} to {grantee}.": "Release of the Mortgage from Birch, Dana and Birch, Robin to Harlow Savings Bank.",
		"{grantors} / {GRANTEES} / { grantor }":              "Birch, Dana and Birch, Robin / Harlow Savings Bank / Birch, Dana and Birch, Robin",
		"{mortgagor} to {Mortgagee}":                         "Birch, Dana and Birch, Robin to Harlow Savings Bank",
		"Book {book}, Page {page}, {number}":                 "Book 1022, Page 311, 1998-883",
		"{book type} {book}":                                 "Deed Book 1022",
		"{reference}":                                        "Deed Book 1022, Page 311; Inst. 1998-883",
		"{recorded}, {filed}, {dated}":                       "March 9, 1998, March 9, 1998, March 2, 1998",
		"{amount} {consideration}":                           "$120,000.00 $120,000.00",
		"{trustee}, {parcel}, {county}":                      "First Title Co., 21-4-117, Wexcombe",
		"{legal description} {instrument_number}":            "Lot {4} 1998-883", // a value isn't filled in again
		"{court} {case number} {state}":                      "{court} {case number} {state}",
		"{owner's name} {beneficiary} {status}":              "{owner's name} {beneficiary} {status}",
		"{} {" + strings.Repeat("x", 61) + "} {unclosed":     "{} {" + strings.Repeat("x", 61) + "} {unclosed",
	} {
		if got := phrases.Fill(text, i, mortgage); got != want {
			t.Errorf("Fill(%q): got %q, want %q", text, got, want)
		}
	}
	if got := phrases.Fill("{grantor} to {beneficiary}", i, trust); got != "Birch, Dana and Birch, Robin to Harlow Savings Bank" {
		t.Errorf("Fill with the label of the firm: got %q", got)
	}
	if got := phrases.Fill("{amount}", model.Instrument{ConsiderationText: "$10 & OVC"}, mortgage); got != "$10 & OVC" {
		t.Errorf("Fill of a consideration as stated: got %q", got)
	}
	three := model.Instrument{Grantors: []string{"Ann Lee", "Bea Lee", "Cy Lee"}, Grantees: []string{"Lee, Ann", "Lee, Bea", "Lee, Cy"}}
	if got := phrases.Fill("{grantor}, {grantee}", three, mortgage); got != "Ann Lee, Bea Lee, and Cy Lee, Lee, Ann; Lee, Bea; and Lee, Cy" {
		t.Errorf("Fill of three names: got %q", got)
	}
	// A text doesn't become longer than a requirement can be, however often it has a long value.
	long := model.Instrument{Legal: strings.Repeat("x", 60_000)}
	if got := phrases.Fill(strings.Repeat("{legal}", 1000), long, mortgage); len(got) > 65_535 || strings.Count(got, "{legal}") != 1000 {
		t.Errorf("Fill of a long text: got %d characters with %d placeholders, want none filled in", len(got), strings.Count(got, "{legal}"))
	}
	if got := phrases.Fill(strings.Repeat("{legal}", 20), long, mortgage); len(got) > 65_535 || strings.Count(got, "{legal}") != 19 {
		t.Errorf("Fill of a long value: got %d characters with %d placeholders, want 19", len(got), strings.Count(got, "{legal}"))
	}
	if got := phrases.Blanks("{a} and {b} and {a}"); strings.Join(got, " ") != "{a} {b}" {
		t.Errorf("Blanks: got %q, want each once", got)
	}
}

// Phrases are found by their name or by words of their name and text. The placeholders that pages show have a meaning.
func TestFind(t *testing.T) {
	t.Parallel()
	list := []model.Phrase{{Name: "Easement", Text: "Right of way to {grantee}."}, {Name: "Payoff", Text: "Release of mortgage."},
		{Name: "Mortgage release", Text: "Payment in full."}, {Name: "Easement of light", Text: "Light, and air."}}
	for text, want := range map[string]string{"easement": "Easement", " EASEMENT  of Light": "Easement of light",
		"eas":          "Easement|Easement of light",
		"mortgage rel": "Mortgage release|Payoff", "light air": "Easement of light", "grantee": "Easement", "deed": "", " ": "", "ortgage": ""} {
		var names []string
		for _, p := range phrases.Find(list, text) {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("Find(%q): got %s, want %s", text, got, want)
		}
	}
	i := model.Instrument{Number: "1", Book: "2", Page: "3", Recorded: "2020-01-02", Dated: "2020-01-02", Grantors: []string{"A"},
		Grantees: []string{"B"}, Consideration: "1.00", OtherParties: []model.Party{{Role: "Trustee", Name: "C"}, {Role: "Beneficiary", Name: "D"}},
		County: "E", State: "PA", CaseNumber: "4", Court: "F", Parcels: []string{"5"}, Legal: "G", Expires: "2030-01-02"}
	all := strings.Join(phrases.Placeholders(), " ")
	if left := phrases.Blanks(phrases.Fill(all, i, model.DocumentType{Name: "Deed of Trust", GrantorLabel: "Decedent"})); len(left) > 0 {
		t.Errorf("placeholders without a meaning: %q", left)
	}
	for _, p := range model.NewPhrases().List {
		for _, blank := range phrases.Blanks(p.Text) {
			if !strings.Contains(all, blank) {
				t.Errorf("standard phrase %q has %s, which isn't a known placeholder", p.Name, blank)
			}
		}
	}
}

// A new vault has the standard phrases. Only administrators and API keys change them, and a vault of an older version gets
// them on request.
func TestSet(t *testing.T) {
	t.Parallel()
	v := vaulttest.Open(t, vaulttest.Options(t))
	s := phrases.New(v.Vault)
	now, err := s.Get(t.Context())
	if err != nil || len(now.List) != len(model.NewPhrases().List) || now.Version != 1 {
		t.Fatalf("Get: got %+v, %v, want the standard phrases", now, err)
	}
	if _, rejected := model.CheckPhrases(phrases.Input(now.List)); len(rejected) > 0 {
		t.Errorf("the standard phrases are invalid: %v", rejected)
	}
	own := []model.Phrase{{Name: "own", Kind: model.ExceptionKind, Text: "Own."}, {Name: "EASEMENT", Kind: model.ExceptionKind, Text: "Ours."}}
	now, err = s.Set(t.Context(), vaulttest.Operator, phrases.Input(own), vault.MatchVersion(1))
	if err != nil || now.Version != 2 || len(now.List) != 2 {
		t.Fatalf("Set: got %+v, %v", now, err)
	}
	_, err = s.Set(t.Context(), vaulttest.Operator, phrases.Input(nil), vault.MatchVersion(1))
	if errs.KindOf(err) != errs.PreconditionFailed {
		t.Errorf("Set of an older version: got %v, want PreconditionFailed", err)
	}
	with := phrases.WithStandard(now.List)
	if standard := len(model.NewPhrases().List); len(with) != 2+standard-1 || with[1].Text != "Ours." {
		t.Errorf("WithStandard: got %+v, want the own phrases and the missing ones", with)
	}
	if err := v.Store.Update(t.Context(), nil, func(t *store.Tx) error { return t.PutPhrases(model.Phrases{}) }); err != nil {
		t.Fatal(err)
	}
	now, err = s.Set(t.Context(), vaulttest.Operator, phrases.Input(phrases.WithStandard(nil)), vault.MatchVersion(0))
	if err != nil || now.Version != 1 {
		t.Errorf("Set in a vault without phrases: got %+v, %v", now, err)
	}
}
