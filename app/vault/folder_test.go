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
		name   string
		draft  model.FolderDraft
		refuse bool
	}{
		{"new", model.FolderDraft{Name: model.StringInput("Deeds")}, false},
		{"same in another case", model.FolderDraft{Name: model.StringInput(" DEEDS ")}, true},
		{"below it the same name", model.FolderDraft{Name: model.StringInput("deeds"), ParentID: vaulttest.IDInput(5)}, false},
		{"no name", model.FolderDraft{Name: model.StringInput("  ")}, true},
		{"unknown parent", model.FolderDraft{Name: model.StringInput("x"), ParentID: vaulttest.IDInput(77)}, true},
		{"parent below zero", model.FolderDraft{Name: model.StringInput("x"), ParentID: model.IDInput{Present: true, Valid: true, Value: -5}}, true},
		{"a seeded one", model.FolderDraft{Name: model.StringInput("inbox")}, true},
	}
	for _, tt := range tests {
		made, err := v.Folders.Create(t.Context(), vaulttest.Operator, tt.draft, vault.Idempotency[model.Folder]{})
		if tt.refuse {
			vaulttest.WantKind(t, tt.name, err, errs.Invalid)
		} else if err != nil || made.ID == 0 {
			t.Errorf("%s: %+v, %v", tt.name, made, err)
		}
	}
	list, err := v.Folders.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list {
		names = append(names, fmt.Sprintf("%d/%s", f.ParentID, f.Name))
	}
	want := []string{"0/Deeds", "0/Inbox", "0/Plats & Surveys", "0/Starters & Prior Abstracts", "0/Underwriter Bulletins", "5/deeds"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if s := vaulttest.Status(t, v); s.Folders != 6 {
		t.Errorf("%d folders", s.Folders)
	}
}

func TestFolderNameRace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var won atomic.Int64
	var all sync.WaitGroup
	for n := range 64 {
		name := []string{"Liens", "LIENS", "liens", "lIENS"}[n%4]
		all.Go(func() {
			_, err := v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput(name), ParentID: vaulttest.IDInput(1)}, vault.Idempotency[model.Folder]{})
			if err == nil {
				won.Add(1)
				return
			}
			if err.Error() != "The name has already been taken." {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d won", won.Load())
	}
}

// Folders lie no deeper than the rule says, however they come to lie there.
func TestFolderDepth(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	at := uint64(0)
	for n := range model.MaxFolderDepth {
		one, _, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, at, 0, fmt.Sprint("level ", n), false)
		if err != nil {
			t.Fatal(err)
		}
		at = one.ID
	}
	_, err := v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput("x"), ParentID: vaulttest.IDInput(at)}, vault.Idempotency[model.Folder]{})
	vaulttest.WantKind(t, "made", err, errs.Invalid)
	_, _, err = v.Folders.Ensure(t.Context(), vaulttest.Operator, at, 0, "x", false)
	vaulttest.WantKind(t, "ensured", err, errs.Invalid)
	low, err := v.Folders.Get(t.Context(), at)
	vaulttest.NoError(t, err)
	top := vaulttest.CreateFolder(t, v, "top", 0)
	inner := vaulttest.CreateFolder(t, v, "inner", top.ID)
	_, err = v.Folders.Patch(t.Context(), vaulttest.Operator, top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ParentID))}, vault.Match{})
	vaulttest.WantKind(t, "moved with another in it", err, errs.Invalid)
	_, err = v.Folders.Patch(t.Context(), vaulttest.Operator, inner.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ParentID))}, vault.Match{})
	vaulttest.NoError(t, err)
}
