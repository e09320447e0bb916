// Package runsheet writes runsheets as CSV and Excel files, and reads them from such files.
//
// A file has one row per instrument and a header row with the titles of the columns. Names in one
// cell are separated by semicolons; a name that contains one is quoted. A file that WriteCSV or
// WriteExcel wrote is read back with the same values. Files from other sources may have other
// titles, fewer columns, and rows above the header.
package runsheet

import (
	"fmt"
	"strings"

	"deedkeep/app/model"
)

// Row is an instrument in a runsheet.
type Row struct {
	model.Instrument
	Position int
	Type     model.DocumentType
	Status   string         // effective status; "" if it can't be determined
	Number   map[uint64]int // positions of the other instruments by ID, for relations
}

// column is a column of the files, and what its cells are for.
type column struct {
	model.FileColumn        // its width is 0 if the column is only read
	field            string // one of the choices of Column.Field
	isList           bool   // the cell is a list of names
	value            func(*Row) string
}

// columns are all fields of a runsheet with their headings. Those without a width are read but never
// written.
var columns = func() []column {
	list := []column{
		{field: Position, FileColumn: model.FileColumn{Title: "No.", Width: 5, Aliases: []string{"#", "Item", "Line", "Seq", "Sequence", "Row",
			"Entry"}}, value: func(r *Row) string { return fmt.Sprint(r.Position) }},
		{field: "type", FileColumn: model.FileColumn{Title: "Type", Width: 22, Aliases: []string{"Document Type", "Instrument Type", "Kind",
			"Type of Instrument", "Type of Document", "Instrument", "Document"}}, value: func(r *Row) string { return r.Type.Name }},
	}
	values := map[string]func(*Row) string{"relations": relations,
		"other_parties": func(r *Row) string { return model.JoinParties(r.OtherParties, "; ") },
		"status":        func(r *Row) string { return r.Type.StatusText(r.Status) }}
	for _, f := range model.InstrumentFields() {
		c := column{field: f.Name, FileColumn: f.Column, isList: f.List != nil, value: values[f.Name]}
		switch {
		case c.Title == "":
			continue
		case c.value == nil && f.List != nil:
			c.value = func(r *Row) string { return model.JoinNames(*f.List(&r.Instrument), "; ") }
		case c.value == nil:
			c.value = func(r *Row) string { return *f.Text(&r.Instrument) }
		}
		if list = append(list, c); f.Name == "page_to" {
			list = append(list, column{field: bookPageField, FileColumn: model.FileColumn{Title: BookPageTitle, Aliases: []string{
				"Book and Page", "O.R. Book/Page", "OR Book/Page", "Recording Reference", "Recording Information", "Recording Info",
				"Recording Data", "Recorded In", "Recording", "Reference"}}})
		}
	}
	return append(list, column{field: LeaveOut, FileColumn: model.FileColumn{Title: "Documents", Aliases: []string{"Tools"}}})
}()

// relations formats relations like "releases 3; references Bk 1022 Pg 311". A number alone is the
// No. of another row.
func relations(r *Row) string {
	var list []string
	for _, relation := range r.Relations {
		kind := strings.ReplaceAll(relation.Kind, "_", " ")
		target := quoteNumber(relation.Text)
		if position, ok := r.Number[relation.InstrumentID]; ok {
			target = fmt.Sprint(position)
		}
		if target != "" {
			list = append(list, kind+" "+target)
		}
	}
	return model.JoinNames(list, "; ")
}
