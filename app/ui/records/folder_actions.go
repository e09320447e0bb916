package records

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// showFolderProblem shows the folder page with the form and the problems that err reports. If err
// is not about the form, it is returned.
func (p *Pages) showFolderProblem(w http.ResponseWriter, r *http.Request, visitor page.Visitor, id uint64, form string, err error, fill func(*folderView)) error {
	var domainErr *errs.Error
	if !errors.As(err, &domainErr) || domainErr.Kind != errs.Invalid && domainErr.Kind != errs.Conflict {
		return err
	}
	view, viewErr := p.newFolderView(r, id, form)
	if viewErr != nil {
		return viewErr
	}
	view.Open, view.Problems = form, page.FieldProblems(domainErr.Fields)
	if len(view.Problems) == 0 {
		view.Problems = map[string]string{"": page.ErrorMessage(domainErr)}
	}
	fill(&view)
	return p.renderFolder(w, r, visitor, http.StatusUnprocessableEntity, view)
}

// createFolder creates a folder in the parent folder that the form specifies.
func (p *Pages) createFolder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	parent, err := formFolderID(r, "parent")
	if err != nil {
		return err
	}
	draft := model.FolderDraft{Name: model.StringInput(r.PostForm.Get("name")), ParentID: folderNumber(parent)}
	created, err := p.Vault.Folders.Create(r.Context(), visitor.Actor, draft, vault.Idempotency[model.Folder]{})
	if err != nil {
		return p.showFolderProblem(w, r, visitor, parent, "new", err, func(s *folderView) { s.NewName = r.PostForm.Get("name") })
	}
	return p.RedirectWithNotice(w, r, page.FolderPath(created.ID), "The folder is made.")
}

func folderNumber(id uint64) model.IDInput {
	return model.IDInput{Present: id != 0, Valid: true, Value: int64(id)} // #nosec G115 -- read from 63 bits
}

// formFolderID returns the folder ID in the named form field, or 0 if the field is empty.
func formFolderID(r *http.Request, name string) (uint64, error) {
	text := r.PostForm.Get(name)
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errs.InvalidField(name, "Choose a folder of the list.")
	}
	return id, nil
}

func (p *Pages) renameFolder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	patch := model.FolderPatch{Name: model.Some(model.StringInput(r.PostForm.Get("name")))}
	if _, err := p.Vault.Folders.Patch(r.Context(), visitor.Actor, id, patch, vault.Match{}); err != nil {
		return p.showFolderProblem(w, r, visitor, id, "rename", err, func(s *folderView) { s.OwnName = r.PostForm.Get("name") })
	}
	return p.RedirectWithNotice(w, r, page.FolderPath(id), "Renamed.")
}

func (p *Pages) moveFolder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	parent, err := formFolderID(r, "parent")
	if err != nil {
		return err
	}
	before, err := p.Vault.Folders.Get(r.Context(), id)
	if err != nil {
		return err
	}
	patch := model.FolderPatch{ParentID: model.Some(folderNumber(parent))}
	moved, err := p.Vault.Folders.Patch(r.Context(), visitor.Actor, id, patch, vault.Match{})
	if err != nil {
		return p.showFolderProblem(w, r, visitor, id, "move", err, func(*folderView) {})
	}
	undo := ""
	if before.ParentID != moved.ParentID {
		undo = page.UndoAddress(page.FolderPath(id)+"/move", url.Values{"parent": {strconv.FormatUint(before.ParentID, 10)}})
	}
	return p.RedirectWithUndo(w, r, page.ReturnAddress(r, page.FolderPath(id)), fmt.Sprintf("“%s” was moved.", moved.Name), undo)
}

func (p *Pages) removeFolder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	folder, err := p.Vault.Folders.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if err := p.Vault.Folders.Remove(r.Context(), visitor.Actor, id, vault.Match{}); err != nil {
		return p.showFolderProblem(w, r, visitor, id, "remove", err, func(*folderView) {})
	}
	return p.RedirectWithNotice(w, r, page.FolderOrVaultPath(folder.ParentID), fmt.Sprintf("The folder “%s” is removed.", folder.Name))
}
