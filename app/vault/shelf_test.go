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

func TestShelf(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	plats := vaulttest.CreateFolder(t, v, "Plats", 0)
	county := vaulttest.CreateFolder(t, v, "County", plats.ID)
	vaulttest.CreateFolder(t, v, "Book 10", county.ID)
	vaulttest.CreateFolder(t, v, "Elsewhere", 0)
	into := func(id uint64, names ...string) {
		for _, name := range names {
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(name, name))[0]
			moved, left, err := v.Files.Move(t.Context(), vaulttest.Operator, []uint64{file.ID}, id)
			if err != nil || moved != 1 || left != nil {
				t.Fatalf("%d, %v, %v", moved, left, err)
			}
		}
	}
	into(county.ID, "Plat 10.pdf", "plat 2.pdf", "Plat 002b.pdf", "a.pdf")
	into(0, "loose.pdf")
	s, err := v.Folders.View(t.Context(), county.ID)
	if err != nil {
		t.Fatal(err)
	}
	tree := ""
	var draw func(list []vault.TreeNode, depth int)
	draw = func(list []vault.TreeNode, depth int) {
		for _, b := range list {
			tree += fmt.Sprintf("%s%s %d %v\n", strings.Repeat(" ", depth), b.Name, b.Count, b.Current)
			draw(b.Children, depth+1)
		}
	}
	draw(s.Tree, 0)
	if !strings.Contains(tree, "Elsewhere 0 false\n") || !strings.Contains(tree, "Plats 0 false\n County 4 true\n  Book 10 0 false\n") {
		t.Errorf("tree\n%s", tree)
	}
	if len(s.Breadcrumbs) != 2 || s.Breadcrumbs[0].ID != plats.ID || s.Breadcrumbs[1].ID != county.ID || len(s.Subfolders) != 1 || s.Subfolders[0].Name != "Book 10" {
		t.Errorf("%+v", s)
	}
	names := func(by vault.FolderSort, down bool) string {
		list, err := v.Folders.Documents(t.Context(), county.ID, by, down)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range list {
			names = append(names, f.Filename)
		}
		return strings.Join(names, ",")
	}
	if got := names(vault.ByName, false); got != "a.pdf,plat 2.pdf,Plat 002b.pdf,Plat 10.pdf" {
		t.Errorf("by name: %s", got)
	}
	if got := names(vault.ByDate, true); got != "a.pdf,Plat 002b.pdf,plat 2.pdf,Plat 10.pdf" {
		t.Errorf("by date: %s", got)
	}
	if list, err := v.Folders.Documents(t.Context(), 0, vault.ByName, false); err != nil || len(list) != 1 || list[0].Filename != "loose.pdf" {
		t.Errorf("%v, %v", list, err)
	}
	middle, err := v.Folders.Documents(t.Context(), county.ID, vault.ByName, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1 of 4: , plat 2.pdf", "2 of 4: a.pdf, Plat 002b.pdf", "3 of 4: plat 2.pdf, Plat 10.pdf", "4 of 4: Plat 002b.pdf, "} {
		a, err := v.Folders.Neighbors(t.Context(), middle[i])
		if err != nil {
			t.Fatal(err)
		}
		name := func(f *model.File) string {
			if f == nil {
				return ""
			}
			return f.Filename
		}
		if got := fmt.Sprintf("%d of %d: %s, %s", a.Position, a.Count, name(a.Previous), name(a.Next)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	under, err := v.Folders.Descendants(t.Context(), plats.ID, 10)
	if err != nil || len(under) != 4 || strings.Join(under[0].Path, "/") != "County" || under[0].File.Filename != "a.pdf" {
		t.Errorf("%+v, %v", under, err)
	}
	if under, err = v.Folders.Descendants(t.Context(), 0, 10); err != nil || len(under) != 5 || len(under[0].Path) != 0 || strings.Join(under[4].Path, "/") != "Plats/County" {
		t.Errorf("%+v, %v", under, err)
	}
	_, err = v.Folders.Descendants(t.Context(), 0, 4)
	vaulttest.WantKind(t, "too many", err, errs.Conflict)
	_, err = v.Folders.View(t.Context(), 99)
	vaulttest.WantKind(t, "no folder", err, errs.NotFound)
	if top, err := v.Folders.View(t.Context(), 0); err != nil || len(top.Breadcrumbs) != 0 || len(top.Subfolders) != len(top.Tree) {
		t.Errorf("%+v, %v", top, err)
	}
}

// The order of a large folder is remembered, and never an old one given.
func TestRow(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	one := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("x.pdf", "x"))[0]
	if err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		for n := range 450 {
			id, err := tx.NewFileID()
			if err != nil {
				return err
			}
			file := one
			file.ID, file.FolderID, file.Filename, file.Processing = id, deeds.ID, fmt.Sprintf("Deed %d.pdf", 450-n), false
			if err := tx.PutFile(file); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	row := func(by vault.FolderSort, down bool, from int) string {
		got, err := v.Folders.FilePage(t.Context(), deeds.ID, by, down, from, 100)
		if err != nil || len(got.Files) == 0 {
			t.Fatal(len(got.Files), err)
		}
		return fmt.Sprintf("%s to %s, %d to %d of %d", got.Files[0].Filename, got.Files[len(got.Files)-1].Filename, got.Offset+1, got.Offset+len(got.Files), got.Total)
	}
	for range 2 {
		for _, want := range []struct {
			by   vault.FolderSort
			down bool
			from int
			row  string
		}{
			{vault.ByName, false, 0, "Deed 1.pdf to Deed 100.pdf, 1 to 100 of 450"},
			{vault.ByName, true, 0, "Deed 450.pdf to Deed 351.pdf, 1 to 100 of 450"},
			{vault.ByName, false, 400, "Deed 401.pdf to Deed 450.pdf, 401 to 450 of 450"},
			{vault.ByName, false, 9000, "Deed 401.pdf to Deed 450.pdf, 401 to 450 of 450"},
			{vault.ByDate, false, 100, "Deed 350.pdf to Deed 251.pdf, 101 to 200 of 450"},
		} {
			if got := row(want.by, want.down, want.from); got != want.row {
				t.Errorf("got %s, want %s", got, want.row)
			}
		}
	}
	if _, err := v.Files.Patch(t.Context(), vaulttest.Operator, one.ID+1, model.FilePatch{Filename: model.Some(model.StringInput("A.pdf"))}, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	if got := row(vault.ByName, false, 0); !strings.HasPrefix(got, "A.pdf to Deed 99.pdf") {
		t.Errorf("renamed: %s", got)
	}
	if _, _, err := v.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{one.ID + 1}); err != nil {
		t.Fatal(err)
	}
	if got := row(vault.ByName, false, 0); got != "Deed 1.pdf to Deed 100.pdf, 1 to 100 of 449" {
		t.Errorf("trashed: %s", got)
	}
	if _, _, err := v.Files.Move(t.Context(), vaulttest.Operator, []uint64{one.ID}, deeds.ID); err != nil {
		t.Fatal(err)
	}
	if got := row(vault.ByName, true, 0); !strings.HasPrefix(got, "x.pdf") {
		t.Errorf("moved: %s", got)
	}
	if got, err := v.Folders.FilePage(t.Context(), 0, vault.ByName, false, 0, 10); err != nil || got.Total != 0 || len(got.Files) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("4.pdf", "4"), vaulttest.PDFDoc("5.pdf", "5"))
	ids := []uint64{a.Files[0].ID, loose[1].ID, loose[0].ID, loose[0].ID, 99}
	for range 2 { // the second finds them there
		moved, left, err := v.Files.Move(t.Context(), vaulttest.Operator, ids, deeds.ID)
		if err != nil || moved != 2 || len(left) != 2 || left[0].File.Filename != "1.pdf" || left[1].File.ID != 99 {
			t.Errorf("%d, %+v, %v", moved, left, err)
		}
	}
	if f, err := v.Files.Get(t.Context(), loose[0].ID); err != nil || f.FolderID != deeds.ID || f.Version != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	_, _, err := v.Files.Move(t.Context(), vaulttest.Operator, ids, 77)
	vaulttest.WantKind(t, "no folder", err, errs.NotFound)
	trashed, left, err := v.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{a.Files[0].ID, a.Files[2].ID, loose[0].ID, 99})
	if err != nil || trashed != 3 || len(left) != 1 {
		t.Errorf("%d, %+v, %v", trashed, left, err)
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 1 || got.Files[0].Filename != "2.pdf" {
		t.Errorf("%+v, %v", got.Files, err)
	}
	for _, id := range []uint64{a.Files[2].ID, a.Files[0].ID} {
		if _, err := v.Files.Restore(t.Context(), vaulttest.Operator, id, vault.Idempotency[model.File]{}); err != nil {
			t.Error(err)
		}
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 3 || got.Files[0].Filename != "1.pdf" {
		t.Errorf("%+v, %v", got.Files, err)
	}
}
