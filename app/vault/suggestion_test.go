package vault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// newInstrument returns the input for an instrument, which is JSON.
func newInstrument(t *testing.T, row int, text string, relations ...vault.RowRelation) vault.NewInstrument {
	t.Helper()
	var in model.Inputs
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return vault.NewInstrument{InstrumentPatch: vault.InstrumentPatch{Input: in}, Row: row, Relations: relations}
}

// books returns the books of the runsheet of an abstract, in sequence.
func books(t *testing.T, v *instance.Instance, abstract uint64) (list []string) {
	t.Helper()
	sheet, err := v.Instruments.Runsheet(t.Context(), abstract)
	if err != nil {
		t.Fatalf("Runsheet: %v", err)
	}
	for _, i := range sheet.Instruments {
		list = append(list, i.Book)
	}
	return list
}

// createMany records instruments without an idempotency key.
func createMany(t *testing.T, v *instance.Instance, abstract uint64, list ...vault.NewInstrument) ([]vault.InstrumentView, error) {
	t.Helper()
	added, err := v.Instruments.CreateMany(t.Context(), vaulttest.Operator, abstract, list, vault.Idempotency[vault.Added]{})
	return added.Created, err
}

// An abstract has at most as many instruments as the settings allow. Those in the trash count.
func TestInstrumentLimit(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.InstrumentsPerAbstract = 3 })
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	for row := range 2 {
		if _, err := createMany(t, v, a, newInstrument(t, row+1, `{"book": "1"}`)); err != nil {
			t.Fatalf("CreateMany: %v", err)
		}
	}
	if err := v.Instruments.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}); err != nil {
		t.Fatalf("Trash: %v", err)
	}
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"book": "2"}`), newInstrument(t, 2, `{"book": "3"}`)); errs.KindOf(err) != errs.Conflict {
		t.Errorf("CreateMany of two = %v, want errs.Conflict", err)
	}
	create := func() error {
		_, err := v.Instruments.Create(t.Context(), vaulttest.Operator, a, newInstrument(t, 1, `{"book": "4"}`).InstrumentPatch,
			vault.Idempotency[vault.InstrumentView]{})
		return err
	}
	if err := create(); err != nil {
		t.Errorf("Create of the last = %v, want nil", err)
	}
	if err := create(); errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "at most 3 instruments") {
		t.Errorf("Create of one more = %v, want errs.Conflict", err)
	}
	if got := books(t, v, a); !slices.Equal(got, []string{"1", "4"}) {
		t.Errorf("books = %v, want 1 and 4", got)
	}
}

// Several instruments are recorded in one transaction, or none. Their relations refer to each other.
func TestCreateMany(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	at := func(i vault.NewInstrument, position int) vault.NewInstrument { i.Position = position; return i }
	got, err := createMany(t, v, a,
		at(newInstrument(t, 9, `{"type": "Release or Satisfaction", "book": "3", "recorded": "2010-01-01"}`,
			vault.RowRelation{Kind: model.Releases, Row: 4}), 1),
		at(newInstrument(t, 4, `{"type": "Mortgage", "book": "1", "recorded": "2001-01-01"}`), 2))
	if err != nil || len(got) != 2 || got[1].Status != model.InstrumentReleased || got[0].Relations[0].InstrumentID != got[1].ID {
		t.Fatalf("CreateMany = %+v, %v, want a release and its mortgage", got, err)
	}
	if list := books(t, v, a); !slices.Equal(list, []string{"3", "1"}) {
		t.Errorf("runsheet = %q, want the positions of the input", list)
	}
	// Later instruments are placed by their recording dates.
	if _, err := createMany(t, v, a, at(newInstrument(t, 1, `{"book": "0", "recorded": "1990-01-01"}`), 7)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	if list := books(t, v, a); !slices.Equal(list, []string{"0", "3", "1"}) {
		t.Errorf("runsheet = %q, want the new one first", list)
	}
	for _, row := range []struct {
		name string
		list []vault.NewInstrument
		want string
	}{
		{"invalid fields", []vault.NewInstrument{newInstrument(t, 1, `{}`), newInstrument(t, 12, `{"dated": "x", "type": "x"}`)},
			"[rows.12.dated rows.12.type]"},
		{"self", []vault.NewInstrument{newInstrument(t, 1, `{}`, vault.RowRelation{Kind: "releases", Row: 1})}, "[rows.1.relations]"},
		{"unknown row", []vault.NewInstrument{newInstrument(t, 1, `{}`, vault.RowRelation{Kind: "releases", Row: 2})}, "[rows.1.relations]"},
		{"unknown type", []vault.NewInstrument{newInstrument(t, 1, `{}`), newInstrument(t, 2, `{}`, vault.RowRelation{Kind: "x", Row: 1})},
			"[rows.2.relations]"},
		{"cycle", []vault.NewInstrument{newInstrument(t, 1, `{}`, vault.RowRelation{Kind: "releases", Row: 2}),
			newInstrument(t, 2, `{}`, vault.RowRelation{Kind: "terminates", Row: 3}), newInstrument(t, 3, `{}`,
				vault.RowRelation{Kind: "releases", Row: 1})},
			"[rows.1.relations rows.2.relations rows.3.relations]"},
	} {
		_, err := createMany(t, v, a, row.list...)
		var fields []string
		if rejected, ok := errors.AsType[*errs.Error](err); ok {
			for _, f := range rejected.Fields {
				fields = append(fields, f.Field)
			}
		}
		slices.Sort(fields)
		if fmt.Sprint(fields) != row.want {
			t.Errorf("%s: fields %v, want %s", row.name, fields, row.want)
		}
	}
	_, err = createMany(t, v, 99, newInstrument(t, 1, `{}`))
	vaulttest.WantKind(t, "CreateMany in a missing abstract", err, errs.NotFound)
	if list := books(t, v, a); len(list) != 3 {
		t.Errorf("runsheet = %q, want 3 instruments", list)
	}
}

// The names of documents describe instruments. A document of an instrument that is on the runsheet
// suggests adding it to that one.
func TestSuggestFromFilenames(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("02_Mortgage_2019-03-14_Bk1022-Pg311.pdf", "1"),
		vaulttest.PDFDoc("01_WD_2001-05-02_Bk900-Pg7_Smith-to-Jones.pdf", "2"), vaulttest.PDFDoc("02_Mortgage_2019-03-14_Bk1022-Pg311.pdf", "3"),
		vaulttest.PDFDoc("QCD Bk 5 Pg 6.pdf", "4"), vaulttest.PDFDoc("notes.pdf", "5")).Abstract.ID
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"type": "Quitclaim Deed", "book": "5", "page": "06"}`),
		newInstrument(t, 2, `{"type": "Warranty Deed", "book": "1022", "page": "311"}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	list, err := v.Instruments.SuggestFromFilenames(t.Context(), a)
	if err != nil || len(list) != 3 || len(list[0].Files) != 2 {
		t.Fatalf("SuggestFromFilenames = %+v, %v, want a mortgage with two documents and two deeds", list, err)
	}
	for n, want := range map[int]vault.Repeat{0: {Existing: 2, Possible: true, Position: 2, Title: "Warranty Deed, Book 1022, Page 311"},
		1: {}, 2: {Existing: 1, Position: 1, Title: "Quitclaim Deed, Book 5, Page 06"}} {
		if got := list[n].Repeat; got != want {
			t.Errorf("suggestion %d repeats %+v, want %+v", n, got, want)
		}
	}
	if !list[0].IsNew() || !list[1].IsNew() || list[2].IsNew() {
		t.Errorf("%+v: want the mortgage and the warranty deed to be new", list)
	}
}

// Rows fill the blank fields of instruments that are on the runsheet, and replace nothing. All rows are
// undone in one step.
func TestFillInstruments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "1"), vaulttest.PDFDoc("b.pdf", "2"))
	a := created.Abstract.ID
	other := vaulttest.CreateAbstract(t, v).Abstract.ID
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"type": "Warranty Deed", "book": "5", "page": "6", "grantees": ["Cole, Bea"],
		"documents": [{"file_id": 1}]}`), newInstrument(t, 2, `{"book": "7", "page": "8"}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	into := func(i vault.NewInstrument, id uint64) vault.NewInstrument { i.Into = id; return i }
	before, err := v.Instruments.Get(t.Context(), 1)
	vaulttest.NoError(t, err)
	added, err := v.Instruments.CreateMany(t.Context(), vaulttest.Operator, a, []vault.NewInstrument{
		into(newInstrument(t, 1, `{"type": "Quitclaim Deed", "book": "0005", "page": "6", "page_to": "7", "recorded": "2001-05-02",
			"grantors": ["Amos Reed"], "grantees": ["Someone Else"], "status": "open", "documents": [{"file_id": 2, "pages": "1"}]}`), 1),
		newInstrument(t, 2, `{"book": "9", "page": "1"}`, vault.RowRelation{Kind: model.Releases, Row: 1}),
	}, vault.Idempotency[vault.Added]{})
	if err != nil || len(added.Created) != 1 || added.Created[0].Relations[0].InstrumentID != 1 || len(added.Undo.Filled) != 1 {
		t.Fatalf("CreateMany = %+v, %v, want one new instrument that releases the filled one", added, err)
	}
	filled, err := v.Instruments.Get(t.Context(), 1)
	want := before.Instrument
	want.Version, want.UpdatedAt = filled.Version, filled.UpdatedAt
	want.PageTo, want.Recorded, want.Grantors = "7", "2001-05-02", []string{"Amos Reed"}
	want.Documents = []model.DocumentLink{{FileID: 1}, {FileID: 2, Pages: "1"}}
	if err != nil || fmt.Sprintf("%+v", filled.Instrument) != fmt.Sprintf("%+v", want) {
		t.Errorf("filled instrument = %+v, %v\nwant %+v", filled.Instrument, err, want)
	}
	vaulttest.WantLogged(t, v,
		"instrument.created instrument:3", `instrument.changed instrument:1 page_to:null>"7" recorded:null>"2001-05-02" `+
			`grantors:null>"Amos Reed" documents:null>{"file_id":2,"pages":"1"}`)

	if undone, kept, err := v.Instruments.Undo(t.Context(), vaulttest.Operator, added.Undo); err != nil || undone != 2 || kept != 0 {
		t.Errorf("Undo = %d, %d, %v, want 2 undone", undone, kept, err)
	}
	after, err := v.Instruments.Get(t.Context(), 1)
	want = before.Instrument
	want.Version, want.UpdatedAt = after.Version, after.UpdatedAt
	if err != nil || fmt.Sprintf("%+v", after.Instrument) != fmt.Sprintf("%+v", want) {
		t.Errorf("instrument after Undo = %+v, %v\nwant %+v", after.Instrument, err, want)
	}
	vaulttest.WantLogged(t, v, `instrument.changed instrument:1 page_to:"7">null recorded:"2001-05-02">null grantors:"Amos Reed">null `+
		`documents:{"file_id":2,"pages":"1"}>null`, "instrument.trashed instrument:3")
	if list := books(t, v, a); !slices.Equal(list, []string{"5", "7"}) {
		t.Errorf("runsheet after Undo = %q", list)
	}

	// An instrument that was restored since then stays.
	_, err = v.Instruments.Restore(t.Context(), vaulttest.Operator, 3, vault.Idempotency[vault.InstrumentView]{})
	vaulttest.NoError(t, err)
	if undone, kept, err := v.Instruments.Undo(t.Context(), vaulttest.Operator, added.Undo); err != nil || undone != 0 || kept != 1 {
		t.Errorf("Undo after a restore = %d, %d, %v, want 1 kept", undone, kept, err)
	}
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, 3, vault.Match{}))

	// Two rows can fill the same instrument. Undo removes both values, and a second one finds nothing to do.
	added, err = v.Instruments.CreateMany(t.Context(), vaulttest.Operator, a, []vault.NewInstrument{
		into(newInstrument(t, 1, `{"remarks": "Faint."}`), 1), into(newInstrument(t, 2, `{"court": "Probate", "remarks": "Torn."}`), 1),
	}, vault.Idempotency[vault.Added]{})
	if i, _ := v.Instruments.Get(t.Context(), 1); err != nil || len(added.Undo.Filled) != 1 || i.Remarks != "Faint." || i.Court != "Probate" {
		t.Errorf("CreateMany of two rows for one instrument = %+v, %v; got %+v", added.Undo, err, i)
	}
	for _, want := range []int{1, 0} {
		if undone, kept, err := v.Instruments.Undo(t.Context(), vaulttest.Operator, added.Undo); err != nil || undone != want || kept != 0 {
			t.Errorf("Undo of two rows = %d, %d, %v, want %d undone", undone, kept, err, want)
		}
	}
	if i, err := v.Instruments.Get(t.Context(), 1); err != nil || i.Remarks+i.Court != "" || i.Version != after.Version+3 {
		t.Errorf("instrument after Undo of two rows = %+v, %v, want no remarks and three more versions", i, err)
	}

	// Changes of others in the meantime stay, without the documents.
	added, err = v.Instruments.CreateMany(t.Context(), vaulttest.Operator, a, []vault.NewInstrument{
		into(newInstrument(t, 1, `{"remarks": "Faint.", "documents": [{"file_id": 2}]}`), 1), newInstrument(t, 2, `{"book": "9"}`),
	}, vault.Idempotency[vault.Added]{})
	vaulttest.NoError(t, err)
	for _, id := range []uint64{1, added.Created[0].ID} {
		court := newInstrument(t, 1, `{"court": "Probate"}`).InstrumentPatch
		_, err := v.Instruments.Patch(t.Context(), vaulttest.Operator, id, court, vault.Match{})
		vaulttest.NoError(t, err)
	}
	if undone, kept, err := v.Instruments.Undo(t.Context(), vaulttest.Operator, added.Undo); err != nil || undone != 0 || kept != 2 {
		t.Errorf("Undo after changes = %d, %d, %v, want 2 kept", undone, kept, err)
	}
	if i, err := v.Instruments.Get(t.Context(), 1); err != nil || i.Remarks != "Faint." || len(i.Documents) != 1 {
		t.Errorf("changed instrument after Undo = %+v, %v, want its remarks without the document", i, err)
	}

	// An instrument of another abstract, or one in the trash, is not filled.
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, 2, vault.Match{}))
	for abstract, id := range map[uint64]uint64{other: 1, a: 2} {
		_, err := createMany(t, v, abstract, into(newInstrument(t, 1, `{"remarks": "x"}`), id))
		vaulttest.WantKind(t, "CreateMany into a missing instrument", err, errs.Conflict)
	}
}

// Rows of a runsheet say which instrument they repeat, on the runsheet or in an earlier row.
func TestRepeatedRows(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"type": "Warranty Deed", "book": "3433", "page": "481"}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	text := "Type,Book,Page,Number\nWarranty Deed,3433,0481,\nMortgage,3433,481,\nMortgage,1,2,77\nMortgage,01,2,\n" +
		"Assignment,1,2,78\n,,,\nPlat,9,9,9\n"
	table, err := v.Instruments.ReadRunsheet(t.Context(), vaulttest.Operator, []byte(text))
	if err != nil {
		t.Fatalf("ReadRunsheet: %v", err)
	}
	checked, err := v.Instruments.CheckRunsheet(t.Context(), vaulttest.Operator, a, table, runsheet.Options{})
	if err != nil {
		t.Fatalf("CheckRunsheet: %v", err)
	}
	var got []string
	for _, g := range checked.Valid {
		got = append(got, fmt.Sprint(g.Row, g.Existing, g.Position, g.EarlierRow, g.Possible))
	}
	want := []string{"2 1 1 0 false", "3 1 1 0 true", "4 0 0 0 false", "5 0 0 4 false", "6 0 0 4 true", "8 0 0 0 false"}
	if !slices.Equal(got, want) {
		t.Errorf("rows = %q\nwant   %q", got, want)
	}
}

// A row that repeats an earlier one says so after the instrument that both repeat is gone. Instruments that documents
// suggest are compared with each other, too, so that the answer doesn't change while the runsheet stays the same.
func TestRenewRepeats(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("Deed Bk 900 Pg 7.pdf", "1"),
		vaulttest.PDFDoc("Mortgage Bk 900 Pg 7.pdf", "2")).Abstract.ID
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"type": "Warranty Deed", "book": "3433", "page": "481"}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	table, err := v.Instruments.ReadRunsheet(t.Context(), vaulttest.Operator,
		[]byte("Type,Book,Page\nWarranty Deed,3433,481\nMortgage,1,2\nWarranty Deed,3433,0481\n"))
	vaulttest.NoError(t, err)
	checked, err := v.Instruments.CheckRunsheet(t.Context(), vaulttest.Operator, a, table, runsheet.Options{})
	vaulttest.NoError(t, err)
	renew := func(list []vault.Suggestion, want ...string) {
		t.Helper()
		vaulttest.NoError(t, v.Instruments.RenewRepeats(t.Context(), a, list))
		var got []string
		for _, g := range list {
			got = append(got, fmt.Sprint(g.Existing, g.EarlierRow, g.Possible))
		}
		if !slices.Equal(got, want) {
			t.Errorf("rows repeat %q, want %q", got, want)
		}
	}
	renew(checked.Valid, "1 0 false", "0 0 false", "1 0 false")
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	renew(checked.Valid, "0 0 false", "0 0 false", "0 2 false")
	renew(checked.Valid, "0 0 false", "0 0 false", "0 2 false")

	named, err := v.Instruments.SuggestFromFilenames(t.Context(), a)
	vaulttest.NoError(t, err)
	renew(named, "0 0 false", "0 1 true")
}

// Two people review the same rows and accept them at the same time: the second one is asked again.
func TestAcceptedRowsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	table, err := v.Instruments.ReadRunsheet(t.Context(), vaulttest.Operator, []byte("Type,Book,Page\nWarranty Deed,3433,481\nMortgage,1,2\n"))
	vaulttest.NoError(t, err)
	review := func() (list []vault.NewInstrument) {
		t.Helper()
		checked, err := v.Instruments.CheckRunsheet(t.Context(), vaulttest.Operator, a, table, runsheet.Options{})
		vaulttest.NoError(t, err)
		for _, g := range checked.Valid {
			list = append(list, g.Input())
		}
		return list
	}
	first, second := review(), review()
	_, err = createMany(t, v, a, first[:1]...)
	vaulttest.NoError(t, err)
	if _, err := createMany(t, v, a, second...); !errors.Is(err, vault.ErrRunsheetChanged) {
		t.Errorf("CreateMany with a row that is on the runsheet by now = %v, want %v", err, vault.ErrRunsheetChanged)
	}
	if _, err := createMany(t, v, a, second[1]); err != nil {
		t.Errorf("CreateMany with the other row: %v", err)
	}
	known := review() // the answer to both is to add them again
	if _, err := createMany(t, v, a, known...); err != nil {
		t.Errorf("CreateMany with rows that were reviewed as repeated: %v", err)
	}
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	if _, err := createMany(t, v, a, known[0]); !errors.Is(err, vault.ErrRunsheetChanged) {
		t.Errorf("CreateMany after the repeated instrument was deleted = %v, want %v", err, vault.ErrRunsheetChanged)
	}
}

// A purged instrument disappears from relations, which become text, and from the sequence. An
// instrument of a purged abstract does so, too.
func TestPurgeInstrument(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	if _, err := createMany(t, v, a,
		newInstrument(t, 1, `{"type": "Mortgage", "book_type": "Mortgage Book", "book": "417", "page": "7", "recorded": "2001-01-01"}`),
		newInstrument(t, 2, `{"type": "Release or Satisfaction", "book": "500", "page": "1"}`,
			vault.RowRelation{Kind: model.Releases, Row: 1})); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	vaulttest.NoError(t, v.Instruments.SetSequence(t.Context(), vaulttest.Operator, a, []uint64{2, 1}, vault.Match{}))
	down, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, a, vault.Idempotency[vault.BroughtDown]{})
	if err != nil {
		t.Fatalf("BringDown: %v", err)
	}
	if _, err := createMany(t, v, down.Abstract.ID,
		newInstrument(t, 1, `{"type": "Affidavit", "relations": [{"kind": "references", "instrument_id": 2}, {"kind": "affects", "instrument_id": 1}]}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	vaulttest.WantTrash(t, v, "instrument 1 Mortgage · Mortgage Book 417, Page 7")
	if done, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "instrument", 1, ""); err != nil || done.Records != 1 {
		t.Fatalf("Purge = %+v, %v, want one record", done, err)
	}
	if release, err := v.Instruments.Get(t.Context(), 2); err != nil || release.Relations[0].Text != "Mortgage Book 417, Page 7" ||
		release.Relations[0].InstrumentID != 0 || release.Version != 2 {
		t.Errorf("release = %+v, %v, want a relation to text", release, err)
	}
	vaulttest.WantLogged(t, v, "instrument.purged instrument:1",
		`instrument.changed instrument:5 relations:{"kind":"affects","instrument_id":1}>{"kind":"affects","text":"Mortgage Book 417, Page 7"}`,
		`instrument.changed instrument:2 relations:{"kind":"releases","instrument_id":1}>{"kind":"releases","text":"Mortgage Book 417, Page 7"}`,
		"instrument.trashed instrument:1")
	vaulttest.Verify(t, v)

	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a, vault.Match{}))
	clock.Advance(31 * 24 * time.Hour)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, v)
	vaulttest.WantLogged(t, v, "abstract.purged abstract:1",
		`instrument.changed instrument:5 relations:{"kind":"references","instrument_id":2}>{"kind":"references","text":"Book 500, Page 1"}`,
		"abstract.trashed abstract:1")
	affidavit, err := v.Instruments.Get(t.Context(), 5)
	if err != nil || affidavit.Relations[0].Text != "Book 500, Page 1" || !strings.HasPrefix(affidavit.Relations[1].Text, "Mortgage Book") {
		t.Errorf("affidavit of the bring-down = %+v, %v, want relations to text", affidavit, err)
	}
	vaulttest.Verify(t, v)
}

