package vaulttest

import (
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// create makes an abstract with the documents, all of which must be good.
func CreateAbstract(t *testing.T, v *instance.Instance, docs ...Doc) vault.AbstractWithFiles {
	t.Helper()
	filed, err := v.Abstracts.Create(t.Context(), Operator, model.AbstractDraft{}, StageDocs(t, v, docs...), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(filed.Failures) > 0 {
		t.Fatalf("create: %v, refused %v", err, filed.Failures)
	}
	return filed
}

// ordered makes an order.
func CreateOrder(t *testing.T, v *instance.Instance, number string) model.Order {
	t.Helper()
	order, err := v.Orders.Create(t.Context(), Operator, model.OrderDraft{Number: model.StringInput(number)}, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// folder makes a folder in another, 0 for the root.
func CreateFolder(t *testing.T, v *instance.Instance, name string, parent uint64) model.Folder {
	t.Helper()
	draft := model.FolderDraft{Name: model.StringInput(name)}
	if parent != 0 {
		draft.ParentID = IDInput(parent)
	}
	made, err := v.Folders.Create(t.Context(), Operator, draft, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// logged gives the newest events, the last one first.
func AuditEntries(t *testing.T, v *instance.Instance, limit int) []model.Event {
	t.Helper()
	var page store.Page[model.Event]
	err := v.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		page, err = tx.ListEvents(store.Query{Descending: true, Limit: limit})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func SomeText(value string) model.Optional[model.Input] { return model.Some(model.StringInput(value)) }

func MatchVersions(list ...uint64) vault.Match { return vault.Match{Given: true, Versions: list} }
