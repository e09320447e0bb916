package records

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// The forms of a document work the same on every page. A script gets the row of the document in its
// list; other browsers return to the page that the form came from.

// readDocument returns the requested document.
func (p *Pages) readDocument(r *http.Request) (model.File, error) {
	id, err := page.PathNumber(r)
	if err != nil {
		return model.File{}, err
	}
	return p.Vault.Files.Get(r.Context(), id)
}

// redirectToDocument redirects to the page that the form was sent from. If that page is a list, the
// browser scrolls to the document's row.
func (p *Pages) redirectToDocument(w http.ResponseWriter, r *http.Request, id uint64, notice, undo string) error {
	to := page.ReturnAddress(r, page.DocumentPath(id))
	if u, err := url.Parse(to); err == nil && !page.IsUnderPath(u.Path, page.DocumentPath(id)) && u.Fragment == "" {
		to = page.RowAddress(to, id)
	}
	return p.RedirectWithUndo(w, r, to, notice, undo)
}

// renameDocument renames a document. If the form contains a position, it also moves the document
// within its abstract.
func (p *Pages) renameDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
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
	now, err := p.Vault.Files.Patch(r.Context(), visitor.Actor, file.ID, patch, vault.Match{})
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
		return p.showNameProblem(w, r, visitor, file, page.NameProblem{FileID: file.ID, Typed: typed, Problem: page.ErrorMessage(domainErr)})
	}
	if err != nil {
		return err
	}
	if to, err := strconv.Atoi(r.PostForm.Get("to")); err == nil && now.AbstractID != 0 {
		return p.renumberDocument(w, r, visitor, now, to)
	}
	return p.showRenamed(w, r, visitor, now)
}

func (p *Pages) showRenamed(w http.ResponseWriter, r *http.Request, visitor page.Visitor, file model.File) error {
	if page.IsPartRequest(r) {
		return p.renderRow(w, r, visitor, http.StatusOK, page.DocumentRow{File: file, Focus: true})
	}
	return p.redirectToDocument(w, r, file.ID, "It is called “"+file.Filename+"” now.", "")
}

// showNameProblem shows the page that the form was sent from again, with the form, the submitted
// name, and the problem.
func (p *Pages) showNameProblem(w http.ResponseWriter, r *http.Request, visitor page.Visitor, file model.File, rejected page.NameProblem) error {
	if page.IsPartRequest(r) {
		return p.renderRow(w, r, visitor, rejected.Status(), page.DocumentRow{File: file, Renaming: true, Name: rejected.Typed, Problem: rejected.Problem})
	}
	from, err := url.Parse(page.ReturnAddress(r, page.DocumentPath(file.ID)))
	if err != nil {
		return err
	}
	shown, at := r.Clone(r.Context()), page.DocumentPlace(file)
	shown.Method, shown.URL = http.MethodGet, from
	switch {
	case from.Path == page.DocumentPath(file.ID):
		return p.showDocument(w, shown, visitor, rejected)
	case at.Abstract != 0:
		from.Path = p.PlacePath(at)
		shown.SetPathValue("id", strings.TrimPrefix(p.FormatPlace(at), "abstract:"))
		return p.showAbstract(w, shown, visitor, rejected)
	}
	from.Path = p.PlacePath(at)
	return p.showFolder(w, shown, visitor, at.Folder, rejected)
}

// trashDocument moves a document to the trash. If the form was sent from the viewer, the user stays
// at the document's address, which then offers to restore the document.
func (p *Pages) trashDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	file, err := p.readDocument(r)
	if err != nil {
		return err
	}
	if err := p.Vault.Files.Trash(r.Context(), visitor.Actor, file.ID, vault.Match{}); err != nil {
		return err
	}
	if page.IsPartRequest(r) {
		return p.renderRow(w, r, visitor, http.StatusOK, page.DocumentRow{File: file, Gone: true, Focus: true})
	}
	return p.RedirectWithUndo(w, r, page.ReturnAddress(r, page.DocumentPath(file.ID)), "“"+file.Filename+"” is in the trash.", page.DocumentPath(file.ID)+"/restore")
}

// restoreDocument restores a document from the trash.
func (p *Pages) restoreDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Restore(r.Context(), visitor.Actor, id, vault.Idempotency[model.File]{})
	if err != nil {
		return err
	}
	if page.IsPartRequest(r) {
		return p.renderRow(w, r, visitor, http.StatusOK, page.DocumentRow{File: file, Focus: true})
	}
	return p.redirectToDocument(w, r, id, "“"+file.Filename+"” is back.", "")
}

// retryDocument retries processing a failed document.
func (p *Pages) retryDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	if _, err := p.Vault.Processing.Retry(r.Context(), visitor.Actor, id); err != nil {
		return err
	}
	if !page.IsPartRequest(r) {
		return p.redirectToDocument(w, r, id, "It is processed again.", "")
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return p.renderRow(w, r, visitor, http.StatusOK, page.DocumentRow{File: file, Focus: true})
}
