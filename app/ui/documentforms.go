package ui

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// The forms of a document are the same wherever it is shown: what they do, and what
// the log says of it, does not depend on the page. A script gets the row of the list
// that the document is in; anyone else the page that the form came from.

// documentOf reads the document of the address.
func (p *pages) documentOf(r *http.Request) (model.File, error) {
	id, err := number(r)
	if err != nil {
		return model.File{}, err
	}
	return p.Vault.Files.Get(r.Context(), id)
}

// seeDocument leads to the page that a form came from, where that is a list to the
// row of the document.
func (p *pages) seeDocument(w http.ResponseWriter, r *http.Request, id uint64, notice, undo string) error {
	to := back(r, documentPath(id))
	if u, err := url.Parse(to); err == nil && !under(u.Path, documentPath(id)) && u.Fragment == "" {
		to = atRow(to, id)
	}
	return p.seeUndo(w, r, to, notice, undo)
}

// renameDocument gives a document another name, and another number among those of its
// abstract where the form has one.
func (p *pages) renameDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	file, err := p.documentOf(r)
	if err != nil {
		return err
	}
	typed := r.PostForm.Get("name")
	name := file.CompleteFilename(typed)
	if name != "" {
		name = decode.Filename(name)
	}
	patch := model.FilePatch{Filename: model.Some(model.StringInput(name))}
	now, err := p.Vault.Files.Patch(r.Context(), who.Actor, file.ID, patch, vault.Match{})
	if named, ok := errors.AsType[*errs.Error](err); ok && named.Kind == errs.Invalid {
		return p.refuseName(w, r, who, file, nameRefusal{file.ID, typed, plainly(named.Message)})
	}
	if err != nil {
		return err
	}
	if to, err := strconv.Atoi(r.PostForm.Get("to")); err == nil && now.AbstractID != 0 {
		return p.moveDocument(w, r, who, now, to)
	}
	return p.sayRenamed(w, r, who, now)
}

func (p *pages) sayRenamed(w http.ResponseWriter, r *http.Request, who visitor, file model.File) error {
	if isPart(r) {
		return p.sendRow(w, r, who, http.StatusOK, documentRow{File: file, Focus: true})
	}
	return p.seeDocument(w, r, file.ID, "It is called “"+file.Filename+"” now.", "")
}

// refuseName shows the form again with what was typed and what is wrong with it, on
// the page that it came from.
func (p *pages) refuseName(w http.ResponseWriter, r *http.Request, who visitor, file model.File, refused nameRefusal) error {
	if isPart(r) {
		return p.sendRow(w, r, who, refused.status(), documentRow{File: file, Renaming: true, Name: refused.typed, Problem: refused.problem})
	}
	from, err := url.Parse(back(r, documentPath(file.ID)))
	if err != nil {
		return err
	}
	shown, at := r.Clone(r.Context()), placeOf(file)
	shown.Method, shown.URL = http.MethodGet, from
	switch {
	case from.Path == documentPath(file.ID):
		return p.showDocument(w, shown, who, refused)
	case at.abstract != 0:
		from.Path = p.placePath(at)
		shown.SetPathValue("id", strings.TrimPrefix(p.called(at), "abstract:"))
		return p.showAbstract(w, shown, who, refused)
	}
	from.Path = p.placePath(at)
	return p.showFolder(w, shown, who, at.folder, refused)
}

// trashDocument moves a document to the trash. Who comes from the document stays at
// its address, which then says so and takes it back.
func (p *pages) trashDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	file, err := p.documentOf(r)
	if err != nil {
		return err
	}
	if err := p.Vault.Files.Trash(r.Context(), who.Actor, file.ID, vault.Match{}); err != nil {
		return err
	}
	if isPart(r) {
		return p.sendRow(w, r, who, http.StatusOK, documentRow{File: file, Gone: true, Focus: true})
	}
	return p.seeUndo(w, r, back(r, documentPath(file.ID)), "“"+file.Filename+"” is in the trash.", documentPath(file.ID)+"/restore")
}

// restoreDocument takes a document out of the trash, back to its place.
func (p *pages) restoreDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Restore(r.Context(), who.Actor, id, vault.Keep[model.File]{})
	if err != nil {
		return err
	}
	if isPart(r) {
		return p.sendRow(w, r, who, http.StatusOK, documentRow{File: file, Focus: true})
	}
	return p.seeDocument(w, r, id, "“"+file.Filename+"” is back.", "")
}

// retryDocument has a document processed again whose processing failed.
func (p *pages) retryDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	if _, err := p.Vault.Files.Retry(r.Context(), who.Actor, id); err != nil {
		return err
	}
	if !isPart(r) {
		return p.seeDocument(w, r, id, "It is processed again.", "")
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return p.sendRow(w, r, who, http.StatusOK, documentRow{File: file, Focus: true})
}
