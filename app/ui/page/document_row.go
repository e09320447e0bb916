package page

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"deedkeep/app/model"
)

// DocumentRow is one document in a list of documents.
type DocumentRow struct {
	model.File
	Path     string // the viewer's page
	List     string // the address of the list
	By       string // who uploaded it; "" if the audit log doesn't say
	Number   int    // position in its abstract, from 1; 0 in other lists
	Total    int    // number of documents in the abstract
	Name     string // content of the form that renames it
	Renaming bool
	Problem  string
	Gone     bool // just moved to the trash
	Focus    bool
}

// Home returns the address of the row in its list.
func (d DocumentRow) Home() string { return RowAddress(d.List, d.ID) }

// Rename returns the address of the list with the rename form of the row open.
func (d DocumentRow) Rename() string {
	return RowAddress(WithQueryValue(d.List, "rename", strconv.FormatUint(d.ID, 10)), d.ID)
}

// RowAddress returns the address of a document's row in a list.
func RowAddress(list string, id uint64) string { return fmt.Sprintf("%s#document-%d", list, id) }

// NameProblem is a rejected new name of a document. The zero value means that there is none.
type NameProblem struct {
	FileID         uint64
	Typed, Problem string
}

// Status returns the HTTP status of the page that shows the problem.
func (n NameProblem) Status() int {
	if n.FileID == 0 {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// ApplyTo opens the rename form of the row with that document and shows the problem in it.
func (n NameProblem) ApplyTo(rows []DocumentRow) {
	if i := slices.IndexFunc(rows, func(d DocumentRow) bool { return d.ID == n.FileID }); i >= 0 {
		rows[i].Renaming, rows[i].Name, rows[i].Problem = true, n.Typed, n.Problem
	}
}

// DocumentsPerPage is the number of documents on a page of an abstract.
const DocumentsPerPage = 100
