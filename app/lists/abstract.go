package lists

import (
	"context"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Abstract is an abstract in a list.
type Abstract struct {
	model.Abstract
	Heading  string
	Template string // name of its template
}

// Abstracts returns the table of abstracts.
func (s *Service) Abstracts(ctx context.Context) (Table[Abstract], error) {
	templates, err := s.vault.Templates.All(ctx)
	if err != nil {
		return Table[Abstract]{}, err
	}
	t := Table[Abstract]{Name: "Abstracts", zone: s.zone, hidden: []string{"id"}, derived: []string{columnLocation, columnCounty}}
	t.Columns = slices.Concat(
		[]Column[Abstract]{
			{Name: "id", Label: "ID", Width: medium, Text: func(a *Abstract) string { return s.ids.Abstracts.Encode(a.ID) }},
			{Name: "heading", Label: "File number", Width: medium, Text: func(a *Abstract) string { return a.Heading }},
			{Name: "status", Label: "Status", Type: model.Choice, Width: narrow, Text: func(a *Abstract) string { return a.Status }},
			{Name: "template", Label: "Template", Width: medium, Text: func(a *Abstract) string { return a.Template }},
		},
		fieldColumns(func(a *Abstract) []model.FieldValue { return a.FieldValues() }),
		placeColumns(func(a *Abstract) model.Property { return a.Property }),
		customColumns(fieldsOf(templates), func(a *Abstract) model.CustomValues { return a.Custom }),
		[]Column[Abstract]{{Name: "documents", Label: "Documents", Type: model.Number, Width: narrow,
			Text: func(a *Abstract) string { return strconv.Itoa(len(a.Files)) }}},
		timeColumns(func(a *Abstract) time.Time { return a.CreatedAt }, func(a *Abstract) time.Time { return a.UpdatedAt }),
	)
	t.setSorts(map[string]model.Sort{"heading": model.SortFileNumber, "tax_map": model.SortParcel, columnLocation: model.SortAddress,
		string(model.SortCreated): model.SortCreated, string(model.SortUpdated): model.SortUpdated})
	t.rows = func(_ *store.Tx, stored any, _ string) (list []Abstract, err error) {
		for _, a := range stored.([]model.Abstract) {
			list = append(list, Abstract{Abstract: a, Template: nameOf(templates, a.TemplateID)})
		}
		return list, nil
	}
	for n := range t.Columns {
		if t.Columns[n].Name == "tax_map" { // a Parcel ID can also be in a custom field
			t.Columns[n].Text = func(a *Abstract) string { return a.ParcelID() }
		}
	}
	updated := string(model.SortUpdated)
	t.Page = []string{"heading", columnLocation, columnCounty, "tax_map", "template", "status", "documents",
		string(model.SortCreated), updated}
	t.Aside = []string{"template", updated}
	return t, nil
}

// fieldsOf returns the custom fields of templates, those of active templates first. Of fields with the same key, it
// returns the first.
func fieldsOf(templates []model.Template) (list []model.Field) {
	for _, retired := range []bool{false, true} {
		for _, t := range templates {
			for _, f := range t.Fields {
				if t.Retired == retired && !slices.ContainsFunc(list, func(have model.Field) bool { return have.Key == f.Key }) {
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// ListAbstracts returns a page of abstracts.
func (s *Service) ListAbstracts(ctx context.Context, q vault.Query) (vault.Page[Abstract], error) {
	found, err := s.vault.Abstracts.ListWithoutFiles(ctx, q)
	page := vault.Page[Abstract]{Next: found.Next, Prev: found.Prev, Bytes: found.Bytes, Truncated: found.Truncated}
	if err == nil {
		page.Items, err = s.WithHeadings(ctx, found.Items)
	}
	return page, err
}

// WithHeadings returns abstracts with what a list shows of them.
func (s *Service) WithHeadings(ctx context.Context, list []model.Abstract) ([]Abstract, error) {
	headings, err := s.vault.Abstracts.Headings(ctx, list...)
	if err != nil {
		return nil, err
	}
	templates, err := s.vault.Templates.All(ctx)
	if err != nil {
		return nil, err
	}
	shown := make([]Abstract, 0, len(list))
	for n, a := range list {
		shown = append(shown, Abstract{a, headings[n], nameOf(templates, a.TemplateID)})
	}
	return shown, nil
}

// nameOf returns the name of a template, or "" if there is none.
func nameOf(templates []model.Template, id uint64) string {
	for _, t := range templates {
		if t.ID == id {
			return t.Name
		}
	}
	return ""
}
