package records

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
	"deedkeep/app/vault/bulk"
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
	row.Undo, row.Saved = state.Undo, state.Saved
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

// The forms of a document work the same on every page. A script gets the row of the document in its
// list; other browsers return to the page that the form came from.

// readDocument returns the requested document.
func (p *Pages) readDocument(r *page.Request) (model.File, error) {
	return p.App.Files.Get(r.Context(), r.PathID)
}

// renameDocument renames a document. If the form contains a position, it also moves the document
// within its abstract.
func (p *Pages) renameDocument(r *page.Request) error {
	file, err := p.readDocument(r)
	if err != nil {
		return err
	}
	typed := r.PostForm.Get("name")
	name := file.CompleteFilename(typed)
	if name != "" {
		name = decode.Filename(name)
	}
	patch := model.FilePatch{Filename: model.Some(model.StringInput(name))}
	now, err := p.App.Files.Patch(r.Context(), r.Actor, file.ID, patch, vault.Match{})
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
		return p.showNameProblem(r, file, page.NameProblem{FileID: file.ID, Typed: typed, Problem: page.ErrorMessage(domainErr)})
	}
	if err != nil {
		return err
	}
	if to, err := strconv.Atoi(r.PostForm.Get("to")); err == nil && now.AbstractID != 0 {
		return p.renumberDocument(r, file, now, to)
	}
	return p.showRenamed(r, now, file.Version)
}

// showRenamed shows a renamed document. was is its version before the change.
func (p *Pages) showRenamed(r *page.Request, file model.File, was uint64) error {
	undo := p.EditUndo(r, vault.Edit{Type: vault.FileOps.Name, ID: file.ID, Version: file.Version}, was)
	return p.showChanged(r, file, "Renamed to “"+file.Filename+"”.", undo)
}

// showChanged shows a document after a change: a script gets its row, and other browsers return to
// the page that the form was sent from. If that page is a list, the browser scrolls to the row.
//
// undo is the address that undoes the change, or "".
func (p *Pages) showChanged(r *page.Request, file model.File, notice, undo string) error {
	if r.IsPart() {
		row := page.DocumentRow{File: file, Focus: true}
		if undo != "" {
			row.Saved = p.NewNotice(r, notice, undo, p.CurrentAddress(r))
		}
		return p.renderRow(r, http.StatusOK, row)
	}
	to := page.ReturnAddress(r, page.DocumentPath(file.ID))
	if u, err := url.Parse(to); err == nil && !page.IsUnderPath(u.Path, page.DocumentPath(file.ID)) && u.Fragment == "" {
		to = page.RowAddress(to, file.ID)
	}
	return p.RedirectWithUndo(r, to, notice, undo)
}

// showNameProblem shows the page that the form was sent from again, with the form, the submitted
// name, and the problem.
func (p *Pages) showNameProblem(r *page.Request, file model.File, rejected page.NameProblem) error {
	if r.IsPart() {
		return p.renderRow(r, rejected.Status(), page.DocumentRow{File: file, Renaming: true, Name: rejected.Typed, Problem: rejected.Problem})
	}
	from, err := url.Parse(page.ReturnAddress(r, page.DocumentPath(file.ID)))
	if err != nil {
		return err
	}
	shown, at := *r, page.DocumentPlace(file)
	shown.Request = r.Clone(r.Context())
	shown.Method, shown.URL = http.MethodGet, from
	switch {
	case from.Path == page.DocumentPath(file.ID):
		return p.showDocument(&shown, rejected)
	case at.Abstract != 0:
		from.Path = p.PlacePath(at)
		shown.PathID = at.Abstract
		return p.showAbstract(&shown, rejected)
	}
	from.Path = p.PlacePath(at)
	shown.PathID = at.Folder
	return p.showFolder(&shown, rejected)
}

// trashDocument moves a document to the trash. If the form was sent from the viewer, the user stays
// at the document's address, which then offers to restore the document.
func (p *Pages) trashDocument(r *page.Request) error {
	file, err := p.readDocument(r)
	if err != nil {
		return err
	}
	if err := p.App.Files.Trash(r.Context(), r.Actor, file.ID, vault.Match{}); err != nil {
		return err
	}
	undo := page.DocumentPath(file.ID) + "/restore"
	if r.IsPart() {
		return p.renderRow(r, http.StatusOK, page.DocumentRow{File: file, Gone: true, Undo: p.NewNotice(r, "", undo, "").Undo, Focus: true})
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, page.DocumentPath(file.ID)), "“"+file.Filename+"” is in the trash.", undo)
}

// restoreDocument restores a document from the trash.
func (p *Pages) restoreDocument(r *page.Request) error {
	file, err := p.App.Files.Restore(r.Context(), r.Actor, r.PathID, vault.Idempotency[model.File]{})
	if err != nil {
		return err
	}
	return p.showChanged(r, file, "“"+file.Filename+"” restored.", "")
}

// retryDocument retries processing a failed document.
func (p *Pages) retryDocument(r *page.Request) error {
	if _, err := p.App.Processing.Retry(r.Context(), r.Actor, r.PathID); err != nil {
		return err
	}
	file, err := p.readDocument(r)
	if err != nil {
		return err
	}
	return p.showChanged(r, file, "Reprocessing started.", "")
}

// maxSelected is the maximum number of documents that one form can select.
const maxSelected = 1000

// selectedDocuments returns the IDs of the documents selected in a form.
func selectedDocuments(r *page.Request) ([]uint64, error) {
	var ids []uint64
	for _, text := range r.PostForm["file"] {
		id, err := strconv.ParseUint(text, 10, 63)
		if err != nil || id == 0 {
			return nil, errs.InvalidField("file", "Select documents from the list.")
		}
		ids = append(ids, id)
	}
	compact, ok := parseIDs(r.PostForm.Get("files"))
	if !ok {
		return nil, errs.InvalidField("file", "Select documents from the list.")
	}
	ids = append(ids, compact...)
	if len(ids) > maxSelected {
		return nil, errs.InvalidField("file", "Select at most %s at a time.", page.FormatCount(maxSelected))
	}
	return ids, nil
}

// trashDocuments moves the selected documents to the trash.
func (p *Pages) trashDocuments(r *page.Request) error {
	ids, err := selectedDocuments(r)
	if err != nil {
		return err
	}
	address := page.ReturnAddress(r, "/vault")
	if len(ids) == 0 {
		return p.RedirectWithFailure(r, address, "No documents were selected.")
	}
	trashed, skipped, err := p.App.Files.TrashMany(r.Context(), r.Actor, ids)
	if err != nil {
		return err
	}
	done := bulk.Done{Type: vault.FileOps.Name}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if !slices.ContainsFunc(skipped, func(s vault.Skipped) bool { return s.File.ID == id }) {
			done.Trashed = append(done.Trashed, id)
		}
	}
	return p.RedirectWithUndo(r, address, bulkNotice(trashed, skipped, "moved to the trash"), p.bulkUndo(r, done))
}

// bulkNotice says how many documents were changed and which ones were skipped, with reasons.
func bulkNotice(n int, skipped []vault.Skipped, action string) string {
	var b strings.Builder
	if n > 0 || len(skipped) == 0 {
		fmt.Fprintf(&b, "%s %s. ", page.Plural(n, "document was", "documents were"), action)
	}
	for _, skip := range skipped {
		name := skip.File.Filename
		if name == "" {
			name = fmt.Sprintf("document %d", skip.File.ID)
		}
		fmt.Fprintf(&b, "“%s” was skipped: %s ", name, skip.Reason)
	}
	return strings.TrimSpace(b.String())
}
