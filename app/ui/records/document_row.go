package records

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// documentRows returns the list rows for files. renaming is the ID of the document whose rename
// form is open.
func (p *Pages) documentRows(ctx context.Context, files []model.File, list, renaming string) ([]page.DocumentRow, error) {
	uploaders, err := p.App.Files.Uploaders(ctx, vault.FileIDs(files))
	if err != nil {
		return nil, err
	}
	rows := make([]page.DocumentRow, 0, len(files))
	for _, f := range files {
		row := page.DocumentRow{File: f, Path: p.ViewerPath(f), List: list, Name: f.Filename, Renaming: renaming == strconv.FormatUint(f.ID, 10)}
		if by, there := uploaders[f.ID]; there {
			row.By = page.ActorInSentence(by)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// documentRowPart renders a row of a document list. If the query requests it, the row contains the
// rename form.
func (p *Pages) documentRowPart(r *page.Request) error {
	file, err := p.readDocument(r)
	if err != nil {
		return err
	}
	renaming := r.MayWrite() && r.URL.Query().Get("rename") != ""
	if !r.IsPart() {
		row := page.DocumentRow{File: file, List: p.PlacePath(page.DocumentPlace(file))}
		if renaming {
			return r.Redirect(row.Rename())
		}
		return r.Redirect(row.Home())
	}
	return p.renderRow(r, http.StatusOK, page.DocumentRow{File: file, Name: file.Filename, Renaming: renaming, Focus: !renaming})
}

// renderRow renders the row described by state. After a change, it also renders the other parts of
// the list that changed.
func (p *Pages) renderRow(r *page.Request, status int, state page.DocumentRow) error {
	list := page.WithQueryValue(p.CurrentAddress(r), "rename", "")
	rows, err := p.documentRows(r.Context(), []model.File{state.File}, list, "")
	if err != nil {
		return err
	}
	row := rows[0]
	row.Name, row.Renaming, row.Problem, row.Gone, row.Focus = state.Name, state.Renaming, state.Problem, state.Gone, state.Focus
	changed := r.Method == http.MethodPost && status == http.StatusOK
	switch {
	case row.AbstractID != 0:
		return p.renderAbstractRow(r, status, row, changed)
	case !changed:
		return p.RenderPart(r, status, "folder.html", "document-alone", row)
	}
	view := folderView{Row: &row, Again: true}
	if view.FolderView, err = p.App.Folders.View(r.Context(), row.FolderID); err != nil {
		return err
	}
	if row.Processing {
		r.W.Header().Set("HX-Trigger", "deedkeep:filed") // makes the list poll until processing has finished
	}
	return p.RenderPart(r, status, "folder.html", "row", view)
}

// renderAbstractRow is like renderRow, but for an abstract's list, whose rows are numbered.
func (p *Pages) renderAbstractRow(r *page.Request, status int, row page.DocumentRow, changed bool,
) error {
	record, err := p.App.Abstracts.Get(r.Context(), row.AbstractID)
	if err != nil {
		return err
	}
	row.Number, row.Total = slices.Index(record.Abstract.Files, row.ID)+1, len(record.Files)
	instruments, err := p.instrumentsByDocument(r.Context(), row.AbstractID)
	if err != nil {
		return err
	}
	row.Instruments = instruments[row.ID]
	if !changed {
		return p.RenderPart(r, status, "abstract.html", "document-alone", row)
	}
	l, err := p.listDocuments(r, record)
	if err != nil {
		return err
	}
	r.W.Header().Set("HX-Trigger", abstractChangedEvent)
	return p.RenderPart(r, status, "abstract.html", "documents-changes", documentChanges{documentList: l, Row: &row})
}
