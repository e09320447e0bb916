package vault

import (
	"context"
	"encoding/json"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Heading returns the display name of an abstract: model.Abstract.Heading if it is not
// empty, or else the first custom field that contains text, or else "Abstract" and the
// opaque ID.
func (v *Vault) Heading(a model.Abstract, template model.Template) string {
	if heading := a.Heading(); heading != "" {
		return heading
	}
	for _, def := range template.Fields {
		var text string
		if json.Unmarshal(a.Custom[def.Key], &text) == nil && text != "" {
			return text
		}
	}
	return "Abstract " + v.secrets.IDs("abstracts").Encode(a.ID)
}

// Headings returns the headings of abstracts, in the same order.
func (a *Abstracts) Headings(ctx context.Context, list ...model.Abstract) (headings []string, err error) {
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		headings = make([]string, 0, len(list))
		for _, abstract := range list {
			headings = append(headings, a.v.HeadingIn(t, abstract))
		}
		return ctx.Err()
	})
	return headings, err
}

// HeadingIn returns the heading of an abstract. It ignores custom fields if the template
// can't be read.
func (v *Vault) HeadingIn(t *store.Tx, a model.Abstract) string {
	if a.Heading() != "" {
		return v.Heading(a, model.Template{})
	}
	template, err := t.Template(a.TemplateID)
	if err != nil {
		template = model.Template{}
	}
	return v.Heading(a, template)
}

// Location returns the heading of the abstract or the name of the folder that contains a
// document. It returns "" if the document is in neither.
func (v *Vault) Location(t *store.Tx, file model.File) (string, error) {
	switch {
	case file.AbstractID != 0:
		abstract, err := t.Abstract(file.AbstractID)
		if err != nil {
			return "", err
		}
		return v.HeadingIn(t, abstract), nil
	case file.FolderID != 0:
		folder, err := t.Folder(file.FolderID)
		return folder.Name, err
	}
	return "", nil
}

// WithLocations returns documents with their locations. If a location can't be read, it
// is "".
func (v *Vault) WithLocations(t *store.Tx, files []model.File) (list []Document) {
	for _, f := range files {
		d := Document{File: f}
		if location, err := v.Location(t, f); err == nil {
			d.Location = location
		}
		list = append(list, d)
	}
	return list
}

// Document is a document with its location.
type Document struct {
	model.File
	Location string // heading of its abstract or name of its folder, or ""
}
