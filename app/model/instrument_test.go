package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// checkInstrument applies a JSON object to an instrument in a vault with two documents, of 5
// pages and without a page count, and the instruments 1 and 2, of which 2 releases 1.
func checkInstrument(t *testing.T, old Instrument, body string) (Instrument, []string) {
	t.Helper()
	var in Inputs
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatalf("body %s: %v", body, err)
	}
	five := 5
	others := map[uint64]Instrument{1: {ID: 1}, 2: {ID: 2, Relations: []Relation{{Kind: Releases, InstrumentID: 1}}}}
	i, rejected := CheckInstrument(in, old, InstrumentContext{
		Types: NewDocumentTypes(),
		File: func(id uint64) (*int, bool) {
			return map[uint64]*int{10: &five}[id], id == 10 || id == 11
		},
		Instrument: func(id uint64) (Instrument, bool) { i, ok := others[id]; return i, ok },
		Actor:      Actor{Kind: ActorUser, ID: 4, Name: "Kim"},
	})
	var sentences []string
	for _, field := range rejected {
		for _, sentence := range field.Sentences() {
			sentences = append(sentences, field.Field+": "+sentence)
		}
	}
	return i, sentences
}

func TestInstrumentInput(t *testing.T) {
	i, rejected := checkInstrument(t, Instrument{AbstractID: 7, Remarks: "as before"},
		`{"type": "warranty  deed", "instrument_number": 201904170093382,
		"book_type": "Deed Book", "book": 2417, "page": "0883", "page_to": "0885", "dated": "2019-04-15", "recorded": "2019-04-17",
		"recorded_time": "2:42 PM", "grantors": ["Smith, John", " ", "Smith, Ann"], "grantees": "Jones, Bea",
		"other_parties": [{"role": "Trustee", "name": "Ned Cole"}], "consideration": "$387,500", "parcels": ["47-0312"],
		"status": "open", "relations": [{"kind": "references", "text": "Bk 1 Pg 2"}], "documents": [{"file_id": 10, "pages": "3 - 5"}, {"file_id": "11"}]}`)
	if len(rejected) > 0 {
		t.Fatalf("Check rejected %q, want nothing", rejected)
	}
	kind, _ := NewDocumentTypes().ByID(i.TypeID)
	for field, pair := range map[string][2]string{
		"type": {kind.Name, "Warranty Deed"}, "number": {i.Number, "201904170093382"}, "book": {i.Book, "2417"}, "page": {i.Page, "0883"},
		"recorded_time": {i.RecordedTime, "14:42"}, "grantors": {strings.Join(i.Grantors, "|"), "Smith, John|Smith, Ann"},
		"grantees": {strings.Join(i.Grantees, "|"), "Jones, Bea"}, "consideration": {i.Consideration, "387500.00"},
		"pages": {i.Documents[0].Pages, "3-5"}, "remarks": {i.Remarks, "as before"}, "set by": {i.StatusSetBy.Name, "Kim"},
		"reference": {i.RecordingReference(), "Deed Book 2417, Page 0883–0885; Inst. 201904170093382"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s = %q, want %q", field, pair[0], pair[1])
		}
	}
	cleared, _ := checkInstrument(t, i, `{"status": null, "grantees": [], "type_id": null, "documents": null}`)
	if cleared.Status != "" || cleared.StatusSetBy != nil || cleared.Grantees != nil || cleared.TypeID != 0 || cleared.Documents != nil {
		t.Errorf("null left %+v, want empty fields", cleared)
	}
	worded, rejected := checkInstrument(t, i, `{"consideration_text": " $10 & OVC "}`)
	if worded.ConsiderationText != "$10 & OVC" || worded.Consideration != "387500.00" || len(rejected) > 0 || len(i.Changes(worded)) != 1 {
		t.Errorf("text of the consideration = %q of %q, rejected %v, changes %v, want the text beside the amount, and one change",
			worded.ConsiderationText, worded.Consideration, rejected, i.Changes(worded))
	}
	if changes := i.Changes(cleared); len(changes) != 5 { // two documents
		t.Errorf("%d changes, want 5: %+v", len(changes), changes)
	}
}

