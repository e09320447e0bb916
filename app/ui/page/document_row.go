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
	Path     string // address of the document's viewer page
	List     string // the address of the list
	By       string // name of the uploader; "" if the audit log doesn't contain it
	Number   int    // position in its abstract, from 1; 0 in other lists
	Total    int    // number of documents in the abstract
	Name     string // file name shown in the rename form
	Renaming bool
	Problem  string
	Gone     bool     // the document was just moved to the trash
	Undo     UndoForm // restores it
	Saved    *Notice  // that the document was renamed; nil if it is only shown
	Focus    bool
	// Instruments are the instruments in the document, for documents of abstracts.
	Instruments []InstrumentLine
}

// Home returns the address of the list, with the row's anchor.
func (d DocumentRow) Home() string { return RowAddress(d.List, d.ID) }

// Rename returns the address of the list with the row's rename form open.
func (d DocumentRow) Rename() string {
	return RowAddress(WithQueryValue(d.List, "rename", strconv.FormatUint(d.ID, 10)), d.ID)
}

// RowAddress returns the address of a list, with the anchor of the document's row.
func RowAddress(list string, id uint64) string { return fmt.Sprintf("%s#document-%d", list, id) }

// NameProblem describes a rejected document name. In the zero value, no name was rejected.
type NameProblem struct {
	FileID         uint64
	Typed, Problem string
}

// Status returns the HTTP status for the page that shows the problem.
func (n NameProblem) Status() int {
	if n.FileID == 0 {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// ApplyTo opens the rename form in the row of the document and shows the problem there.
func (n NameProblem) ApplyTo(rows []DocumentRow) {
	if i := slices.IndexFunc(rows, func(d DocumentRow) bool { return d.ID == n.FileID }); i >= 0 {
		rows[i].Renaming, rows[i].Name, rows[i].Problem = true, n.Typed, n.Problem
	}
}

// DocumentsPerPage is the number of documents shown on one page of an abstract's document list.
const DocumentsPerPage = 100
