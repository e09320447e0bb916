package instruments

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/tablerow"
	"deedkeep/app/vault"
)

// typedCells are cells of a runsheet as people type and paste them.
var typedCells = []string{
	"", "'", "’", "\"", ";", "A; B;", "\"Quill; Ada\"; Poe", "3-9-98", "2/30/2024", "4/17/19 9:41 AM",
	"Jan 2, 2006", "041719 15:04:05",
	"$10 & OVC", "$1,234.50",
	"Bk 1022 Pg 311", "1022/311-313", "Deed Book 1022/0311", "Plat Cabinet A, Slide 35", "/", "a/b/c", "Book 7",
	"wd", "Warranty Deed", "released", "Jose\u0301",
	"\u00a0", "\x00", "\xff", "line\nbreak", strings.Repeat("a;", 80),
}

// FuzzCell checks that a cell is saved as itself if someone opens it and changes nothing.
func FuzzCell(f *testing.F) {
	for _, text := range typedCells {
		f.Add(text)
	}
	types := model.NewDocumentTypes()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	save := func(column, text string, old model.Instrument) (model.Instrument, bool) {
		in, problem := parseCell(column, text, old, types, now)
		if problem != "" {
			return old, false
		}
		i, rejected := model.CheckInstrument(in, old, model.InstrumentContext{Types: types})
		return i, len(rejected) == 0
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for _, c := range columns {
			column := c.Name
			if len(c.fields) == 0 {
				continue
			}
			i, ok := save(column, text, model.Instrument{ID: 1, AbstractID: 1})
			if !ok {
				continue
			}
			kind, _ := types.ByID(i.TypeID)
			shown := cellText(vault.InstrumentView{Instrument: i, Type: kind}, column)
			if again, ok := save(column, shown, i); !ok || !reflect.DeepEqual(again, i) {
				t.Errorf("%s %q is shown as %q, which is saved as %+v, %v, want %+v", column, text, shown, again, ok, i)
			}
		}
	})
}

// FuzzPaste checks that pasted cells are the same after they were written for the next form, that each column has a field,
// and that entries have valid fields.
func FuzzPaste(f *testing.F) {
	for _, cell := range typedCells {
		f.Add(cell+"\t"+cell+"\t"+cell+"\n"+cell+"\n", "type")
		f.Add("Type\tGrantor\tRec. Date\tColor\n"+cell+"\t"+cell+"\t"+cell+"\t"+cell, "")
	}
	f.Add("\"", "0")
	f.Add("\"\"\t", "0")
	f.Add("1022\t311\tMortgage\tA\tB\t3/9/1998\t3/8/1998\t$5", "type")
	types := model.NewDocumentTypes()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, first string) {
		cells, err := readTable(text)
		if err != nil {
			return
		}
		table, fields := pastedTable(cells, first)
		written, err := writeTable(table)
		if err != nil {
			return // cells with a quote that doesn't end
		}
		if again, err := readTable(written); err != nil || len(again) != len(cells) {
			t.Errorf("%q is written as %q, which is %d rows, %v, want %d", text, written, len(again), err, len(cells))
		}
		options := runsheet.Options{Types: types, Now: now}
		if table.Header == nil {
			options.Columns = table.Guess(fields, types, now)
		}
		sheet := table.Read(options)
		for _, c := range sheet.Columns {
			if c.Title() == "" {
				t.Errorf("column %+v has no field", c)
			}
		}
		last := 0
		for _, e := range sheet.Entries {
			if e.Row <= last {
				t.Errorf("row %+v after row %d isn't valid", e, last)
			}
			last = e.Row
			for name, raw := range e.Fields {
				if raw.Kind == model.InputMissing || !slices.Contains(model.InstrumentInputFields(), name) {
					t.Errorf("row %d: %s is %+v, want a field and a value", e.Row, name, raw)
				}
			}
			i, rejected := model.CheckInstrument(e.Fields, model.Instrument{AbstractID: 1}, model.InstrumentContext{Types: types})
			row := tablerow.New(table, e.Row, cells[e.Row-1], sheet.Columns)
			kind, _ := types.ByID(i.TypeID)
			if len(rejected) == 0 {
				accept(&row, vault.Suggestion{Row: e.Row, Instrument: i, Type: kind}, sheet.Columns, false)
			} else if row.Reject(rejected, sheet.Columns, false); !slices.ContainsFunc(row.Cells,
				func(c tablerow.Cell) bool { return c.Name != "" }) {
				t.Errorf("row %d can't be corrected: %+v", e.Row, rejected)
			}
		}
	})
}

