package vaulttest

import (
	"encoding/json"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// filed makes an abstract of a template with custom fields.
func CreateAbstractFromTemplate(t *testing.T, v *instance.Instance, template int64, custom map[string]string) model.Abstract {
	t.Helper()
	sent := map[string]json.RawMessage{}
	for key, value := range custom {
		sent[key] = json.RawMessage(value)
	}
	made, err := v.Abstracts.Create(t.Context(), Operator, model.AbstractDraft{
		TemplateID: model.IDInput{Present: true, Valid: true, Value: template}, Custom: model.Custom{Values: sent},
	}, StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Abstract
}
