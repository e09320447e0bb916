package instance_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestFolderCreate(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	tests := []struct {
		name   string
		draft  model.FolderDraft
		refuse bool
	}{
		{"new", model.FolderDraft{Name: model.StringInput("Deeds")}, false},
		{"same in another case", model.FolderDraft{Name: model.StringInput(" DEEDS ")}, true},
		{"below it the same name", model.FolderDraft{Name: model.StringInput("deeds"), ParentID: id(5)}, false},
		{"no name", model.FolderDraft{Name: model.StringInput("  ")}, true},
		{"unknown parent", model.FolderDraft{Name: model.StringInput("x"), ParentID: id(77)}, true},
		{"parent below zero", model.FolderDraft{Name: model.StringInput("x"), ParentID: model.IDInput{Present: true, Valid: true, Value: -5}}, true},
		{"a seeded one", model.FolderDraft{Name: model.StringInput("inbox")}, true},
	}
	for _, tt := range tests {
		made, err := v.Folders.Create(t.Context(), clerk, tt.draft, vault.Idempotency[model.Folder]{})
		if tt.refuse {
			kind(t, tt.name, err, errs.Invalid)
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
	if s := status(t, v); s.Folders != 6 {
		t.Errorf("%d folders", s.Folders)
	}
}

func TestFolderNameRace(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	var won atomic.Int64
	var all sync.WaitGroup
	for n := range 64 {
		name := []string{"Liens", "LIENS", "liens", "lIENS"}[n%4]
		all.Go(func() {
			_, err := v.Folders.Create(t.Context(), clerk, model.FolderDraft{Name: model.StringInput(name), ParentID: id(1)}, vault.Idempotency[model.Folder]{})
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
	v, _ := opened(t, nil)
	at := uint64(0)
	for n := range model.MaxFolderDepth {
		one, _, err := v.Folders.Ensure(t.Context(), clerk, at, 0, fmt.Sprint("level ", n), false)
		if err != nil {
			t.Fatal(err)
		}
		at = one.ID
	}
	_, err := v.Folders.Create(t.Context(), clerk, model.FolderDraft{Name: model.StringInput("x"), ParentID: id(at)}, vault.Idempotency[model.Folder]{})
	kind(t, "made", err, errs.Invalid)
	_, _, err = v.Folders.Ensure(t.Context(), clerk, at, 0, "x", false)
	kind(t, "ensured", err, errs.Invalid)
	low, err := v.Folders.Get(t.Context(), at)
	done(t, err)
	top := folder(t, v, "top", 0)
	inner := folder(t, v, "inner", top.ID)
	_, err = v.Folders.Patch(t.Context(), clerk, top.ID, model.FolderPatch{ParentID: model.Some(id(low.ParentID))}, vault.Match{})
	kind(t, "moved with another in it", err, errs.Invalid)
	_, err = v.Folders.Patch(t.Context(), clerk, inner.ID, model.FolderPatch{ParentID: model.Some(id(low.ParentID))}, vault.Match{})
	done(t, err)
}
