package vault

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// RecordName is the display name of a record in the audit log.
type RecordName struct {
	Text string
	Live bool // whether the record exists and is not in the trash
}

// documentTypeRef is the type of document types in record references.
const documentTypeRef = "document_type"

// Names returns the display names of records, by reference such as "abstract:7". It omits
// purged records and records whose type has no names.
func (v *Vault) Names(ctx context.Context, records []string) (map[string]RecordName, error) {
	names := map[string]RecordName{}
	err := v.Store.View(ctx, func(t *store.Tx) error {
		for _, record := range records {
			recordType, id, isRef := model.ParseRef(record)
			if _, known := names[record]; known || !isRef {
				continue
			}
			if name, ok := v.recordName(t, recordType, id); ok {
				names[record] = name
			}
		}
		return ctx.Err()
	})
	return names, err
}

// recordName returns the display name of one record. ok is false if the record is
// damaged.
func (v *Vault) recordName(t *store.Tx, recordType string, id uint64) (name RecordName, ok bool) {
	var in *model.Trashed
	var err error
	switch recordType {
	case AbstractOps.Name:
		var a model.Abstract
		if a, err = t.AbstractIncludingTrash(id); err == nil {
			name.Text, in = v.HeadingIn(t, a), a.Trashed
		}
	case OrderOps.Name:
		var o model.Order
		o, err = t.OrderIncludingTrash(id)
		name.Text, in = o.Number, o.Trashed
	case "file":
		var f model.File
		f, err = t.FileIncludingTrash(id)
		name.Text, in = f.Filename, f.Trashed
	case InstrumentType:
		name.Text, in, err = instrumentName(t, id)
	case noteOps.Name:
		var n model.Note
		n, err = t.NoteIncludingTrash(id)
		name.Text, in = n.Heading(), n.Trashed
	case "folder":
		var f model.Folder
		f, err = t.Folder(id)
		name.Text = f.Name
	default:
		name.Text, ok, err = definitionName(t, recordType, id)
		if !ok {
			return name, false
		}
	}
	name.Live = err == nil && in == nil
	return name, err == nil
}

// definitionName returns the name of a definition, a user, or a key. ok is false for other records.
func definitionName(t *store.Tx, recordType string, id uint64) (name string, ok bool, err error) {
	switch recordType {
	case documentTypeRef:
		types, err := t.DocumentTypes()
		kind, _ := types.ByID(id)
		return kind.Name, true, err
	case "template":
		d, err := t.Template(id)
		return d.Name, true, err
	case "user":
		u, err := t.User(id)
		if u.FullName != "" {
			return u.FullName + " (" + u.Name + ")", true, err
		}
		return u.Name, true, err
	case "key":
		k, err := t.Key(id)
		return k.Name, true, err
	case "view":
		views, err := t.ListViews()
		n := slices.IndexFunc(views, func(v model.View) bool { return v.ID == id })
		if n < 0 {
			return "", true, err
		}
		return views[n].Name, true, err
	}
	return "", false, nil
}

// loggedName returns the display name of a record for the audit log, or "".
func (v *Vault) loggedName(t *store.Tx, record string) string {
	recordType, id, ok := model.ParseRef(record)
	if !ok {
		return ""
	}
	name, _ := v.recordName(t, recordType, id)
	return name.Text
}

// describer returns the custom fields of the abstract or order that an audit log entry is about, or the
// type of the instrument. They are only needed for words, so a record that can't be read has none.
func describer(t *store.Tx, e model.Event) (d model.Describer) {
	recordType, id, ok := model.ParseRef(e.Record)
	if !ok {
		return model.Describer{}
	}
	var err error
	switch recordType {
	case OrderOps.Name:
		d.Custom, err = t.OrderFields()
	case AbstractOps.Name:
		var a model.Abstract
		if a, err = t.AbstractIncludingTrash(id); err != nil || a.TemplateID == 0 {
			return model.Describer{}
		}
		var template model.Template
		template, err = t.Template(a.TemplateID)
		d.Custom = template.Fields
	case InstrumentType:
		d.Type, err = loggedType(t, id, e)
	}
	if err != nil {
		return model.Describer{}
	}
	return d
}

// loggedType returns the type that an instrument has after the change of an entry. A new instrument isn't
// stored yet.
func loggedType(t *store.Tx, id uint64, e model.Event) (model.DocumentType, error) {
	types, err := t.DocumentTypes()
	if err != nil {
		return model.DocumentType{}, err
	}
	for _, c := range e.Changes {
		if c.Field == "type_id" {
			typeID, _ := strconv.ParseUint(string(c.To), 10, 64)
			of, _ := types.ByID(typeID)
			return of, nil
		}
	}
	i, err := t.InstrumentIncludingTrash(id)
	of, _ := types.ByID(i.TypeID)
	return of, err
}

// instrumentName returns the display name of an instrument and whether it is in the trash.
func instrumentName(t *store.Tx, id uint64) (name string, in *model.Trashed, err error) {
	i, err := t.InstrumentIncludingTrash(id)
	if err != nil {
		return "", nil, err
	}
	types, err := t.DocumentTypes()
	of, _ := types.ByID(i.TypeID)
	return i.Heading(of), i.Trashed, err
}

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
