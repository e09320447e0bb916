package page

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"deedkeep/app/model"
)

// documentRowPart is one document in the list of its place.
type DocumentRow struct {
	model.File
	Path     string // of the page that shows the document
	List     string // the address of the list, to come back to
	By       string // who filed it; "" where the log does not tell
	Number   int    // among those of its abstract, from 1; 0 elsewhere
	Total    int    // of those
	Name     string // in the form that renames it
	Renaming bool
	Problem  string
	Gone     bool // it was just moved to the trash
	Focus    bool
}

// Home is the row on the page of the list.
func (d DocumentRow) Home() string { return RowAddress(d.List, d.ID) }

// Rename is the page of the list with the form that renames the document.
func (d DocumentRow) Rename() string {
	return RowAddress(WithQueryValue(d.List, "rename", strconv.FormatUint(d.ID, 10)), d.ID)
}

func RowAddress(list string, id uint64) string { return fmt.Sprintf("%s#document-%d", list, id) }

// NameProblem is a name that a document was not given; the zero one is none.
type NameProblem struct {
	FileID         uint64
	Typed, Problem string
}

// Status is that of the page which shows it.
func (n NameProblem) Status() int {
	if n.FileID == 0 {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// ApplyTo puts it into the row that it is about.
func (n NameProblem) ApplyTo(rows []DocumentRow) {
	if i := slices.IndexFunc(rows, func(d DocumentRow) bool { return d.ID == n.FileID }); i >= 0 {
		rows[i].Renaming, rows[i].Name, rows[i].Problem = true, n.Typed, n.Problem
	}
}

// DocumentsPerPage is how many documents of an abstract are shown at a time.
const DocumentsPerPage = 100