// The purge of a document changes the instruments that are linked to it, so they and the runsheet get a
// new version.
func TestPurgeLinkedDocument(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	linked := addInstrument(t, v, a.Abstract.ID, fmt.Sprintf(`{"documents": [{"file_id": %d}, {"file_id": %d}]}`, a.Files[0].ID, a.Files[1].ID))
	file := a.Files[0].ID
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, a.Abstract.ID, file, vault.Match{}))
	before, err := v.Instruments.Runsheet(t.Context(), a.Abstract.ID)
	vaulttest.NoError(t, err)
	if _, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", file, ""); err != nil {
		t.Fatalf("Purge: %v", err)
	}
	vaulttest.WantLogged(t, v,
		fmt.Sprintf("file.purged file:%d", file), fmt.Sprintf(`instrument.changed instrument:%d documents:{"file_id":%d}>null`,
			linked.ID, file))
	now, err := v.Instruments.Get(t.Context(), linked.ID)
	if err != nil || len(now.Documents) != 1 || now.Documents[0].FileID != a.Files[1].ID || now.Version != linked.Version+1 {
		t.Errorf("instrument: got %+v, %v, want version %d with document %d only", now, err, linked.Version+1, a.Files[1].ID)
	}
	if sheet, err := v.Instruments.Runsheet(t.Context(), a.Abstract.ID); err != nil || sheet.Version != before.Version+1 {
		t.Errorf("runsheet: got version %d, %v, want %d", sheet.Version, err, before.Version+1)
	}
	vaulttest.Verify(t, v)
}

