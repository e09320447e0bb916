package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/model"
)

// documentRow is one document in the list of its place.
type documentRow struct {
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
func (d documentRow) Home() string { return atRow(d.List, d.ID) }

// Rename is the page of the list with the form that renames the document.
func (d documentRow) Rename() string {
	return atRow(withValue(d.List, "rename", strconv.FormatUint(d.ID, 10)), d.ID)
}

func atRow(list string, id uint64) string { return fmt.Sprintf("%s#document-%d", list, id) }

// withValue is an address with one value of its query set, or without it where it is "".
func withValue(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	query.Del(name)
	if value != "" {
		query.Set(name, value)
	}
	u.RawQuery, u.Fragment = query.Encode(), ""
	return u.String()
}

// documentRows are rows of a list, of which the address may ask for the form of one.
func (p *pages) documentRows(ctx context.Context, files []model.File, list, renaming string) ([]documentRow, error) {
	numbers := make([]uint64, 0, len(files))
	for _, f := range files {
		numbers = append(numbers, f.ID)
	}
	who, err := p.Vault.Files.Filers(ctx, numbers)
	if err != nil {
		return nil, err
	}
	rows := make([]documentRow, 0, len(files))
	for _, f := range files {
		row := documentRow{File: f, Path: p.reading(f), List: list, Name: f.Filename, Renaming: renaming == strconv.FormatUint(f.ID, 10)}
		if by, there := who[f.ID]; there {
			row.By = byWhom(by)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// nameRefusal is a name that a document was not given; the zero one is none.
type nameRefusal struct {
	file           uint64
	typed, problem string
}

// status is that of the page which shows it.
func (n nameRefusal) status() int {
	if n.file == 0 {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// in puts it into the row that it is about.
func (n nameRefusal) in(rows []documentRow) {
	if i := slices.IndexFunc(rows, func(d documentRow) bool { return d.ID == n.file }); i >= 0 {
		rows[i].Renaming, rows[i].Name, rows[i].Problem = true, n.typed, n.problem
	}
}

// documentRow shows a row of the list that the document is in, perhaps with the form
// that renames it.
func (p *pages) documentRow(w http.ResponseWriter, r *http.Request, who visitor) error {
	file, err := p.documentOf(r)
	if err != nil {
		return err
	}
	renaming := who.MayWrite() && r.URL.Query().Get("rename") != ""
	if !isPart(r) {
		row := documentRow{File: file, List: p.placePath(placeOf(file))}
		if renaming {
			redirect(w, r, row.Rename())
			return nil
		}
		redirect(w, r, row.Home())
		return nil
	}
	return p.sendRow(w, r, who, http.StatusOK, documentRow{File: file, Name: file.Filename, Renaming: renaming, Focus: !renaming})
}

// sendRow sends a row that says what it came to and, after a change, what that made of
// the list.
func (p *pages) sendRow(w http.ResponseWriter, r *http.Request, who visitor, status int, said documentRow) error {
	list := withValue(p.looksAt(r), "rename", "")
	rows, err := p.documentRows(r.Context(), []model.File{said.File}, list, "")
	if err != nil {
		return err
	}
	row := rows[0]
	row.Name, row.Renaming, row.Problem, row.Gone, row.Focus = said.Name, said.Renaming, said.Problem, said.Gone, said.Focus
	changed := r.Method == http.MethodPost && status == http.StatusOK
	switch {
	case row.AbstractID != 0:
		return p.sendAbstractRow(w, r, who, status, row, changed)
	case !changed:
		return p.part(w, r, who, status, "folder.html", "document-alone", row)
	}
	sheet := folderSheet{Row: &row, Again: true}
	if sheet.Shelf, err = p.Vault.Folders.Shelf(r.Context(), row.FolderID); err != nil {
		return err
	}
	if row.Processing {
		w.Header().Set("HX-Trigger", "deedkeep:filed") // the list looks after it from now on
	}
	return p.part(w, r, who, status, "folder.html", "row", sheet)
}

// sendAbstractRow is sendRow where the documents have numbers.
func (p *pages) sendAbstractRow(w http.ResponseWriter, r *http.Request, who visitor, status int, row documentRow, changed bool) error {
	filed, err := p.Vault.Abstracts.Get(r.Context(), row.AbstractID)
	if err != nil {
		return err
	}
	row.Number, row.Total = slices.Index(filed.Abstract.Files, row.ID)+1, len(filed.Files)
	if !changed {
		return p.part(w, r, who, status, "abstract.html", "document-alone", row)
	}
	l, err := p.documentList(r, filed)
	if err != nil {
		return err
	}
	w.Header().Set("HX-Trigger", changedEvent)
	return p.part(w, r, who, status, "abstract.html", "documents-changes", documentChanges{documentList: l, Row: &row})
}