func TestInvalidInstrumentInput(t *testing.T) {
	for _, row := range []struct{ name, body, want string }{
		{"unknown type", `{"type": "Deed of Gift"}`, "type: The selected type is invalid."},
		{"unknown type id", `{"type_id": 999}`, "type_id: The selected type id is invalid."},
		{"type id is text", `{"type_id": "first"}`, "type_id: The type id field must be an integer."},
		{"impossible date", `{"recorded": "2026-02-30"}`, "recorded: The recorded field must match the format Y-m-d."},
		{"time", `{"recorded_time": "25:00"}`, "recorded_time: The recorded time field must be a time such as 14:05."},
		{"time on the 12-hour clock", `{"recorded_time": "13:00 PM"}`, "recorded_time: The recorded time field must be a time such as 14:05."},
		{"long consideration", `{"consideration_text": "` + strings.Repeat("x", 201) + `"}`,
			"consideration_text: The consideration text field must not be greater than 200 characters."},
		{"amount", `{"consideration": "ten dollars"}`, "consideration: The consideration field must be an amount of money."},
		{"status", `{"status": "paid"}`, "status: The selected status is invalid."},
		{"long number", `{"instrument_number": "` + strings.Repeat("9", 65) + `"}`,
			"instrument_number: The instrument number field must not be greater than 64 characters."},
		{"too many names", `{"grantors": [` + strings.Repeat(`"A",`, 50) + `"A"]}`,
			"grantors: The grantors field must not have more than 50 items."},
		{"name is an object", `{"grantors": [{"name": "A"}]}`, "grantors: The grantors field must be a string."},
		{"party is a string", `{"other_parties": ["Ned"]}`, "other_parties.0: Each item of the other parties field must be an object."},
		{"party without a name", `{"other_parties": [{"role": "Trustee"}]}`, "other_parties.0.name: The name field is required."},
		{"pages that don't parse", `{"documents": [{"file_id": 10, "pages": "three"}]}`,
			"documents.0.pages: The pages field must be a page or a range of pages, such as 3-7."},
		{"pages backward", `{"documents": [{"file_id": 10, "pages": "5-3"}]}`,
			"documents.0.pages: The pages field must be a page or a range of pages, such as 3-7."},
		{"pages too high", `{"documents": [{"file_id": 10, "pages": "4-6"}]}`,
			"documents.0.pages: The pages field must not be above the document's last page, 5."},
		{"pages without a page count", `{"documents": [{"file_id": 11, "pages": "1"}]}`,
			"documents.0.pages: The pages field must be empty because the document has no page count."},
		{"another abstract's document", `{"documents": [{"file_id": 12}]}`, "documents.0.file_id: The selected file id is invalid."},
		{"unknown relation", `{"relations": [{"kind": "cancels", "instrument_id": 1}]}`, "relations.0.kind: The selected kind is invalid."},
		{"relation to itself", `{"relations": [{"kind": "releases", "instrument_id": 3}]}`,
			"relations.0.instrument_id: The instrument id field can't refer to the same instrument."},
		{"relation to nothing", `{"relations": [{"kind": "releases"}]}`,
			"relations.0.instrument_id: The instrument id field must have an instrument id or text."},
		{"relation to an unknown instrument", `{"relations": [{"kind": "releases", "instrument_id": 8}]}`,
			"relations.0.instrument_id: The selected instrument id is invalid."},
		{"last page without the first", `{"page_to": "12"}`, "page_to: The page to field must not be set without a page."},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, got := checkInstrument(t, Instrument{ID: 3, AbstractID: 7}, row.body)
			if !slices.Equal(got, []string{row.want}) {
				t.Errorf("Check = %q, want %q", got, row.want)
			}
		})
	}
	_, got := checkInstrument(t, Instrument{ID: 1}, `{"relations": [{"kind": "terminates", "instrument_id": 2}]}`)
	if want := "relations.0.instrument_id: The instrument id field must not be an instrument that releases this one."; !slices.Equal(got,
		[]string{want}) {
		t.Errorf("a cycle of releases: Check = %q, want %q", got, want)
	}
}

