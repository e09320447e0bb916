package upload_test

import (
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

// uploadTo uploads a document to the folder at path below the given folder and returns
// the outcome.
func uploadTo(t *testing.T, v *instance.Instance, folder uint64, path []string, name string, content []byte) upload.Upload {
	t.Helper()
	plan := upload.Plan{Folder: folder, Path: path, Filename: name, Size: int64(len(content))}
	return write(t, v, vaulttest.BeginUpload(t, v, plan).ID, 0, content)
}

// folderNames returns the names of all folders, parents first.
func folderNames(t *testing.T, v *instance.Instance) (names []string) {
	t.Helper()
	list, err := v.Folders.List(t.Context())
	if err != nil {
		t.Fatalf("list folders: %v", err)
	}
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}

func TestUploadCreatesFolders(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before := folderNames(t, v)
	starters := vaulttest.CreateFolder(t, v, "My starters", 0)
	if up := uploadTo(t, v, starters.ID, []string{"Wexcombe County", "Empty"}, "Bad.pdf", []byte("no PDF")); up.Rejection == "" {
		t.Errorf("upload of an invalid document = %+v, want a rejection", up)
	}
	if got, want := len(folderNames(t, v)), len(before)+1; got != want {
		t.Errorf("folders after a rejected document = %d, want %d", got, want)
	}
	first := uploadTo(t, v, starters.ID, []string{"Wexcombe County", "Twp A"}, "a.pdf", vaulttest.PDF(1, "a"))
	second := uploadTo(t, v, starters.ID, []string{"WEXCOMBE county", "twp a"}, "b.pdf", vaulttest.PDF(1, "b"))
	third := uploadTo(t, v, starters.ID, []string{"Wexcombe County"}, "c.pdf", vaulttest.PDF(1, "c"))
	if first.File == nil || second.File == nil || third.File == nil {
		t.Fatalf("uploads = %+v, %+v, %+v; want three stored files", first, second, third)
	}
	created := slices.DeleteFunc(folderNames(t, v), func(name string) bool { return slices.Contains(before, name) })
	if want := []string{"My starters", "Wexcombe County", "Twp A"}; !slices.Equal(created, want) {
		t.Errorf("created folders = %q, want %q", created, want)
	}
	if first.File.FolderID != second.File.FolderID || first.File.FolderID == third.File.FolderID {
		t.Errorf("folders of the files = %d, %d, %d; want the same for the first two and another for the third",
			first.File.FolderID, second.File.FolderID, third.File.FolderID)
	}
	township, err := v.Folders.Get(t.Context(), first.File.FolderID)
	if err != nil || township.Name != "Twp A" || township.ParentID != third.File.FolderID {
		t.Errorf("folder of the first file = %+v, %v; want Twp A in folder %d", township, err, third.File.FolderID)
	}
	query := vault.Query{Filters: []vault.Filter{{Column: model.ColumnKind, Value: "folder.created"}}, Limit: 10}
	log, err := v.Events.List(t.Context(), query)
	if err != nil || len(log.Items) != 3 {
		t.Errorf("audit entries of created folders = %d, %v; want 3", len(log.Items), err)
	}
}

func TestUploadInvalidPath(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	abstract := vaulttest.CreateAbstract(t, v)
	for _, tt := range []struct {
		name string
		plan upload.Plan
		want string
	}{
		{"too deep", upload.Plan{Path: slices.Repeat([]string{"a"}, model.MaxFolderDepth+1)}, string(model.MsgFolderTooDeep)},
		{"empty name", upload.Plan{Path: []string{"a", "", "b"}}, "The name field is required."},
		{"long name", upload.Plan{Path: []string{strings.Repeat("x", model.MaxNameLength+1)}}, "The name field"},
		{"folder of an abstract", upload.Plan{Abstract: abstract.Abstract.ID, Path: []string{"a"}}, "Documents of an abstract can't be in folders. Omit `path`."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.plan.Filename, tt.plan.Size = "a.pdf", 10
			_, err := v.Uploads.Begin(t.Context(), vaulttest.Operator, tt.plan)
			if errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Begin() = %v, want an Invalid error with %q", err, tt.want)
			}
		})
	}
}
