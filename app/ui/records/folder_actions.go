package records

import (
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
func (p *Pages) showFolderProblem(r *page.Request, id uint64, form string, err error, fill func(*folderView)) error {
	_, problems := page.FormProblems(err)
	if problems == nil {
		return err
	}
	view, err := p.newFolderView(r, id, form)
	if err != nil {
		return err
	}
	view.Open, view.Problems = form, problems
	fill(&view)
	return p.renderFolder(r, http.StatusUnprocessableEntity, view)
}

// createFolder creates a folder in the parent folder that the form specifies.
func (p *Pages) createFolder(r *page.Request) error {
	parent, err := formFolderID(r, "parent")
	if err != nil {
		return err
	}
	draft := model.FolderDraft{Name: model.StringInput(r.PostForm.Get("name")), ParentID: model.NewIDInput(parent)}
	created, err := p.Vault.Folders.Create(r.Context(), r.Actor, draft, vault.Idempotency[model.Folder]{})
	if err != nil {
		return p.showFolderProblem(r, parent, "new", err, func(s *folderView) { s.NewName = r.PostForm.Get("name") })
	}
	return p.RedirectWithNotice(r, page.FolderPath(created.ID), "Folder created.")
}

// formFolderID returns the folder ID in the named form field, or 0 if the field is empty.
func formFolderID(r *page.Request, name string) (uint64, error) {
	text := r.PostForm.Get(name)
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errs.InvalidField(name, "Select a folder from the list.")
	}
	return id, nil
}

func (p *Pages) renameFolder(r *page.Request) error {
	patch := model.FolderPatch{Name: model.Some(model.StringInput(r.PostForm.Get("name")))}
	if _, err := p.Vault.Folders.Patch(r.Context(), r.Actor, r.PathID, patch, vault.Match{}); err != nil {
		return p.showFolderProblem(r, r.PathID, "rename", err, func(s *folderView) { s.OwnName = r.PostForm.Get("name") })
	}
	return p.RedirectWithNotice(r, page.FolderPath(r.PathID), "Folder renamed.")
}

func (p *Pages) moveFolder(r *page.Request) error {
	parent, err := formFolderID(r, "parent")
	if err != nil {
		return err
	}
	before, err := p.Vault.Folders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	patch := model.FolderPatch{ParentID: model.Some(model.NewIDInput(parent))}
	moved, err := p.Vault.Folders.Patch(r.Context(), r.Actor, r.PathID, patch, vault.Match{})
	if err != nil {
		return p.showFolderProblem(r, r.PathID, "move", err, func(*folderView) {})
	}
	undo := ""
	if before.ParentID != moved.ParentID {
		undo = page.UndoAddress(page.FolderPath(r.PathID)+"/move", url.Values{"parent": {strconv.FormatUint(before.ParentID, 10)}})
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, page.FolderPath(r.PathID)), fmt.Sprintf("Folder “%s” moved.", moved.Name), undo)
}

func (p *Pages) removeFolder(r *page.Request) error {
	folder, err := p.Vault.Folders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if err := p.Vault.Folders.Remove(r.Context(), r.Actor, r.PathID, vault.Match{}); err != nil {
		return p.showFolderProblem(r, r.PathID, "remove", err, func(*folderView) {})
	}
	return p.RedirectWithNotice(r, page.FolderOrVaultPath(folder.ParentID), fmt.Sprintf("Folder “%s” removed.", folder.Name))
}
