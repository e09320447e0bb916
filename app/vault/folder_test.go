package vault_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestFolderCreate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	tests := []struct {
		name    string
		draft   model.FolderDraft
		invalid bool
	}{
		{"new", model.FolderDraft{Name: model.StringInput("Deeds")}, false},
		{"same name in capitals", model.FolderDraft{Name: model.StringInput(" DEEDS ")}, true},
		{"same name as the parent", model.FolderDraft{Name: model.StringInput("deeds"), ParentID: vaulttest.IDInput(5)}, false},
		{"blank name", model.FolderDraft{Name: model.StringInput("  ")}, true},
		{"unknown parent", model.FolderDraft{Name: model.StringInput("x"), ParentID: vaulttest.IDInput(77)}, true},
		{"negative parent", model.FolderDraft{Name: model.StringInput("x"),
			ParentID: model.IDInput{Present: true, Valid: true, Value: -5}}, true},
		{"name of a default folder", model.FolderDraft{Name: model.StringInput("inbox")}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			created, err := v.Folders.Create(t.Context(), vaulttest.Operator, tt.draft, vault.Idempotency[model.Folder]{})
			if tt.invalid {
				vaulttest.WantKind(t, tt.name, err, errs.Invalid)
			} else if err != nil || created.ID == 0 {
				t.Errorf("Folders.Create: got %+v, %v, want a new folder", created, err)
			}
		})
	}
	list, err := v.Folders.List(t.Context())
	if err != nil {
		t.Fatalf("Folders.List: %v", err)
	}
	var names []string
	for _, f := range list {
		names = append(names, fmt.Sprintf("%d/%s", f.ParentID, f.Name))
	}
	want := []string{"0/Deeds", "0/Inbox", "0/Plats & Surveys", "0/Starters & Prior Abstracts", "0/Underwriter Bulletins", "5/deeds"}
	if !slices.Equal(names, want) {
		t.Errorf("folders: got %v, want %v", names, want)
	}
	if s := vaulttest.Status(t, v); s.Folders != 6 {
		t.Errorf("number of folders: got %d, want 6", s.Folders)
	}
}

// If several concurrent requests create a folder with the same name, only one succeeds.
func TestFolderNameRace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var successes atomic.Int64
	var wg sync.WaitGroup
	for n := range 64 {
		name := []string{"Liens", "LIENS", "liens", "lIENS"}[n%4]
		wg.Go(func() {
			_, err := v.Folders.Create(t.Context(), vaulttest.Operator,
				model.FolderDraft{Name: model.StringInput(name), ParentID: vaulttest.IDInput(1)}, vault.Idempotency[model.Folder]{})
			if err == nil {
				successes.Add(1)
				return
			}
			if err.Error() != "The name has already been taken." {
				t.Errorf("Folders.Create: got %q, want %q", err, "The name has already been taken.")
			}
		})
	}
	wg.Wait()
	if successes.Load() != 1 {
		t.Errorf("folders created: got %d, want 1", successes.Load())
	}
}

// No request can create or move a folder below the maximum depth.
func TestFolderDepth(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deepest := uint64(0)
	for n := range model.MaxFolderDepth {
		folder, _, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, deepest, 0, fmt.Sprint("level ", n), false)
		if err != nil {
			t.Fatalf("Folders.Ensure: %v", err)
		}
		deepest = folder.ID
	}
	_, err := v.Folders.Create(t.Context(), vaulttest.Operator,
		model.FolderDraft{Name: model.StringInput("x"), ParentID: vaulttest.IDInput(deepest)}, vault.Idempotency[model.Folder]{})
	vaulttest.WantKind(t, "create below the maximum depth", err, errs.Invalid)
	_, _, err = v.Folders.Ensure(t.Context(), vaulttest.Operator, deepest, 0, "x", false)
	vaulttest.WantKind(t, "ensure below the maximum depth", err, errs.Invalid)
	low, err := v.Folders.Get(t.Context(), deepest)
	vaulttest.NoError(t, err)
	top := vaulttest.CreateFolder(t, v, "top", 0)
	inner := vaulttest.CreateFolder(t, v, "inner", top.ID)
	_, err = v.Folders.Patch(t.Context(), vaulttest.Operator, top.ID,
		model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ParentID))}, vault.Match{})
	vaulttest.WantKind(t, "move a folder with a subfolder", err, errs.Invalid)
	_, err = v.Folders.Patch(t.Context(), vaulttest.Operator, inner.ID,
		model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ParentID))}, vault.Match{})
	vaulttest.NoError(t, err)
}

// Ensure returns the folder with the given name, and creates it if it doesn't exist.
func TestFolderEnsure(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	inbox, created, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, 0, 0, " INBOX ", false)
	if err != nil || created || inbox.Name != "Inbox" {
		t.Errorf("Folders.Ensure(INBOX): got %+v, created %t, %v, want the existing Inbox", inbox, created, err)
	}
	none, created, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, inbox.ID, 0, "2019", true)
	if err != nil || created || none.ID != 0 {
		t.Errorf("dry run of Folders.Ensure: got %+v, created %t, %v, want no folder", none, created, err)
	}
	var wg sync.WaitGroup
	ids := make([]uint64, 8)
	for n := range ids {
		wg.Go(func() {
			folder, _, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, inbox.ID, 0, "2019", false)
			if err != nil {
				t.Errorf("Folders.Ensure: %v", err)
			}
			ids[n] = folder.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == 0 || id != ids[0] {
			t.Errorf("concurrent Folders.Ensure: got folders %v, want one folder", ids)
		}
	}
	_, _, err = v.Folders.Ensure(t.Context(), vaulttest.Operator, 99, 0, "x", false)
	vaulttest.WantKind(t, "unknown parent", err, errs.Invalid)
	_, _, err = v.Folders.Ensure(t.Context(), vaulttest.Operator, 0, 0, " ", false)
	vaulttest.WantKind(t, "blank name", err, errs.Invalid)
}
