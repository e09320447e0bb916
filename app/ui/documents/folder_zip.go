package documents

import (
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// maxZipDocuments is the maximum number of documents in a folder's ZIP file.
const maxZipDocuments = 20_000

// zipFolder sends a ZIP file of all documents in a folder and its subfolders.
func (p *Pages) zipFolder(r *page.Request) error {
	folder, err := p.App.Folders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	under, err := p.App.Folders.Descendants(r.Context(), r.PathID, maxZipDocuments)
	if err != nil {
		return err
	}
	return p.sendZip(r, folder.Name, under)
}

// zipAbstract sends a ZIP file of all documents of an abstract.
func (p *Pages) zipAbstract(r *page.Request) error {
	record, heading, err := p.App.Abstracts.WithHeading(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	list := make([]vault.Descendant, 0, len(record.Files))
	for _, file := range record.Files {
		list = append(list, vault.Descendant{File: file})
	}
	return p.sendZip(r, heading, list)
}
