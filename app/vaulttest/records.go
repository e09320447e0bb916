package vaulttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Operator is the actor for changes in tests where the actor doesn't matter.
var Operator = model.Actor{Kind: "operator", ID: 7, Name: "intake"}

// LinkActor returns the actor for a visitor of a shared link.
func LinkActor(address string) model.Actor {
	return model.Actor{Kind: model.ActorLink, Address: address, RequestID: "r"}
}

// CreateAbstract creates an abstract with documents. The vault must accept all of them.
func CreateAbstract(t *testing.T, v *instance.Instance, docs ...Doc) vault.AbstractWithFiles {
	t.Helper()
	created, err := v.Abstracts.Create(t.Context(), Operator, model.AbstractDraft{}, StageDocs(t, v, docs...),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(created.Failures) > 0 {
		t.Fatalf("create abstract: %v, rejected %v", err, created.Failures)
	}
	return created
}

// CreateAbstractFromTemplate creates an abstract with a template and custom fields. The field values are JSON.
func CreateAbstractFromTemplate(t testing.TB, v *instance.Instance, template int64, custom map[string]string) model.Abstract {
	t.Helper()
	values := model.Inputs{}
	for key, value := range custom {
		values[key] = model.JSONInput(value)
	}
	created, err := v.Abstracts.Create(t.Context(), Operator, model.AbstractDraft{
		TemplateID: model.IDInput{Present: true, Valid: true, Value: template}, Custom: model.Custom{Values: values},
	}, StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract with template %d: %v", template, err)
	}
	return created.Abstract
}

// CreateOrder creates an order.
func CreateOrder(t *testing.T, v *instance.Instance, number string) model.Order {
	t.Helper()
	order, err := v.Orders.Create(t.Context(), Operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(number)}},
		vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("create order %s: %v", number, err)
	}
	return order
}

// CreateOrderForProperty creates an order with a due date and a property. parcel is the Parcel ID, or "" for none.
func CreateOrderForProperty(t *testing.T, v *instance.Instance, number, due, parcel string,
	property model.Inputs) model.Order {
	t.Helper()
	draft := model.OrderDraft{Fields: MergeInputs(property, model.Inputs{"order_number": model.StringInput(number),
		"due_date": model.StringInput(due)})}
	if parcel != "" {
		draft.Custom = CustomText("parcel_id", fmt.Sprintf("%q", parcel))
	}
	order, err := v.Orders.Create(t.Context(), Operator, draft, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("create order %s: %v", number, err)
	}
	return order
}

// CreateInstrument records an instrument of an abstract. fields is a JSON object of the API.
func CreateInstrument(t testing.TB, v *instance.Instance, abstract uint64, fields string) model.Instrument {
	t.Helper()
	var in model.Inputs
	if err := json.Unmarshal([]byte(fields), &in); err != nil {
		t.Fatalf("fields of an instrument: %v in %s", err, fields)
	}
	created, err := v.Instruments.Create(t.Context(), Operator, abstract, vault.InstrumentPatch{Input: in},
		vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		t.Fatalf("create instrument: %v", err)
	}
	return created.Instrument
}

// CreateFolder creates a folder in the folder parent (0: the root).
func CreateFolder(t *testing.T, v *instance.Instance, name string, parent uint64) model.Folder {
	t.Helper()
	draft := model.FolderDraft{Name: model.StringInput(name)}
	if parent != 0 {
		draft.ParentID = IDInput(parent)
	}
	folder, err := v.Folders.Create(t.Context(), Operator, draft, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatalf("create folder %s: %v", name, err)
	}
	return folder
}

// AuditEntries returns the newest entries of the audit log, newest first.
func AuditEntries(t *testing.T, v *instance.Instance, limit int) []model.Event {
	t.Helper()
	var page store.Page[model.Event]
	err := v.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		page, err = tx.ListEvents(store.Query{Descending: true, Limit: limit})
		return err
	})
	if err != nil {
		t.Fatalf("list the audit log: %v", err)
	}
	return page.Items
}

// MergeInputs returns the fields of all lists.
func MergeInputs(lists ...model.Inputs) model.Inputs {
	all := model.Inputs{}
	for _, list := range lists {
		maps.Copy(all, list)
	}
	return all
}

// CustomText returns a custom field with a value in JSON.
func CustomText(key, value string) model.Custom {
	return model.Custom{Values: model.Inputs{key: model.JSONInput(value)}}
}

// IDInput returns n as the value of a request field.
func IDInput(n uint64) model.IDInput {
	return model.IDInput{Present: true, Valid: true, Value: int64(n)}
}

// SomeText returns value as a field of a patch.
func SomeText(value string) model.Optional[model.Input] { return model.Some(model.StringInput(value)) }

// MatchVersions returns a precondition that accepts the given versions.
func MatchVersions(versions ...uint64) vault.Match {
	return vault.Match{Given: true, Versions: versions}
}

// KeyHash returns the hash of idempotency key n.
func KeyHash(n byte) [32]byte { return [32]byte{n} }

// IdempotencyKey returns an Idempotency with key n that stores the result of the request as the response.
func IdempotencyKey[T any](n byte) vault.Idempotency[T] {
	return vault.Idempotency[T]{KeyHash: KeyHash(n), RequestHash: fmt.Sprintf("request %d", n),
		Render: func(created T) (int, map[string]string, []byte, error) {
			body, err := json.Marshal(created)
			return 201, map[string]string{"Location": "/there"}, body, err
		}}
}
