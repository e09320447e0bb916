package titlecheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
)

// complete is a certificate that lacks nothing.
var complete = model.Certificate{EffectiveDate: "2026-11-20", EffectiveTime: "08:00", SearchFrom: "1966-01-01",
	IndicesSearched: []string{"UCC"}}

// runsheet returns instruments with types by name and derived statuses.
func runsheet(types model.DocumentTypes, list ...model.Instrument) (sheet []titlecheck.Instrument) {
	for n, i := range list {
		t, _ := types.ByID(i.TypeID)
		i.ID = uint64(n + 1)
		ended := slices.ContainsFunc(list, func(other model.Instrument) bool { return other.Ends(i.ID) })
		sheet = append(sheet, titlecheck.Instrument{Instrument: i, Type: t, Status: i.EffectiveStatus(t, ended, "2026-11-27")})
	}
	return sheet
}

// Each check finds what is missing or doesn't fit, and nothing in a search that is complete.
func TestChecks(t *testing.T) {
	t.Parallel()
	types := model.NewDocumentTypes()
	instrument := func(name, from, to string) model.Instrument {
		documentType, ok := types.ByName(name)
		if !ok {
			t.Fatalf("no document type %q", name)
		}
		return model.Instrument{TypeID: documentType.ID, Recorded: "2001-02-03", Book: "9", Page: "7", County: "Wexcombe", State: "PA",
			Grantors: []string{from}, Grantees: []string{to}}
	}
	deed, mortgage, plat := instrument("Warranty Deed", "Ann Lee", "Bo Roe"), instrument("Mortgage", "Bo Roe", "First Bank"),
		instrument("Plat", "", "")
	with := func(i model.Instrument, change func(i *model.Instrument)) model.Instrument { change(&i); return i }
	judgment := with(instrument("Judgment", "", ""), func(i *model.Instrument) { i.Status = model.InstrumentReleased })
	names := func(list ...string) (rows []model.NameRun) {
		for _, name := range list {
			rows = append(rows, model.NameRun{Name: name})
		}
		return rows
	}
	both := names("Lee, Ann", "Roe, Bo")
	bo := model.TitleWork{NamesRun: names("Roe, Bo")}
	for _, row := range []struct {
		name   string
		search titlecheck.Search
		want   []string
	}{
		{"complete", titlecheck.Search{Instruments: runsheet(types, deed), Work: model.TitleWork{NamesRun: both}}, nil},
		{"certificate", titlecheck.Search{Certificate: model.Certificate{}}, []string{
			"effective_date: The certificate has no effective date.", "effective_time: The certificate has no effective time.",
			"search_from: The certificate doesn't say when the search period starts.",
			"indices_searched: The certificate lists no indices."}},
		{"recorded after the effective date and time", titlecheck.Search{Work: model.TitleWork{NamesRun: both}, Instruments: runsheet(types,
			with(deed, func(i *model.Instrument) { i.Recorded = "2026-11-21" }),
			with(deed, func(i *model.Instrument) { i.Recorded, i.RecordedTime = "2026-11-20", "08:01" }),
			with(deed, func(i *model.Instrument) { i.Recorded, i.RecordedTime = "2026-11-20", "08:00" }))},
			[]string{"recorded_later:1: Warranty Deed · Book 9, Page 7 · Ann Lee to Bo Roe was recorded on Nov 21, 2026, after the effective date and time.",
				"recorded_later:2: Warranty Deed · Book 9, Page 7 · Ann Lee to Bo Roe was recorded on Nov 20, 2026, after the effective date and time."}},
		{"dated after it was recorded", titlecheck.Search{Work: model.TitleWork{NamesRun: both}, Instruments: runsheet(types,
			with(deed, func(i *model.Instrument) { i.Dated = "2001-02-04" }), with(deed, func(i *model.Instrument) { i.Dated = "2001-02-03" }))},
			[]string{"dated_later:1: Warranty Deed · Book 9, Page 7 · Ann Lee to Bo Roe is dated Feb 4, 2001, after it was recorded on Feb 3, 2001."}},
		{"filed", titlecheck.Search{Instruments: runsheet(types,
			with(judgment, func(i *model.Instrument) { i.Recorded = "2026-11-21" }),
			with(judgment, func(i *model.Instrument) { i.Dated = "2001-02-04" }),
			with(judgment, func(i *model.Instrument) { i.Recorded = "" }))}, []string{
			"recorded_later:1: Judgment · Book 9, Page 7 was filed on Nov 21, 2026, after the effective date and time.",
			"dated_later:2: Judgment · Book 9, Page 7 is dated Feb 4, 2001, after it was filed on Feb 3, 2001.",
			"not_recorded:3: Judgment · Book 9, Page 7 has no filing date."}},
		{"gap", titlecheck.Search{Instruments: runsheet(types, deed, instrument("Quitclaim Deed", "John Farmer", "Bo Roe")),
			Work: model.TitleWork{NamesRun: append(both, names("Farmer, John")...)}},
			[]string{"gap:1:John Farmer: No earlier instrument in this runsheet names John Farmer as grantee."}},
		{"open lien", titlecheck.Search{Work: bo, Instruments: runsheet(types, mortgage)},
			[]string{"open_lien:1: Mortgage · Book 9, Page 7 · Bo Roe to First Bank shows as open in this runsheet, " +
				"and no requirement refers to it."}},
		{"open lien with a requirement", titlecheck.Search{Work: bo, Instruments: runsheet(types, mortgage),
			Requirements: []model.RequirementRow{{Kind: model.RequirementKind, InstrumentID: 1}}}, nil},
		{"open lien with an exception", titlecheck.Search{Work: bo, Instruments: runsheet(types, mortgage),
			Requirements: []model.RequirementRow{{Kind: model.ExceptionKind, InstrumentID: 1}}},
			[]string{"open_lien:1: Mortgage · Book 9, Page 7 · Bo Roe to First Bank shows as open in this runsheet, " +
				"and no requirement refers to it."}},
		{"released lien and easement", titlecheck.Search{Instruments: runsheet(types, mortgage,
			with(instrument("Release or Satisfaction", "", ""), func(i *model.Instrument) { i.Relations = []model.Relation{{Kind: model.Releases, InstrumentID: 1}} }),
			instrument("Easement or Right of Way", "Bo Roe", "Power Co"))}, nil},
		{"name not run", titlecheck.Search{
			Instruments: runsheet(types, deed, instrument("Sheriff's or Tax Deed", "Sheriff of Wexcombe", "Bo Roe")),
			Work:        model.TitleWork{NamesRun: names("Lee, Ann")}},
			[]string{"name_not_run:Bo Roe: Bo Roe is in the chain, but not in the names run."}},
		{"a bring-down of a void certificate", titlecheck.Search{Prior: model.TitleWork{Certificates: []model.Certificate{
			{EffectiveDate: complete.SearchFrom, Voided: &model.Voided{}}}}},
			[]string{"prior_search: This search starts on " + model.FormatDate(complete.SearchFrom) +
				", the effective date of the prior search's certificate. That certificate is void."}},
		{"a bring-down of a search that was certified again", titlecheck.Search{Prior: model.TitleWork{
			Certificates: []model.Certificate{{EffectiveDate: complete.SearchFrom, Voided: &model.Voided{}},
				{EffectiveDate: complete.SearchFrom}}}}, nil},
		{"one of two names run", titlecheck.Search{
			Instruments: runsheet(types, instrument("Warranty Deed", "Ann Lee", "Bo Roe and Eve Roe, husband and wife")),
			Work:        model.TitleWork{NamesRun: both}},
			[]string{"name_not_run:Eve Roe: Eve Roe is in the chain, but not in the names run."}},
		{"one of two names run, the other without a first name", titlecheck.Search{
			Instruments: runsheet(types, instrument("Warranty Deed", "Ann Lee", "Bo and Eve Roe")),
			Work:        model.TitleWork{NamesRun: both}},
			[]string{"name_not_run:Bo and Eve Roe: Bo and Eve Roe is in the chain, but not in the names run."}},
		{"two names run", titlecheck.Search{
			Instruments: runsheet(types, instrument("Warranty Deed", "Ann Lee", "Bo & Eve Roe, as joint tenants")),
			Work:        model.TitleWork{NamesRun: append(both, names("Eve Roe")...)}}, nil},
		{"one of two grantees owns", titlecheck.Search{Abstract: owned("Bo Roe"),
			Work:        model.TitleWork{NamesRun: append(both, names("Eve Roe")...)},
			Instruments: runsheet(types, instrument("Warranty Deed", "Ann Lee", "Bo Roe and Eve Roe"))},
			[]string{"last_grantee: The last conveyance in this runsheet names Bo Roe and Eve Roe as grantee. " +
				"The abstract names Bo Roe as current owner."}},
		{"name to run again", titlecheck.Search{Instruments: runsheet(types, deed),
			Work: model.TitleWork{NamesRun: append(names("Lee, Ann"), model.NameRun{Name: "Roe, Bo", Pending: true})}},
			[]string{"name_not_run:Bo Roe: Bo Roe hasn't been run again since the prior search."}},
		{"name of an initial", titlecheck.Search{Instruments: runsheet(types, instrument("Warranty Deed", "Lee, Ann B.", "Bo Roe et ux")),
			Work: model.TitleWork{NamesRun: both}}, nil},
		{"status", titlecheck.Search{Work: bo, Requirements: []model.RequirementRow{{Kind: model.RequirementKind, InstrumentID: 1}},
			Instruments: runsheet(types, with(mortgage, func(i *model.Instrument) { i.Status, i.Expires = model.InstrumentOpen, "2020-01-02" }),
				with(instrument("Release or Satisfaction", "First Bank", "Bo Roe"), func(i *model.Instrument) {
					i.Relations = []model.Relation{{Kind: model.Releases, InstrumentID: 1}}
				}))}, []string{
			"status:1:ended: Mortgage · Book 9, Page 7 · Bo Roe to First Bank is marked as open, but " +
				"Release or Satisfaction · Book 9, Page 7 · First Bank to Bo Roe releases or terminates it.",
			"status:1:expired: Mortgage · Book 9, Page 7 · Bo Roe to First Bank is marked as open, but its " +
				"expiration date was Jan 2, 2020."}},
		{"other county", titlecheck.Search{
			Abstract:    model.Abstract{Property: model.Property{County: "Wexcombe County", State: "Pennsylvania"}},
			Instruments: runsheet(types, plat, with(plat, func(i *model.Instrument) { i.County = "Albany" }))},
			[]string{"other_place:2:county: Plat · Book 9, Page 7 names Albany County; the abstract is for Wexcombe County. " +
				"Check the state: PA."}},
		{"other parcel", titlecheck.Search{Abstract: model.Abstract{TaxMap: "12-34"}, Instruments: runsheet(types,
			with(plat, func(i *model.Instrument) { i.Parcels = []string{"1234", "99"} }),
			with(plat, func(i *model.Instrument) { i.Parcels = []string{"99-1", "99-2"} }))},
			[]string{"other_place:2:parcels: Plat · Book 9, Page 7 names parcel 99-1, 99-2; the abstract is for parcel 12-34."}},
		{"not recorded", titlecheck.Search{Instruments: runsheet(types,
			with(plat, func(i *model.Instrument) { i.Page = "" }),
			with(plat, func(i *model.Instrument) { i.Recorded, i.Book, i.Number = "", "", "2001-7" }),
			with(instrument("Affidavit", "", ""), func(i *model.Instrument) { i.Recorded, i.Book = "", "" }))}, []string{
			"not_recorded:1: Plat · Book 9 has no book and page or number.", "not_recorded:2: Plat · Page 7; Inst. 2001-7 has no recording date."}},
		{"last grantee", titlecheck.Search{Abstract: owned("Ann Lee"), Instruments: runsheet(types, deed),
			Work: model.TitleWork{NamesRun: both}},
			[]string{"last_grantee: The last conveyance in this runsheet names Bo Roe as grantee. The abstract names Ann Lee as current owner."}},
		{"last grantees", titlecheck.Search{Abstract: owned("Bo and Eve Roe"), Work: model.TitleWork{NamesRun: append(both, names("Eve Roe")...)},
			Instruments: runsheet(types, with(deed, func(i *model.Instrument) { i.Grantees = []string{"Roe, Bo", "Roe, Eve"} }))}, nil},
		{"last grantees, one owner", titlecheck.Search{Abstract: owned("Bo Roe"),
			Work:        model.TitleWork{NamesRun: append(both, names("Eve Roe")...)},
			Instruments: runsheet(types, with(deed, func(i *model.Instrument) { i.Grantees = []string{"Roe, Bo", "Roe, Eve"} }))},
			[]string{"last_grantee: The last conveyance in this runsheet names Roe, Bo; Roe, Eve as grantee. " +
				"The abstract names Bo Roe as current owner."}},
		{"last conveyance without grantee", titlecheck.Search{Abstract: owned("Ann Lee"), Work: model.TitleWork{NamesRun: both},
			Instruments: runsheet(types, deed, with(deed, func(i *model.Instrument) { i.Grantors, i.Grantees = []string{"Bo Roe"}, nil }))},
			[]string{"party:2:grantees: Warranty Deed · Book 9, Page 7 · Bo Roe has no grantee."}},
		{"release of nothing", titlecheck.Search{Instruments: runsheet(types, instrument("Release or Satisfaction", "First Bank", "Bo Roe"),
			with(instrument("Reconveyance", "A", "B"), func(i *model.Instrument) {
				i.Relations = []model.Relation{{Kind: model.Releases, Text: "Bk 1 Pg 2"}}
			}))},
			[]string{"release:1: Release or Satisfaction · Book 9, Page 7 · First Bank to Bo Roe isn't linked to " +
				"the instrument that it releases."}},
		{"assignment of nothing", titlecheck.Search{Instruments: runsheet(types, instrument("Assignment", "First Bank", "Second Bank"),
			with(instrument("Assignment", "A", "B"), func(i *model.Instrument) {
				i.Relations = []model.Relation{{Kind: "assigns", Text: "Bk 1 Pg 2"}}
			}))},
			[]string{"assignment:1: Assignment · Book 9, Page 7 · First Bank to Second Bank isn't linked to the instrument that it assigns."}},
		{"owner, borrower, and mortgagor not run", titlecheck.Search{Instruments: runsheet(types, with(mortgage,
			func(i *model.Instrument) { i.Grantors = []string{"Bo Roe", "Eve Roe"} })), Abstract: model.Abstract{Custom: model.CustomValues{
			"current_owner": []byte(`"Bo Roe"`), "borrower": []byte(`"Nora Quill"`)}},
			Requirements: []model.RequirementRow{{Kind: model.RequirementKind, InstrumentID: 1}}},
			[]string{"name_not_run:Bo Roe: Bo Roe is the current owner, but not in the names run.",
				"name_not_run:Nora Quill: Nora Quill is the borrower, but not in the names run.",
				"name_not_run:Eve Roe: Eve Roe is named in an open lien, but not in the names run."}},
		{"heir", titlecheck.Search{Abstract: owned("Eve Roe"), Instruments: runsheet(types, deed, instrument("Probate", "Bo Roe", "Eve Roe")),
			Work: model.TitleWork{NamesRun: append(both, names("Eve Roe")...)}}, nil},
		{"documents", titlecheck.Search{Work: model.TitleWork{NamesRun: both, Certificates: []model.Certificate{{FileID: 5}}},
			Instruments: runsheet(types, with(deed, func(i *model.Instrument) { i.Documents = []model.DocumentLink{{FileID: 1}} })),
			Documents: []titlecheck.Document{
				{File: model.File{ID: 1, Filename: "1.pdf"}, Opened: true, Unread: 2},
				{File: model.File{ID: 2, Filename: "2.pdf"}, Unread: 1},
				{File: model.File{ID: 3, Filename: "Death Certificate.pdf"}, Opened: true},
				{File: model.File{ID: 4, Filename: "Starter_12 Elm St.pdf"}, Opened: true},
				{File: model.File{ID: 5, Filename: "Runsheet certified.xlsx"}, Unread: 1}}}, []string{
			"document_without_instrument:2: 2.pdf isn't linked to an instrument on the runsheet.",
			"document_not_opened:2: No one has opened 2.pdf.",
			"text_not_read:1: The server hasn't read the text of 2 pages of 1.pdf.",
			"text_not_read:2: The server hasn't read the text of 1 page of 2.pdf."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.search.Types, row.search.Today = types, "2026-11-27"
			if row.name != "certificate" {
				row.search.Certificate = complete
			}
			var got []string
			for _, f := range titlecheck.Run(&row.search) {
				got = append(got, f.ID+": "+f.Text)
				if f.Advice == "" || titlecheck.Title(f.Check) == "" || f.Place == "" {
					t.Errorf("finding %+v lacks an advice, a title, or a place", f)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("Run() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// owned returns an abstract with a current owner.
func owned(name string) model.Abstract {
	return model.Abstract{Custom: model.CustomValues{"current_owner": fmt.Appendf(nil, "%q", name)}}
}

// A check with many findings lists the first ones. A row for the check accepts all of them.
func TestAccepted(t *testing.T) {
	t.Parallel()
	s := titlecheck.Search{Certificate: complete, Types: model.NewDocumentTypes()}
	for n := range 150 {
		s.Documents = append(s.Documents, titlecheck.Document{File: model.File{ID: uint64(n + 1), Filename: "Affidavit.pdf"}})
	}
	findings := titlecheck.Run(&s)
	if len(findings) != 101 || findings[100].Text != "50 more findings of this type." {
		t.Fatalf("got %d findings, the last one %+v; want 101 with the number of others", len(findings), findings[len(findings)-1])
	}
	one := []model.AcceptedCheck{{Check: findings[0].ID}, {Check: "gap"}}
	if left := titlecheck.Unaccepted(findings, one); len(left) != 100 || left[0].ID != findings[1].ID {
		t.Errorf("got %d unaccepted findings, want all but the first", len(left))
	}
	if left := titlecheck.Unaccepted(findings, []model.AcceptedCheck{{Check: "document_not_opened"}}); len(left) != 0 {
		t.Errorf("got %d unaccepted findings, want none", len(left))
	}
	before := []model.AcceptedCheck{{Check: "document_not_opened:99", Text: findings[0].Text, Reason: "old"}}
	if a, ok := titlecheck.Proposal(findings[0], before); !ok || a.Reason != "old" {
		t.Errorf("Proposal() = %+v, %t, want the one with the same text", a, ok)
	}
	before[0].Text = "No one has opened another.pdf."
	if _, ok := titlecheck.Proposal(findings[0], before); ok {
		t.Error("Proposal() of a finding with another text, want none")
	}
}
