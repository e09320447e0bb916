package vault

import (
	"context"
	"encoding/json"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Heading is what people know an abstract by: title.Abstract.Heading, else the first
// text among the fields of its template, else its opaque id, as addresses have it.
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

// Headings are those of a list, in its order, with the template of each.
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

// heading reads the template too, which is worth no refusal.
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

// place is what people know the place of a document by: the heading of its abstract
// or the name of its folder; "" where it has neither.
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

// placed says where documents are. A place that cannot be read is worth no refusal.
func (v *Vault) WithLocations(t *store.Tx, files []model.File) (list []Document) {
	for _, f := range files {
		d := Document{File: f}
		if place, err := v.Location(t, f); err == nil {
			d.Location = place
		}
		list = append(list, d)
	}
	return list
}

// Document is a document, and where it is filed.
type Document struct {
	model.File
	Location string // the heading of its abstract or the name of its folder; "" where it has neither
}
