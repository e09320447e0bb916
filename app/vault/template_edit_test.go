package vault_test

import (
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Edit changes a template only if the caller passes the fingerprint of its current state.
func TestTemplateEdit(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	seen, err := v.Templates.Get(t.Context(), 1)
	if err != nil {
		t.Fatalf("get template: %v", err)
	}
	edit := func(id uint64, name, fingerprint string, dry bool) error {
		_, err := v.Templates.Edit(t.Context(), vaulttest.Operator, model.TemplateDraft{ID: id, Name: name}, fingerprint, dry)
		return err
	}
	if err := edit(1, "Tried", seen.Fingerprint(), true); err != nil {
		t.Errorf("dry run: %v", err)
	}
	if err := edit(1, "First", seen.Fingerprint(), false); err != nil {
		t.Errorf("edit: %v", err)
	}
	vaulttest.WantKind(t, "outdated fingerprint", edit(1, "Second", seen.Fingerprint(), false), errs.PreconditionFailed)
	vaulttest.WantKind(t, "no fingerprint", edit(1, "Second", "", false), errs.PreconditionFailed)
	if got, err := v.Templates.Get(t.Context(), 1); err != nil || got.Name != "First" {
		t.Errorf("Get(1) = %+v, %v; want name First", got, err)
	}
	vaulttest.WantKind(t, "unknown template", edit(77, "x", "", false), errs.NotFound)
	_, err = v.Templates.Create(t.Context(), vaulttest.Operator, model.TemplateDraft{Name: "first"})
	vaulttest.WantKind(t, "name in use", err, errs.Invalid)
	if n, err := v.Templates.CountAbstracts(t.Context(), 1); n != 0 || err != nil {
		t.Errorf("CountAbstracts(1) = %d, %v; want 0", n, err)
	}
}

func TestOrderDefinitionsEditChecksFingerprint(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	fields, err := v.Orders.Fields(t.Context())
	if err != nil {
		t.Fatalf("get order fields: %v", err)
	}
	_, err = v.Orders.EditFields(t.Context(), vaulttest.Operator, fields[:1], "0000", false)
	vaulttest.WantKind(t, "fields with an outdated fingerprint", err, errs.PreconditionFailed)
	_, err = v.Orders.EditStatuses(t.Context(), vaulttest.Operator, []string{"x"}, "0000", false)
	vaulttest.WantKind(t, "statuses with an outdated fingerprint", err, errs.PreconditionFailed)
}
