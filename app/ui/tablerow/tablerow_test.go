package tablerow

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/runsheet"
)

var columns = []runsheet.Column{{N: 0, Field: "type"}, {N: 1, Field: "book_page"}, {N: 2, Field: "grantors"}, {N: 3, Field: "grantees"},
	{N: 4, Field: "consideration"}, {N: 5, Field: runsheet.LeaveOut}}

func newRow(number int, cells ...string) Row { return New(runsheet.Table{}, number, cells, columns) }

func TestNew(t *testing.T) {
	row := newRow(3, "Deed", " DB 1/2 ", "Roe", "Poe", "12O,000", "x")
	if c := row.Cells[1]; c.Text != "DB 1/2" || c.Check || c.Left || c.IsType {
		t.Errorf("book and page = %+v, want its text", c)
	}
	if c := row.Cells[4]; !c.Amount || !c.Check {
		t.Errorf("amount with a letter = %+v, want one to check", c)
	}
	if !row.Cells[0].IsType || !row.Cells[5].Left || row.Row != 3 {
		t.Errorf("row = %+v, want row 3 with a type and a column that is left out", row)
	}
	if short := newRow(1, "Deed"); len(short.Cells) != len(columns) || short.Cells[4].Text != "" {
		t.Errorf("short row = %+v, want a cell for each column", short)
	}
}

// A form changes only cells that exist or can exist.
func TestCorrect(t *testing.T) {
	rows := []runsheet.TableRow{{Row: 2, Cells: []string{"Deed", "1/2"}}, {Row: 5, Cells: []string{"Lien"}}}
	if Correct(rows, url.Values{"cell.2.0": {" Deed "}, "cell.9.0": {"x"}, "cell.2.100": {"x"}, "cell.2.-1": {"x"}, "cell.x.1": {"x"}}) {
		t.Errorf("Correct() = true, want no change; rows %+v", rows)
	}
	if !Correct(rows, url.Values{"cell.5.2": {"Roe"}}) || !slices.Equal(rows[1].Cells, []string{"Lien", "", "Roe"}) {
		t.Errorf("rows = %+v, want Roe in the third cell of row 5", rows)
	}
}

// Each problem is shown in the cell to which it belongs, or else all cells can be corrected.
func TestReject(t *testing.T) {
	problem := func(field string) (fields errs.Fields) {
		fields.Add(field, errs.Required)
		return fields
	}
	named := func(row Row) (names []string) {
		for _, c := range row.Cells {
			if c.Name != "" {
				names = append(names, c.Name)
			}
		}
		return names
	}
	for _, row := range []struct {
		field    string
		swapped  bool
		want     []string
		problems int
	}{
		{field: "type", want: []string{"cell.7.0"}},
		{field: "page_to", want: []string{"cell.7.1"}},
		{field: "grantors.0", want: []string{"cell.7.2"}},
		{field: "grantors.0", swapped: true, want: []string{"cell.7.3"}},
		{field: "consideration_text", want: []string{"cell.7.4"}},
		{field: "remarks", want: []string{"cell.7.0", "cell.7.1", "cell.7.2", "cell.7.3", "cell.7.4"}, problems: 1},
	} {
		got := newRow(7, "Deeed", "1/2", "Roe", "Poe", "5", "x")
		got.Reject(problem(row.field), columns, row.swapped)
		if names := named(got); !slices.Equal(names, row.want) || len(got.Problems) != row.problems || !got.Rejected {
			t.Errorf("%s (swapped: %v): inputs %q and problems %q, want %q and %d problems", row.field, row.swapped, names,
				got.Problems, row.want, row.problems)
		}
	}
	unknown := newRow(1, "Deeed")
	unknown.Reject(problem("type"), columns, false)
	if !strings.Contains(unknown.Cells[0].Problem, "“Deeed”") {
		t.Errorf("problem of the type = %q, want one that names it", unknown.Cells[0].Problem)
	}
}

// A form has at most maxInputs inputs, so that the server reads all of them.
func TestLimitInputs(t *testing.T) {
	row := newRow(1, "a", "b", "c", "d", "e")
	var fields errs.Fields
	fields.Add("remarks", errs.Required)
	row.Reject(fields, columns, false)
	var rows []Row
	for range maxInputs/5 + 3 {
		rows = append(rows, row)
		rows[len(rows)-1].Cells = slices.Clone(row.Cells)
	}
	if n := LimitInputs(rows); n != 3 {
		t.Errorf("LimitInputs() = %d, want 3 rows without inputs", n)
	}
	if rows[maxInputs/5-1].Cells[0].Name == "" || rows[maxInputs/5].Cells[0].Name != "" {
		t.Error("want inputs in the first rows, and none in the last 3")
	}
}