func TestEffectiveStatus(t *testing.T) {
	types := NewDocumentTypes()
	mortgage, _ := types.ByName("Mortgage")
	deed, _ := types.ByName("Warranty Deed")
	for _, row := range []struct {
		name  string
		i     Instrument
		t     DocumentType
		ended bool
		want  string
	}{
		{"deed", Instrument{}, deed, false, NotApplicable},
		{"mortgage", Instrument{}, mortgage, false, InstrumentOpen},
		{"released mortgage", Instrument{Expires: "2020-01-01"}, mortgage, true, InstrumentReleased},
		{"lapsed", Instrument{Expires: "2025-12-31"}, mortgage, false, InstrumentExpired},
		{"lapses today", Instrument{Expires: "2026-01-01"}, mortgage, false, InstrumentOpen},
		{"set by a person", Instrument{Status: InstrumentOpen}, mortgage, true, InstrumentOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.i.EffectiveStatus(row.t, row.ended, "2026-01-01"); got != row.want {
				t.Errorf("EffectiveStatus = %q, want %q", got, row.want)
			}
		})
	}
}

func TestDocumentTypesCheck(t *testing.T) {
	current := DocumentTypes{{ID: 1, Name: "Deed", Category: Conveyance}, {ID: 2, Name: "Mortgage", Category: Security, Encumbrance: true}}
	got, rejected := DocumentTypes{{Name: "mortgage", Category: Security}, {Name: "Land Contract", Category: Conveyance}}.Check(current)
	if len(rejected) > 0 {
		t.Fatalf("Check rejected %v, want nothing", rejected)
	}
	want := DocumentTypes{{ID: 2, Name: "mortgage", Category: Security}, {ID: 3, Name: "Land Contract", Category: Conveyance},
		{ID: 1, Name: "Deed", Category: Conveyance, Retired: true}}
	if !slices.Equal(got, want) {
		t.Errorf("Check = %+v, want %+v", got, want)
	}
	for _, row := range []struct {
		name string
		list DocumentTypes
	}{
		{"no name", DocumentTypes{{Category: Lien}}},
		{"unknown category", DocumentTypes{{Name: "Deed", Category: "Deeds"}}},
		{"the same name twice", DocumentTypes{{Name: "Deed", Category: Conveyance}, {Name: "DEED", Category: Conveyance}}},
		{"unknown ID", DocumentTypes{{ID: 9, Name: "Deed", Category: Conveyance}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, rejected := row.list.Check(current); len(rejected) == 0 {
				t.Error("Check accepted it, want an error")
			}
		})
	}
}

// The check for cycles reads each instrument about once, however many relations lead to it.
func TestCycleCheckReadsOnce(t *testing.T) {
	const layers, width = 20, 50
	others := map[uint64]Instrument{}
	relations := func(layer int) (list []Relation) {
		for n := range width {
			list = append(list, Relation{Kind: Releases, InstrumentID: uint64(layer*width + n + 1)})
		}
		return list
	}
	for id := range uint64(layers * width) {
		others[id+1] = Instrument{ID: id + 1}
		if layer := int(id) / width; layer > 0 {
			others[id+1] = Instrument{ID: id + 1, Relations: relations(layer - 1)}
		}
	}
	reads := 0
	_, rejected := CheckInstrument(Inputs{"relations": RowsInput(relations(layers - 1))}, Instrument{ID: 5000}, InstrumentContext{
		Types: NewDocumentTypes(), Instrument: func(id uint64) (Instrument, bool) { reads++; i, ok := others[id]; return i, ok }})
	if want := layers*width + width; len(rejected) > 0 || reads > want {
		t.Errorf("Check read %d instruments and rejected %v, want at most %d reads", reads, rejected, want)
	}
}

