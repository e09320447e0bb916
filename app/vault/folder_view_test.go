package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestFolderView(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	plats := vaulttest.CreateFolder(t, v, "Plats", 0)
	county := vaulttest.CreateFolder(t, v, "County", plats.ID)
	vaulttest.CreateFolder(t, v, "Book 10", county.ID)
	vaulttest.CreateFolder(t, v, "Elsewhere", 0)
	upload := func(folder uint64, names ...string) {
		for _, name := range names {
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(name, name))[0]
			moved, err := v.Files.Move(t.Context(), vaulttest.Operator,
				vault.MoveRequest{Files: []uint64{file.ID}, To: vault.Destination{Folder: folder}})
			if err != nil || moved.Moved != 1 || moved.Skipped != nil {
				t.Fatalf("Files.Move: got %+v, %v, want 1 moved", moved, err)
			}
		}
	}
	upload(county.ID, "Plat 10.pdf", "plat 2.pdf", "Plat 002b.pdf", "a.pdf")
	upload(0, "loose.pdf")
	view, err := v.Folders.View(t.Context(), county.ID)
	if err != nil {
		t.Fatalf("Folders.View: %v", err)
	}
	tree := ""
	var format func(list []vault.TreeNode, depth int)
	format = func(list []vault.TreeNode, depth int) {
		for _, node := range list {
			tree += fmt.Sprintf("%s%s %d %v\n", strings.Repeat(" ", depth), node.Name, node.Count, node.Current)
			format(node.Children, depth+1)
		}
	}
	format(view.Tree, 0)
	if !strings.Contains(tree, "Elsewhere 0 false\n") || !strings.Contains(tree, "Plats 0 false\n County 4 true\n  Book 10 0 false\n") {
		t.Errorf("folder tree: got\n%s\nwant it to contain Elsewhere, and Plats with County and Book 10", tree)
	}
	if len(view.Breadcrumbs) != 2 || view.Breadcrumbs[0].ID != plats.ID || view.Breadcrumbs[1].ID != county.ID ||
		len(view.Subfolders) != 1 || view.Subfolders[0].Name != "Book 10" {
		t.Errorf("Folders.View: got %+v, want the breadcrumbs Plats, County and the subfolder Book 10", view)
	}
	names := func(by vault.FolderSort, descending bool) string {
		list, err := v.Folders.Documents(t.Context(), county.ID, by, descending)
		if err != nil {
			t.Fatalf("Folders.Documents: %v", err)
		}
		var names []string
		for _, f := range list {
			names = append(names, f.Filename)
		}
		return strings.Join(names, ",")
	}
	if got, want := names(vault.ByName, false), "a.pdf,plat 2.pdf,Plat 002b.pdf,Plat 10.pdf"; got != want {
		t.Errorf("documents by name: got %s, want %s", got, want)
	}
	if got, want := names(vault.ByDate, true), "a.pdf,Plat 002b.pdf,plat 2.pdf,Plat 10.pdf"; got != want {
		t.Errorf("documents by date, descending: got %s, want %s", got, want)
	}
	if list, err := v.Folders.Documents(t.Context(), 0, vault.ByName, false); err != nil || len(list) != 1 || list[0].Filename != "loose.pdf" {
		t.Errorf("documents in no folder: got %v, %v, want loose.pdf", list, err)
	}
	documents, err := v.Folders.Documents(t.Context(), county.ID, vault.ByName, false)
	if err != nil {
		t.Fatalf("Folders.Documents: %v", err)
	}
	for i, want := range []string{"1 of 4: , plat 2.pdf", "2 of 4: a.pdf, Plat 002b.pdf", "3 of 4: plat 2.pdf, Plat 10.pdf",
		"4 of 4: Plat 002b.pdf, "} {
		neighbors, err := v.Folders.Neighbors(t.Context(), documents[i])
		if err != nil {
			t.Fatalf("Folders.Neighbors: %v", err)
		}
		name := func(f *model.File) string {
			if f == nil {
				return ""
			}
			return f.Filename
		}
		if got := fmt.Sprintf("%d of %d: %s, %s", neighbors.Position, neighbors.Count, name(neighbors.Previous),
			name(neighbors.Next)); got != want {
			t.Errorf("Folders.Neighbors(%s): got %s, want %s", documents[i].Filename, got, want)
		}
	}
	descendants, err := v.Folders.Descendants(t.Context(), plats.ID, 10)
	if err != nil || len(descendants) != 4 || strings.Join(descendants[0].Path, "/") != "County" || descendants[0].File.Filename != "a.pdf" {
		t.Errorf("Folders.Descendants: got %+v, %v, want 4 files in County, a.pdf first", descendants, err)
	}
	if descendants, err = v.Folders.Descendants(t.Context(), 0, 10); err != nil || len(descendants) != 5 ||
		len(descendants[0].Path) != 0 || strings.Join(descendants[4].Path, "/") != "Plats/County" {
		t.Errorf("Folders.Descendants of the root: got %+v, %v, want 5 files, the last in Plats/County", descendants, err)
	}
	_, err = v.Folders.Descendants(t.Context(), 0, 4)
	vaulttest.WantKind(t, "more descendants than the limit", err, errs.Conflict)
	_, err = v.Folders.View(t.Context(), 99)
	vaulttest.WantKind(t, "unknown folder", err, errs.NotFound)
	if top, err := v.Folders.View(t.Context(), 0); err != nil || len(top.Breadcrumbs) != 0 || len(top.Subfolders) != len(top.Tree) {
		t.Errorf("Folders.View of the root: got %+v, %v, want no breadcrumbs", top, err)
	}
}