// Requirements of other abstracts, such as a bring-down, aren't linked to an instrument anymore once it
// is purged. While it is in the trash, they are.
func TestRequirementsOfPurgedInstrument(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	purged, kept := addInstrument(t, v, a, `{"book": "1"}`), addInstrument(t, v, a, `{"book": "2"}`)
	down, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, a, vault.Idempotency[vault.BroughtDown]{})
	vaulttest.NoError(t, err)
	rows := model.JSONInput(fmt.Sprintf(`[{"kind": "requirement", "text": "Release", "instrument_id": %d},
		{"kind": "exception", "text": "Easement", "instrument_id": %d}]`, purged.ID, kept.ID))
	_, err = v.TitleWork.SetRequirements(t.Context(), vaulttest.Operator, down.Abstract.ID, rows, vault.Match{})
	vaulttest.NoError(t, err)
	want := func(when string, ids ...uint64) {
		t.Helper()
		list, _, err := v.TitleWork.Requirements(t.Context(), down.Abstract.ID)
		work, workErr := v.TitleWork.Get(t.Context(), down.Abstract.ID)
		if err := errors.Join(err, workErr); err != nil || len(list) != len(ids) || len(work.Requirements) != len(ids) {
			t.Fatalf("%s: got %+v and %+v, %v, want %d rows", when, list, work.Requirements, err, len(ids))
		}
		for n, id := range ids {
			if list[n].InstrumentID != id || work.Requirements[n].InstrumentID != id {
				t.Errorf("%s: row %d has instruments %d and %d, want %d", when, n, list[n].InstrumentID, work.Requirements[n].InstrumentID, id)
			}
		}
	}
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, purged.ID, vault.Match{}))
	want("in the trash", purged.ID, kept.ID)
	if done, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "instrument", purged.ID, ""); err != nil || done.Records != 1 {
		t.Fatalf("Purge = %+v, %v, want one record", done, err)
	}
	want("after the purge", 0, kept.ID)
	vaulttest.Verify(t, v)
}

// An instrument in the trash can be restored until it is purged, by hand or after its time.
func TestInstrumentExpires(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"book": "1"}`), newInstrument(t, 2, `{"book": "2"}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	for id := range uint64(2) {
		vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, id+1, vault.Match{}))
	}
	clock.Advance(29 * 24 * time.Hour)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if _, err := v.Instruments.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.InstrumentView]{}); err != nil {
		t.Errorf("Restore: %v", err)
	}
	clock.Advance(2 * 24 * time.Hour)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	_, err := v.Instruments.Restore(t.Context(), vaulttest.Operator, 2, vault.Idempotency[vault.InstrumentView]{})
	vaulttest.WantKind(t, "Restore of a purged instrument", err, errs.NotFound)
	if list := books(t, v, a); !slices.Equal(list, []string{"1"}) {
		t.Errorf("runsheet = %q, want only the restored instrument", list)
	}
	vaulttest.Verify(t, v)
}