// The first party of each type is labeled, and counts as owner, by the type.
func TestSplitParties(t *testing.T) {
	t.Parallel()
	types := NewDocumentTypes()
	for _, row := range []struct{ name, labels, owners string }{
		{"", "Grantor, Grantee", "b, a"},
		{"Warranty Deed", "Grantor, Grantee", "b, a"},
		{"Mortgage", "Mortgagor, Mortgagee", "a"},
		{"Deed of Trust", "Grantor, Trustee or beneficiary", "a"},
		{"Assignment", "Assignor, Assignee", ""},
		{"Assignment of Rents", "Assignor, Assignee", "a"},
		{"Modification", "Borrower, Lender", "a"},
		{"Subordination", "Grantor, Grantee", ""},
		{"UCC", "Debtor, Secured party", "a"},
		{"Release or Satisfaction", "Grantor, Grantee", "b"},
		{"Judgment", "Defendant, Plaintiff", "a"},
		{"HOA Lien", "Owner, Claimant", "a"},
		{"Federal Tax Lien", "Taxpayer, Taxing authority", "a"},
		{"State Tax Lien", "Taxpayer, Taxing authority", "a"},
		{"Tax Bill", "Owner, Taxing authority", "a"},
		{"Bankruptcy", "Debtor, Trustee", "a"},
		{"Name Change", "Former name, New name", "b, a"},
		{"Affidavit", "Affiant, Grantee", "b, a"},
		{"Death Certificate", "Decedent, Survivor or heir", "b, a"},
		{"Reconveyance", "Trustee, Trustor", "b"},
		{"Divorce", "Defendant, Plaintiff", "b, a"},
		{"Oil and Gas Lease", "Lessor, Lessee", "a"},
		{"Easement or Right of Way", "Grantor, Grantee", "a"},
		{"Probate", "Decedent, Devisee or heir", "b, a"},
		{"Power of Attorney", "Principal, Attorney-in-fact", "a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			documentType, _ := types.ByName(row.name)
			grantor, grantee := documentType.Parties()
			if got := grantor.Label + ", " + grantee.Label; got != row.labels {
				t.Errorf("Parties() = %s, want %s", got, row.labels)
			}
			owners, others := documentType.SplitParties([]string{"a"}, []string{"b"})
			if got := strings.Join(owners, ", "); got != row.owners || len(owners)+len(others) != 2 {
				t.Errorf("SplitParties() = %q, %q; want owners %s", owners, others, row.owners)
			}
		})
	}
}

func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"8 am": "08:00", "8:00am": "08:00", "0800": "08:00", "12 p.m.": "12:00", "2PM": "14:00",
		"14:05": "14:05", "2460": "", "8": "", "13 pm": "", "800": ""} {
		i, rejected := CheckInstrument(Inputs{"recorded_time": StringInput(text)}, Instrument{}, InstrumentContext{})
		if i.RecordedTime != want || (len(rejected) == 0) != (want != "") {
			t.Errorf("time %q: got %q, %v, want %q", text, i.RecordedTime, rejected, want)
		}
	}
}

func TestPacketPages(t *testing.T) {
	for _, tt := range []struct {
		name, typed         string
		start, shown, count int
		another             bool
		want                string
	}{
		{"to the page that is shown", "", 3, 5, 9, true, "3-5"},
		{"the first page is only where it starts", "3", 3, 5, 9, true, "3-5"},
		{"the last instrument", "", 3, 5, 9, false, "3"},
		{"an earlier page is shown", "", 3, 1, 9, true, "3"},
		{"typed pages stay", "3-4", 3, 5, 9, true, "3-4"},
		{"a single page", "", 1, 1, 1, true, ""},
	} {
		if got := PacketPages(tt.typed, tt.start, tt.shown, tt.count, tt.another); got != tt.want {
			t.Errorf("%s: PacketPages() = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The usual relation follows the category and, for a renamed type, the beginning of its name.
func TestUsualRelation(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		DocumentType
		want string
	}{
		{DocumentType{Name: "Assignment"}, "assigns"},
		{DocumentType{Name: "Assignment of Mortgage"}, "assigns"},
		{DocumentType{Name: "Assignment of Rents", Encumbrance: true}, ""},
		{DocumentType{Name: "Modification"}, "modifies"},
		{DocumentType{Name: "Satisfaction", Category: Release}, Releases},
		{DocumentType{Name: "Partial Release", Category: Release}, "partially_releases"},
		{DocumentType{Name: "Warranty Deed", Category: Conveyance}, ""},
	} {
		if got := row.UsualRelation(); got != row.want {
			t.Errorf("usual relation of %q = %q, want %q", row.Name, got, row.want)
		}
	}
}
