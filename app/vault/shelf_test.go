package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

func TestShelf(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	plats := folder(t, v, "Plats", 0)
	county := folder(t, v, "County", plats.ID)
	folder(t, v, "Book 10", county.ID)
	folder(t, v, "Elsewhere", 0)
	into := func(id uint64, names ...string) {
		for _, name := range names {
			file := upload(t, v, pdf(name, name))[0]
			moved, left, err := v.Files.Move(t.Context(), clerk, []uint64{file.ID}, id)
			if err != nil || moved != 1 || left != nil {
				t.Fatalf("%d, %v, %v", moved, left, err)
			}
		}
	}
	into(county.ID, "Plat 10.pdf", "plat 2.pdf", "Plat 002b.pdf", "a.pdf")
	into(0, "loose.pdf")
	s, err := v.Folders.Shelf(t.Context(), county.ID)
	if err != nil {
		t.Fatal(err)
	}
	tree := ""
	var draw func(list []vault.Branch, depth int)
	draw = func(list []vault.Branch, depth int) {
		for _, b := range list {
			tree += fmt.Sprintf("%s%s %d %v\n", strings.Repeat(" ", depth), b.Name, b.Count, b.Here)
			draw(b.Inside, depth+1)
		}
	}
	draw(s.Tree, 0)
	if !strings.Contains(tree, "Elsewhere 0 false\n") || !strings.Contains(tree, "Plats 0 false\n County 4 true\n  Book 10 0 false\n") {
		t.Errorf("tree\n%s", tree)
	}
	if len(s.Way) != 2 || s.Way[0].ID != plats.ID || s.Way[1].ID != county.ID || len(s.Inside) != 1 || s.Inside[0].Name != "Book 10" {
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
	under, err := v.Folders.Under(t.Context(), plats.ID, 10)
	if err != nil || len(under) != 4 || strings.Join(under[0].Way, "/") != "County" || under[0].File.Filename != "a.pdf" {
		t.Errorf("%+v, %v", under, err)
	}
	if under, err = v.Folders.Under(t.Context(), 0, 10); err != nil || len(under) != 5 || len(under[0].Way) != 0 || strings.Join(under[4].Way, "/") != "Plats/County" {
		t.Errorf("%+v, %v", under, err)
	}
	_, err = v.Folders.Under(t.Context(), 0, 4)
	kind(t, "too many", err, title.Conflict)
	_, err = v.Folders.Shelf(t.Context(), 99)
	kind(t, "no folder", err, title.NotFound)
	if top, err := v.Folders.Shelf(t.Context(), 0); err != nil || len(top.Way) != 0 || len(top.Inside) != len(top.Tree) {
		t.Errorf("%+v, %v", top, err)
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	deeds := folder(t, v, "Deeds", 0)
	a := create(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"), pdf("3.pdf", "3"))
	loose := upload(t, v, pdf("4.pdf", "4"), pdf("5.pdf", "5"))
	ids := []uint64{a.Files[0].ID, loose[1].ID, loose[0].ID, loose[0].ID, 99}
	for range 2 { // the second finds them there
		moved, left, err := v.Files.Move(t.Context(), clerk, ids, deeds.ID)
		if err != nil || moved != 2 || len(left) != 2 || left[0].File.Filename != "1.pdf" || left[1].File.ID != 99 {
			t.Errorf("%d, %+v, %v", moved, left, err)
		}
	}
	if f, err := v.Files.Get(t.Context(), loose[0].ID); err != nil || f.FolderID != deeds.ID || f.Version != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	_, _, err := v.Files.Move(t.Context(), clerk, ids, 77)
	kind(t, "no folder", err, title.NotFound)
	trashed, left, err := v.Files.TrashSeveral(t.Context(), clerk, []uint64{a.Files[0].ID, a.Files[2].ID, loose[0].ID, 99})
	if err != nil || trashed != 3 || len(left) != 1 {
		t.Errorf("%d, %+v, %v", trashed, left, err)
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 1 || got.Files[0].Filename != "2.pdf" {
		t.Errorf("%+v, %v", got.Files, err)
	}
	for _, id := range []uint64{a.Files[2].ID, a.Files[0].ID} {
		if _, err := v.Files.Restore(t.Context(), clerk, id, vault.Keep[title.File]{}); err != nil {
			t.Error(err)
		}
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 3 || got.Files[0].Filename != "1.pdf" {
		t.Errorf("%+v, %v", got.Files, err)
	}
}
