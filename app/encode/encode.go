// Package encode converts the vault's records to the JSON types of the API.
package encode

import (
	"regexp"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
)

// RecordPattern matches a record's name in the audit log, such as "file:17".
var RecordPattern = regexp.MustCompile(`^[a-z_]{1,32}:[0-9]{1,20}$`)

// Folder returns f as its API type.
func Folder(f model.Folder) apitypes.Folder {
	return apitypes.Folder{ID: int64(f.ID), Name: f.Name, ParentID: OptionalID(f.ParentID)}
}

// Template returns t as its API type.
func Template(t model.Template) apitypes.TemplateDefinition {
	return apitypes.TemplateDefinition{ID: int64(t.ID), Name: t.Name, Default: t.Default, Retired: t.Retired,
		Statuses: t.Statuses, CustomFields: Fields(t.Fields)}
}

// Fields returns the custom fields of a template or of orders as their API type.
func Fields(fields []model.Field) []apitypes.Field {
	list := make([]apitypes.Field, 0, len(fields))
	for _, f := range fields {
		list = append(list, apitypes.Field{Key: f.Key, Label: f.Label, Type: string(f.Type), Required: f.Required, Options: f.Options})
	}
	return list
}

// Actor returns a as its API type.
func Actor(a model.Actor) apitypes.Actor {
	return apitypes.Actor{Kind: a.Kind, ID: OptionalID(a.ID), Name: OptionalString(a.Name), Address: OptionalString(a.Address)}
}

// OptionalString returns a pointer to s, or nil if s is "".
func OptionalString(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// OptionalID returns a pointer to id, or nil if id is 0, which is never an ID.
func OptionalID(id uint64) *int64 {
	if id == 0 {
		return nil
	}
	n := int64(id) // IDs come from a sequence and fit into 63 bits
	return &n
}

// View returns v as its API type.
func View(v model.View) apitypes.View {
	return apitypes.View{ID: int64(v.ID), Name: v.Name, Record: v.Record, Filters: v.Filters, Sort: OptionalString(v.Sort),
		Columns: v.Columns, Shared: v.Shared, Owner: Actor(v.Owner), CreatedAt: apitypes.At(v.CreatedAt), UpdatedAt: apitypes.At(v.UpdatedAt)}
}
