package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// describeChanges returns the texts of changes.
func describeChanges(kind string, changes []Change, d Describer) []string {
	e := Event{Kind: kind, Changes: changes}
	if d.Name == nil {
		d.Name = func(record string) string {
			return map[string]string{"abstract:4": "1 Main St", "abstract:26": "9 Oak St", "folder:3": "Deeds", "user:2": "ann", "order:7": "24-7",
				"document_type:1": "Warranty Deed", "instrument:5": "Mortgage · Book 7", "file:9": "a.pdf"}[record]
		}
	}
	e.Describe(d)
	return e.Texts()
}

// Every surface shows a change in these words.
func TestChangeTexts(t *testing.T) {
	rows := func(list ...NameRun) TitleWork { return TitleWork{NamesRun: list} }
	jones := NameRun{Name: "Jones, Bea", From: "1990-01-02", Indexes: []string{"Grantor", "Grantee"}, Result: "judgment found"}
	cleared := jones
	cleared.Result = "clear"
	defs := []Field{{Key: "rush", Label: "Rush order", Type: Checkbox}, {Key: "number", Label: "Book", Type: Text}}
	custom := func(text string) (values CustomValues) {
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		return values
	}
	for _, row := range []struct {
		name    string
		kind    string
		changes []Change
		want    []string
	}{
		{"a cell", "instrument.changed", Instrument{Book: "12", Consideration: "1500.00"}.Changes(Instrument{Book: "13"}),
			[]string{"Book: 12 → 13", "Consideration: $1,500.00 → (blank)"}},
		{"a type", "instrument.changed", Instrument{}.Changes(Instrument{TypeID: 1, Recorded: "2020-01-02"}),
			[]string{"Document type: (blank) → Warranty Deed", "Recorded: (blank) → Jan 2, 2020"}},
		{"names", "instrument.changed", Instrument{Grantors: []string{"A", "B"}}.Changes(Instrument{Grantors: []string{"B", "C", "D"}}),
			[]string{"Grantor: added C", "Grantor: added D", "Grantor: removed A"}},
		{"a corrected name", "instrument.changed", Instrument{Grantors: []string{"Smyth", "B"}}.Changes(Instrument{Grantors: []string{"Smith",
			"B"}}),
			[]string{"Grantor: Smyth → Smith"}},
		{"other parties", "instrument.changed", Instrument{OtherParties: []Party{{"Trustee", "Cole"}}}.Changes(
			Instrument{OtherParties: []Party{{"Nominee", "Cole"}}}), []string{"Other parties, Cole: Role: Trustee → Nominee"}},
		{"relations", "instrument.changed", Instrument{}.Changes(Instrument{Relations: []Relation{{Kind: "partially_releases", InstrumentID: 5}},
			Documents: []DocumentLink{{FileID: 9, Pages: "3-5"}}}),
			[]string{"Related instruments: added Partially releases (Instrument: Mortgage · Book 7)", "Documents: added a.pdf (Pages: 3-5)"}},
		{"a status", "order.changed", Order{Status: "on_hold"}.Changes(Order{Status: "In Exam", DueDate: "2026-06-02"}),
			[]string{"Status: On hold → In Exam", "Due date: (blank) → Jun 2, 2026"}},
		{"custom fields", "abstract.changed", Abstract{Custom: custom(`{"rush":false,"number":"2026-06-02"}`)}.Changes(
			Abstract{Custom: custom(`{"rush":true,"number":"1","some_day":"2026-06-02"}`)}),
			[]string{"Book: 2026-06-02 → 1", "Rush order: No → Yes", "Some day: (blank) → Jun 2, 2026"}},
		{"a document to another abstract", "file.changed", File{AbstractID: 4, Filename: "a"}.Changes(File{AbstractID: 26, Filename: "b"}),
			[]string{"Name: a → b", "moved from abstract 1 Main St to abstract 9 Oak St"}},
		{"a document to a folder", "file.changed", File{AbstractID: 4}.Changes(File{FolderID: 3}),
			[]string{"moved from abstract 1 Main St to folder Deeds"}},
		{"a document out of a folder", "file.changed", File{FolderID: 3}.Changes(File{}),
			[]string{"moved from folder Deeds to the Vault (no folder)"}},
		{"documents", "abstract.changed", Abstract{Files: []uint64{8, 9, 10}}.Changes(Abstract{Files: []uint64{9, 8, 10}}),
			[]string{"Documents: moved a.pdf from 2 to 1"}},
		{"a sequence", "runsheet.reordered", SequenceChanges([]uint64{5, 6, 7}, []uint64{6, 7, 5}),
			[]string{"Sequence: moved Mortgage · Book 7 from 1 to 3"}},
		{"names run", "names_run.changed", rows(jones, NameRun{Name: "Cole"}).Changes(rows(cleared, NameRun{Name: "Ames", Result: "clear"},
			NameRun{Name: "Ball"})),
			[]string{"Names run, Jones, Bea: Result: judgment found → clear", "Names run: added Ames (Result: clear)", "Names run: added Ball",
				"Names run: removed Cole"}},
		{"an added name", "names_run.changed", rows().Changes(rows(jones)),
			[]string{"Names run: added Jones, Bea (From: Jan 2, 1990; Indexes: Grantor, Grantee; Result: judgment found)"}},
		{"moved names", "names_run.changed", rows(jones, NameRun{Name: "Cole"}, NameRun{Name: "Ames"}).Changes(rows(NameRun{Name: "Ames"},
			jones, NameRun{Name: "Cole"})),
			[]string{"Names run: moved Ames from 3 to 1"}},
		{"people", "assignment.changed", TitleWork{}.Changes(TitleWork{OrderID: 7, Assignment: Assignment{SearcherID: 2}}),
			[]string{"Order: (blank) → 24-7", "Searcher: (blank) → ann"}},
		{"requirements", "requirements.changed", TitleWork{Requirements: []RequirementRow{{Kind: RequirementKind, Text: "Release",
			InstrumentID: 5}}}.Changes(
			TitleWork{Requirements: []RequirementRow{{Kind: RequirementKind, Text: "Release", InstrumentID: 5, Cleared: "2026-01-02"}}}),
			[]string{"Requirements and exceptions, Release: Cleared: (blank) → Jan 2, 2026"}},
		{"a type of the firm", "document_types.changed", DocumentTypes{{ID: 1, Name: "Deed", Category: Conveyance}}.Changes(
			DocumentTypes{{ID: 1, Name: "Warranty Deed", Category: Conveyance}, {ID: 2, Name: "Lease", Category: Restriction, Encumbrance: true}}),
			[]string{"Document types, Deed: Name: Deed → Warranty Deed",
				"Document types: added Lease (Category: Easements and Restrictions; Encumbrance: Yes)"}},
		{"a template", "template.changed", TemplateChanges(Template{Name: "A"}, Template{Name: "B"}), []string{`name: "A" → "B"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := describeChanges(row.kind, row.changes, Describer{Custom: defs}); !slices.Equal(got, row.want) {
				t.Errorf("got\n     %s\nwant %s", strings.Join(got, "\n     "), strings.Join(row.want, "\n     "))
			}
		})
	}
}

// Of a long text, the audit log has an excerpt around the first difference.
func TestLongTextsAreExcerpts(t *testing.T) {
	long := strings.Repeat("é", 2500)
	note := func(text string) Note { return Note{Text: text} }
	for _, row := range []struct{ name, from, to, wantFrom, wantTo string }{
		{"the limit", long[:2000], "", long[:2000], ""},
		{"a new text", "", long, "", long[:2000] + "… (2,500 characters)"},
		{"a late difference", long + "A", long + "B", "…" + long[:80] + "A… (2,501 characters)", "…" + long[:80] + "B… (2,501 characters)"},
		{"an appended text", long[:2000], long, "…" + long[:80] + "… (1,000 characters)", "…" + long[:2000] + "… (2,500 characters)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			changes := note(row.from).Changes(note(row.to))
			if len(changes) != 1 {
				t.Fatalf("got %d changes, want 1", len(changes))
			}
			from, _ := decodeString(changes[0].From)
			to, _ := decodeString(changes[0].To)
			if from != row.wantFrom || to != row.wantTo {
				t.Errorf("got  %.150q → %.150q (%d, %d characters)\nwant %.150q → %.150q (%d, %d)", from, to, utf8.RuneCountInString(from),
					utf8.RuneCountInString(to), row.wantFrom, row.wantTo, utf8.RuneCountInString(row.wantFrom), utf8.RuneCountInString(row.wantTo))
			}
		})
	}
	row := []NameRun{{Name: "Jones", Result: long + "A"}}
	again := []NameRun{{Name: "Jones", Result: long + "B"}}
	changes := TitleWork{NamesRun: row}.Changes(TitleWork{NamesRun: again})
	if len(changes) != 1 || len(changes[0].From) > 2*maxLoggedText || string(changes[0].From) == string(changes[0].To) {
		t.Errorf("a row with a long text: got %d changes: %.300s", len(changes), changes)
	}
}

// A change of a sequence lists as few moved rows as possible, and not more than maxLoggedMoves.
func TestLongSequence(t *testing.T) {
	from := make([]uint64, 1000)
	for n := range from {
		from[n] = uint64(n + 1)
	}
	to := slices.Clone(from)
	slices.Reverse(to)
	changes := SequenceChanges(from, to)
	if len(changes) != maxLoggedMoves+1 || string(changes[maxLoggedMoves].To) != `"799 more rows moved"` {
		t.Errorf("got %d changes, the last one %+v", len(changes), changes[len(changes)-1])
	}
	if changes := SequenceChanges(from, append(slices.Clone(from[1:]), 1)); len(changes) != 1 || changes[0].Row != "instrument:1" {
		t.Errorf("one moved row: got %+v", changes)
	}
	if changes := SequenceChanges(from, from); changes != nil {
		t.Errorf("no move: got %+v", changes)
	}
}
