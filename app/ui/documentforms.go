package ui

import (
	"net/http"
	"path"
	"strings"

	"deedkeep/app/body"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// renameDocument gives a document another name. Its extension says what it is and
// stays, whether it was typed or not.
func (p *pages) renameDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(r.PostForm.Get("name"))
	if name != "" && !strings.EqualFold(path.Ext(name), path.Ext(file.Filename)) {
		name += path.Ext(file.Filename)
	}
	patch := title.FilePatch{Filename: title.Sent[title.Input]{Present: true, Value: title.Given(body.Filename(name))}}
	if name == "" {
		patch.Filename.Value = title.Given("")
	}
	if _, err := p.Vault.Files.Patch(r.Context(), who.Actor, id, patch, vault.Match{}); err != nil {
		return err
	}
	return p.see(w, r, back(r, documentPath(id)), "Renamed.")
}

// trashDocument moves a document to the trash. Who comes from the document stays at
// its address, which then says so and takes it back.
func (p *pages) trashDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if err := p.Vault.Files.Trash(r.Context(), who.Actor, id, vault.Match{}); err != nil {
		return err
	}
	return p.see(w, r, back(r, documentPath(id)), "“"+file.Filename+"” was moved to the trash.")
}

// restoreDocument takes a document out of the trash.
func (p *pages) restoreDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Restore(r.Context(), who.Actor, id, vault.Keep[title.File]{})
	if err != nil {
		return err
	}
	return p.see(w, r, back(r, documentPath(id)), "“"+file.Filename+"” is back.")
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
	return p.see(w, r, back(r, documentPath(id)), "It is processed again.")
}