// FuzzRelationLinks checks that each relation of a runsheet is shown at both of its instruments.
func FuzzRelationLinks(f *testing.F) {
	f.Add([]byte{1, 0, 2, 2, 2, 0, 3, 9, 99, 1, 1, 1})
	kinds := model.RelationKinds()
	f.Fuzz(func(t *testing.T, relations []byte) {
		list := make([]vault.InstrumentView, 4)
		positions := map[uint64]int{}
		for n := range list {
			list[n].ID, list[n].Position = uint64(n+1), n+1
			positions[list[n].ID] = n + 1
		}
		for part := range slices.Chunk(relations, 3) {
			if len(part) == 3 {
				from := &list[int(part[0])%len(list)]
				from.Relations = append(from.Relations, model.Relation{Kind: kinds[int(part[1])%len(kinds)], InstrumentID: uint64(part[2])})
			}
		}
		links := relationLinks(list, positions)
		for _, i := range list {
			for _, r := range i.Relations {
				words, targetWords := page.RelationWords(r.Kind)
				at := func(id uint64, words string, other uint64) bool {
					return slices.ContainsFunc(links[id], func(l relationLink) bool {
						return l.Words == words && l.ID == other && l.Position == positions[other]
					})
				}
				if !at(i.ID, words, r.InstrumentID) || r.InstrumentID != 0 && !at(r.InstrumentID, targetWords, i.ID) {
					t.Errorf("links of %d and %d are %+v and %+v, want %q in both directions", i.ID, r.InstrumentID, links[i.ID],
						links[r.InstrumentID], words)
				}
			}
		}
	})
}

// A field whose declaration says so has a column before the remarks.
func TestColumnOfAnotherField(t *testing.T) {
	another := model.InstrumentField{FieldLabel: model.FieldLabel{Name: "filed", Label: "Filed", Type: model.Date}, InGrid: true,
		Text: func(i *model.Instrument) *string { return &i.Expires }}
	list := columnsOf(append(slices.Clone(model.InstrumentFields()), another))
	if n := len(list); n != len(columns)+1 || list[n-2].Label != "Filed" || list[n-1].Name != "remarks" {
		t.Errorf("columns = %+v, want Filed before the remarks", list)
	}
	if got, want := fieldText(another, model.Instrument{Expires: "2026-05-29"}), "5/29/2026"; got != want {
		t.Errorf("fieldText() = %q, want %q", got, want)
	}
}

// Cells that are pasted without a header go to the columns from the selected one on.
func TestFieldsOfPastedCells(t *testing.T) {
	all := sheetFields("")
	if all[0] != "type" || !slices.Contains(all, runsheet.LeaveOut) || all[len(all)-1] != "remarks" {
		t.Errorf("sheetFields() = %q, want type, the documents left out, and remarks", all)
	}
	if got := sheetFields("status"); got[0] != "status" || !slices.Contains(got, "remarks") {
		t.Errorf("sheetFields(status) = %q, want status and remarks", got)
	}
	for _, c := range columns {
		if (len(c.fields) == 0) != (c.Name == columnDocuments) {
			t.Errorf("users can edit the fields %q in the column %s", c.fields, c.Name)
		}
	}
}
