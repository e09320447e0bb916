package vaulttest

import (
	"fmt"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/vault"
)

// order makes one, with a parcel and an address.
func CreateOrderForProperty(t *testing.T, v *instance.Instance, number, due, parcel string, at model.PropertyDraft) model.Order {
	t.Helper()
	draft := model.OrderDraft{Number: model.StringInput(number), DueDate: model.StringInput(due), PropertyDraft: at}
	if parcel != "" {
		draft.Custom = CustomText("parcel_id", fmt.Sprintf("%q", parcel))
	}
	made, err := v.Orders.Create(t.Context(), Operator, draft, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// said lists hits as "noun id by value|marked".
func FormatFindResult(f search.FindResult) (list []string) {
	for _, g := range f.Groups {
		for _, h := range g.Hits {
			exact := ""
			if h.Exact {
				exact = " exactly"
			}
			list = append(list, fmt.Sprintf("%s %d %s %s|%s%s", h.Kind, h.ID, h.Field, h.Value[:h.MatchLen], h.Value[h.MatchLen:], exact))
		}
	}
	return list
}
