package upload_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// sendTo uploads a document below a folder, and gives what became of it.
func sendTo(t *testing.T, v *instance.Instance, folder uint64, path []string, name string, content []byte) upload.Upload {
	t.Helper()
	up, err := v.Uploads.Begin(t.Context(), vaulttest.Operator, upload.Plan{Folder: folder, Path: path, Filename: name, Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	if up, err = v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 0, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	return up
}

// folderNames are the names of all folders, parents first.
func folderNames(t *testing.T, v *instance.Instance) (names []string) {
	t.Helper()
	list, err := v.Folders.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}

func TestUploadKeepsItsFolders(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before := folderNames(t, v)
	starters, err := v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput("My starters")}, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatal(err)
	}
	if up := sendTo(t, v, starters.ID, []string{"Wexcombe County", "Empty"}, "Bad.pdf", []byte("no PDF")); up.Rejection == "" {
		t.Errorf("got %+v, want a refusal", up)
	}
	if got, want := len(folderNames(t, v)), len(before)+1; got != want {
		t.Errorf("a rejected document left %d folders, want %d", got, want)
	}
	first := sendTo(t, v, starters.ID, []string{"Wexcombe County", "Twp A"}, "a.pdf", vaulttest.PDF(1, "a"))
	second := sendTo(t, v, starters.ID, []string{"WEXCOMBE county", "twp a"}, "b.pdf", vaulttest.PDF(1, "b"))
	third := sendTo(t, v, starters.ID, []string{"Wexcombe County"}, "c.pdf", vaulttest.PDF(1, "c"))
	if first.File == nil || second.File == nil || third.File == nil {
		t.Fatalf("got %+v, %+v, %+v", first, second, third)
	}
	made := folderNames(t, v)
	for _, name := range before {
		made = slices.DeleteFunc(made, func(one string) bool { return one == name })
	}
	if want := []string{"My starters", "Wexcombe County", "Twp A"}; !slices.Equal(made, want) {
		t.Errorf("folders: got %q, want %q", made, want)
	}
	if first.File.FolderID != second.File.FolderID || first.File.FolderID == third.File.FolderID {
		t.Errorf("in folders %d, %d, %d", first.File.FolderID, second.File.FolderID, third.File.FolderID)
	}
	twp, err := v.Folders.Get(t.Context(), first.File.FolderID)
	if err != nil || twp.Name != "Twp A" || twp.ParentID != third.File.FolderID {
		t.Errorf("got %+v, %v", twp, err)
	}
	log, err := v.Events.List(t.Context(), vault.Query{Filters: []vault.Filter{{Column: vault.ColumnKind, Value: "folder.created"}}, Limit: 10})
	if err != nil || len(log.Items) != 3 {
		t.Errorf("the log has %d folders, %v, want one entry each of 3", len(log.Items), err)
	}
}

func TestUploadIntoFoldersThatCannotBe(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	abstract, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		plan upload.Plan
		want string
	}{
		{"too deep", upload.Plan{Path: slices.Repeat([]string{"a"}, model.MaxFolderDepth+1)}, model.MsgFolderTooDeep},
		{"without a name", upload.Plan{Path: []string{"a", "", "b"}}, "The name field is required."},
		{"a long name", upload.Plan{Path: []string{strings.Repeat("x", model.MaxNameLength+1)}}, "The name field"},
		{"of an abstract", upload.Plan{Abstract: abstract.Abstract.ID, Path: []string{"a"}}, "An abstract has no folders."},
	} {
		row.plan.Filename, row.plan.Size = "a.pdf", 10
		_, err := v.Uploads.Begin(t.Context(), vaulttest.Operator, row.plan)
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}
