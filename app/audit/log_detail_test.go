package audit_test

import (
	"fmt"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// The log says what was made in words, and what was pruned.
func TestLogNamesWhatWasMade(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	ctx, boss := t.Context(), model.Actor{Kind: "operator", Name: "Kim"}
	_, key, err := v.Keys.Create(ctx, boss, model.KeyDraft{Name: "Closing", Abilities: []string{model.AbilityAPI}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.Keys.Rotate(ctx, boss, key.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Folders.Create(ctx, boss, model.FolderDraft{Name: model.StringInput("Smith")}, vault.Idempotency[model.Folder]{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Orders.Create(ctx, boss, model.OrderDraft{Number: model.StringInput("2026-17")}, vault.Idempotency[model.Order]{}); err != nil {
		t.Fatal(err)
	}
	if err := v.Backups.LogPruned(ctx, boss, "/b", []string{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	if err := v.Backups.LogPruned(ctx, boss, "/b", nil); errs.KindOf(err) != errs.Invalid {
		t.Errorf("nothing pruned: %v", err)
	}
	want := []string{
		"key.created map[abilities:" + model.AbilityAPI + " name:Closing]",
		"key.rotated map[abilities:" + model.AbilityAPI + " from:key:1 name:Closing]",
		"folder.created map[name:Smith]", "order.created map[number:2026-17]", "backup.pruned map[from:/b removed:x, y]",
	}
	for i, e := range vaulttest.AuditEntries(t, v, len(want)) {
		if got := fmt.Sprint(e.Kind, " ", e.Detail); got != want[len(want)-1-i] {
			t.Errorf("%q, want %q", got, want[len(want)-1-i])
		}
	}
}
