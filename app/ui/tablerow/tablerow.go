// Package tablerow shows the rows of pasted cells and of runsheet files before they become instruments, with inputs
// for the cells that a person must correct.
package tablerow

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
)

// MaxColumns is the maximum number of columns that a form can correct.
const MaxColumns = 100

// maxInputs is the maximum number of inputs for cells on a page. The server reads at most 10,000 fields of a form, and
// each row that isn't wrong can have one, too.
const maxInputs = 4000

const columnType = "type"

// Row is a row of the preview.
type Row struct {
	Row      int // row in the pasted text or the file, starting with 1
	Cells    []Cell
	Rejected bool
	Problems []string // those that belong to no cell
	Repeats  string   // which instrument the row repeats; "" if it repeats none
	Choices  []page.RowChoice
	Swap     bool // the parties have labels of their own, so a person may want to exchange them
}

// Field returns the form field of Choices.
func (row Row) Field() string { return page.RowField(row.Row) }

// Cell is a cell of the preview.
type Cell struct {
	Title   string // of the column
	Label   string // what the parties in the cell are called, such as Plaintiff
	Text    string // as it is stored or, in a rejected row, as it was pasted
	Name    string // of its input; "" if the cell can't be corrected
	Problem string
	Check   bool // a person must look at the text, which is stored nevertheless
	Left    bool // not stored
	Amount  bool
	IsType  bool
}

// New returns a row of the preview of a table. columns are those that the preview shows.
func New(table runsheet.Table, number int, cells []string, columns []runsheet.Column) Row {
	row := Row{Row: number}
	for _, c := range columns {
		cell := Cell{Title: c.Title(), Left: c.Field == runsheet.LeaveOut, Amount: c.Field == "consideration",
			IsType: c.Field == columnType}
		if c.N < len(cells) {
			cell.Text = table.Shown(c.Field, cells[c.N])
			cell.Check = cell.Amount && model.IsMistypedAmount(cell.Text)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// cellName returns the name of the input for a cell.
func cellName(row, column int) string { return fmt.Sprintf("cell.%d.%d", row, column) }

// Correct replaces the cells of rows that a form has by cellName. It reports whether one is different.
func Correct(rows []runsheet.TableRow, form url.Values) (changed bool) {
	byNumber := map[int]*runsheet.TableRow{}
	for n := range rows {
		byNumber[rows[n].Row] = &rows[n]
	}
	for name, values := range form {
		var number, column int
		n, err := fmt.Sscanf(name, "cell.%d.%d", &number, &column)
		row := byNumber[number]
		if n != 2 || err != nil || row == nil || column < 0 || column >= MaxColumns {
			continue
		}
		for len(row.Cells) <= column {
			row.Cells = append(row.Cells, "")
		}
		text := strings.TrimSpace(values[len(values)-1])
		changed = changed || text != strings.TrimSpace(row.Cells[column])
		row.Cells[column] = text
	}
	return changed
}

// combinedFields are fields whose problems belong to the cells of another one.
var combinedFields = map[string]string{"book_type": "book_page", "book": "book_page", "page": "book_page", "page_to": "book_page",
	"recorded_time": "recorded", "consideration_text": "consideration", "relations": "status"}

// Reject shows the problems of a row that isn't valid in inputs for its wrong cells or, if a problem belongs
// to no cell, for all of them.
func (row *Row) Reject(fields errs.Fields, columns []runsheet.Column, swapped bool) {
	row.Rejected = true
	texts := page.ProblemTexts(fields)
	for n, f := range fields {
		name, _, _ := strings.Cut(f.Field, ".")
		if swapped {
			name = cmp.Or(map[string]string{"grantors": "grantees", "grantees": "grantors"}[name], name)
		}
		found := false
		for _, field := range []string{name, combinedFields[name]} {
			for at, c := range columns {
				if cell := &row.Cells[at]; c.Field == field && (cell.Text != "" || name == field) && !found {
					if name == columnType {
						texts[n] = UnknownType(cell.Text)
					}
					found, cell.Name, cell.Problem = true, cellName(row.Row, c.N), strings.TrimSpace(cell.Problem+" "+texts[n])
				}
			}
		}
		if !found {
			row.Problems = append(row.Problems, texts[n])
		}
	}
	for n, c := range columns {
		if len(row.Problems) > 0 && !row.Cells[n].Left {
			row.Cells[n].Name = cellName(row.Row, c.N)
		}
	}
}

// LimitInputs removes the inputs of those rejected rows that would have more than the maximum together with the rows
// before them. It returns the number of these rows.
func LimitInputs(rows []Row) (without int) {
	inputs := 0
	for _, row := range rows {
		for _, cell := range row.Cells {
			if cell.Name != "" {
				inputs++
			}
		}
		if !row.Rejected || inputs <= maxInputs {
			continue
		}
		without++
		for n := range row.Cells {
			row.Cells[n].Name = ""
		}
	}
	return without
}

// UnknownType says that there is no document type with this name.
func UnknownType(name string) string {
	return "“" + page.Truncate(name, 100) + "” isn't a document type."
}
