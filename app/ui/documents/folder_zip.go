package documents

import (
	"net/http"

	"deedkeep/app/ui/page"
)

// maxZipDocuments is the maximum number of documents in a folder's ZIP file.
const maxZipDocuments = 20_000

// zipFolder sends a ZIP file of all documents in a folder and its subfolders.
func (p *Pages) zipFolder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	folder, err := p.Vault.Folders.Get(r.Context(), id)
	if err != nil {
		return err
	}
	under, err := p.Vault.Folders.Descendants(r.Context(), id, maxZipDocuments)
	if err != nil {
		return err
	}
	list := make([]zipEntry, 0, len(under))
	for _, one := range under {
		list = append(list, zipEntry{Folder: one.Path, File: one.File})
	}
	return p.sendZip(w, r, visitor, folder.Name, list)
}

// zipAbstract sends a ZIP file of all documents of an abstract.
func (p *Pages) zipAbstract(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := p.AbstractID(r)
	if err != nil {
		return err
	}
	filed, err := p.Vault.Abstracts.Get(r.Context(), id)
	if err != nil {
		return err
	}
	headings, err := p.Vault.Abstracts.Headings(r.Context(), filed.Abstract)
	if err != nil {
		return err
	}
	list := make([]zipEntry, 0, len(filed.Files))
	for _, file := range filed.Files {
		list = append(list, zipEntry{File: file})
	}
	return p.sendZip(w, r, visitor, headings[0], list)
}
