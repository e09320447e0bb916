package vault_test

import (
	"fmt"
	"testing"

	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// The log says what was made in words, and what was pruned.
func TestLogNamesWhatWasMade(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	ctx, boss := t.Context(), title.Actor{Kind: "operator", Name: "Kim"}
	_, key, err := v.Keys.Create(ctx, boss, title.KeyDraft{Name: "Closing", Abilities: []string{title.AbilityAPI}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.Keys.Rotate(ctx, boss, key.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Folders.Create(ctx, boss, title.FolderDraft{Name: title.Given("Smith")}, vault.Keep[title.Folder]{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Orders.Create(ctx, boss, title.OrderDraft{Number: title.Given("2026-17")}, vault.Keep[title.Order]{}); err != nil {
		t.Fatal(err)
	}
	if err := v.Backups.Pruned(ctx, boss, "/b", []string{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	if err := v.Backups.Pruned(ctx, boss, "/b", nil); title.KindOf(err) != title.Invalid {
		t.Errorf("nothing pruned: %v", err)
	}
	want := []string{
		"key.created map[abilities:" + title.AbilityAPI + " name:Closing]",
		"key.rotated map[abilities:" + title.AbilityAPI + " from:key:1 name:Closing]",
		"folder.created map[name:Smith]", "order.created map[number:2026-17]", "backup.pruned map[from:/b removed:x, y]",
	}
	for i, e := range logged(t, v, len(want)) {
		if got := fmt.Sprint(e.Kind, " ", e.Detail); got != want[len(want)-1-i] {
			t.Errorf("%q, want %q", got, want[len(want)-1-i])
		}
	}
}
