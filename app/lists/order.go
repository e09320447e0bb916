package lists

import (
	"context"
	"slices"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Orders returns the table of orders.
func (s *Service) Orders(ctx context.Context) (Table[model.Order], error) {
	defs, err := s.vault.Orders.Fields(ctx)
	if err != nil {
		return Table[model.Order]{}, err
	}
	users, err := s.users(ctx)
	if err != nil {
		return Table[model.Order]{}, err
	}
	names := map[uint64]string{}
	for _, u := range users {
		names[u.ID] = u.DisplayName()
	}
	t := Table[model.Order]{Name: "Orders", zone: s.zone, hidden: []string{"id"}, derived: []string{columnLocation, columnCounty}}
	indexes := map[string]model.Sort{"order_number": model.SortOrderNumber, "due_date": model.SortDue, columnLocation: model.SortAddress,
		string(model.SortCreated): model.SortCreated, string(model.SortUpdated): model.SortUpdated}
	parcel := ""
	for _, f := range defs {
		if (model.Order{Custom: model.CustomValues{f.Key: probe}}).ParcelID() != "" {
			parcel = "custom_fields." + f.Key
			indexes[parcel] = model.SortParcel
		}
	}
	t.Columns = slices.Concat(
		[]Column[model.Order]{
			{Name: "id", Label: "ID", Width: medium, Text: func(o *model.Order) string { return s.ids.Orders.Encode(o.ID) }},
			{Name: "status", Label: "Status", Type: model.Choice, Width: narrow, Text: func(o *model.Order) string { return o.Status }},
			{Name: "assignee", Label: "Assignee", Width: medium, Text: func(o *model.Order) string { return names[o.AssigneeID] }},
		},
		fieldColumns(func(o *model.Order) []model.FieldValue { return o.FieldValues() }),
		placeColumns(func(o *model.Order) model.Property { return o.Property }),
		customColumns(defs, func(o *model.Order) model.CustomValues { return o.Custom }),
		timeColumns(func(o *model.Order) time.Time { return o.CreatedAt }, func(o *model.Order) time.Time { return o.UpdatedAt }),
	)
	t.setSorts(indexes)
	t.rows = func(_ *store.Tx, stored any, _ string) ([]model.Order, error) { return stored.([]model.Order), nil }
	created := string(model.SortCreated)
	t.Page, t.Aside = []string{"order_number", columnLocation, columnCounty, parcel, "status", "assignee", "due_date", created},
		[]string{parcel, created}
	t.Page = slices.DeleteFunc(t.Page, func(name string) bool { return name == "" })
	return t, nil
}

// SetOverdue limits a list of orders to open ones whose due date is before the day of now.
func SetOverdue(q *vault.Query, now time.Time) {
	yesterday := now.AddDate(0, 0, -1).Format(time.DateOnly)
	if q.OpenOnly = true; q.DueTo == "" || q.DueTo > yesterday {
		q.DueTo = yesterday
	}
}