// FilePage caches the sort order of a large folder and discards it when a file changes.
func TestFolderFilePage(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	uploaded := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("x.pdf", "x"))[0]
	if err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		for n := range 450 {
			id, err := tx.NewFileID()
			if err != nil {
				return err
			}
			file := uploaded
			file.ID, file.FolderID, file.Filename, file.Processing = id, deeds.ID, fmt.Sprintf("Deed %d.pdf", 450-n), false
			if err := tx.PutFile(file); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatalf("Store.Update: %v", err)
	}
	page := func(by vault.FolderSort, descending bool, offset int) string {
		got, err := v.Folders.FilePage(t.Context(), deeds.ID, by, descending, offset, 100)
		if err != nil || len(got.Files) == 0 {
			t.Fatalf("Folders.FilePage: got %d files, %v, want at least 1", len(got.Files), err)
		}
		return fmt.Sprintf("%s to %s, %d to %d of %d", got.Files[0].Filename, got.Files[len(got.Files)-1].Filename, got.Offset+1,
			got.Offset+len(got.Files), got.Total)
	}
	for range 2 {
		for _, row := range []struct {
			by         vault.FolderSort
			descending bool
			offset     int
			want       string
		}{
			{vault.ByName, false, 0, "Deed 1.pdf to Deed 100.pdf, 1 to 100 of 450"},
			{vault.ByName, true, 0, "Deed 450.pdf to Deed 351.pdf, 1 to 100 of 450"},
			{vault.ByName, false, 400, "Deed 401.pdf to Deed 450.pdf, 401 to 450 of 450"},
			{vault.ByName, false, 9000, "Deed 401.pdf to Deed 450.pdf, 401 to 450 of 450"},
			{vault.ByDate, false, 100, "Deed 350.pdf to Deed 251.pdf, 101 to 200 of 450"},
		} {
			t.Run(fmt.Sprintf("%s descending %t offset %d", row.by, row.descending, row.offset), func(t *testing.T) {
				if got := page(row.by, row.descending, row.offset); got != row.want {
					t.Errorf("FilePage: got %s, want %s", got, row.want)
				}
			})
		}
	}
	if _, err := v.Files.Patch(t.Context(), vaulttest.Operator, uploaded.ID+1,
		model.FilePatch{Filename: model.Some(model.StringInput("A.pdf"))}, vault.Match{}); err != nil {
		t.Fatalf("Files.Patch: %v", err)
	}
	if got := page(vault.ByName, false, 0); !strings.HasPrefix(got, "A.pdf to Deed 99.pdf") {
		t.Errorf("after a rename: got %s, want A.pdf to Deed 99.pdf", got)
	}
	if _, _, err := v.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{uploaded.ID + 1}); err != nil {
		t.Fatalf("Files.TrashMany: %v", err)
	}
	if got := page(vault.ByName, false, 0); got != "Deed 1.pdf to Deed 100.pdf, 1 to 100 of 449" {
		t.Errorf("after a deletion: got %s, want Deed 1.pdf to Deed 100.pdf, 1 to 100 of 449", got)
	}
	if _, err := v.Files.Move(t.Context(), vaulttest.Operator,
		vault.MoveRequest{Files: []uint64{uploaded.ID}, To: vault.Destination{Folder: deeds.ID}}); err != nil {
		t.Fatalf("Files.Move: %v", err)
	}
	if got := page(vault.ByName, true, 0); !strings.HasPrefix(got, "x.pdf") {
		t.Errorf("after a move: got %s, want x.pdf first", got)
	}
	if got, err := v.Folders.FilePage(t.Context(), 0, vault.ByName, false, 0, 10); err != nil || got.Total != 0 || len(got.Files) != 0 {
		t.Errorf("FilePage of no folder: got %+v, %v, want no files", got, err)
	}
}
