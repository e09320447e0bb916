package vault_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// wantLogged fails the test unless the newest events are these, each as
// "kind record" with its changes, the last one first.
func wantLogged(t *testing.T, v *instance.Instance, want ...string) {
	t.Helper()
	var have []string
	for _, e := range vaulttest.AuditEntries(t, v, len(want)) {
		line := e.Kind + " " + e.Record
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s:%s>%s", c.Field, c.From, c.To)
		}
		have = append(have, line)
	}
	if !slices.Equal(have, want) {
		t.Errorf("logged\n     %s\nwant %s", strings.Join(have, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestAbstractPatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	first, second := before.Files[0].ID, before.Files[1].ID
	patch := model.AbstractPatch{
		Status: vaulttest.SomeText("In Search"), PropertyPatch: model.PropertyPatch{City: vaulttest.SomeText("Troy")},
		Custom: model.Some(vaulttest.CustomText("file_number", `"24-1"`)),
		Files:  model.Some(model.IDListInput{IsArray: true, Items: []model.IDInput{vaulttest.IDInput(second), vaulttest.IDInput(first)}}),
	}
	after, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, patch, vaulttest.MatchVersions(before.Abstract.Version))
	if err != nil {
		t.Fatal(err)
	}
	a := after.Abstract
	if a.Status != "In Search" || a.City != "Troy" || a.Version != 2 || !a.UpdatedAt.After(before.Abstract.UpdatedAt) || after.Files[0].ID != second {
		t.Errorf("%+v", after)
	}
	read, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || !reflect.DeepEqual(read, after) {
		t.Errorf("reads %+v, %v\n want %+v", read, err, after)
	}
	wantLogged(t, v, fmt.Sprintf(`abstract.changed abstract:1 status:"New">"In Search" city:null>"Troy" files:[%d,%d]>[%d,%d] custom_fields.file_number:null>"24-1"`,
		first, second, second, first))
	// What is the same is not written, but a stale reader is told.
	same, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, patch, vault.Match{Given: true, Any: true})
	if err != nil || !reflect.DeepEqual(same, after) {
		t.Errorf("the same again: %+v, %v", same, err)
	}
	if n := len(vaulttest.AuditEntries(t, v, 100)); n != 5 {
		t.Errorf("%d events", n)
	}
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, patch, vaulttest.MatchVersions(1))
	vaulttest.WantKind(t, "the same, stale", err, errs.PreconditionFailed)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{Status: vaulttest.SomeText("x")}, vaulttest.MatchVersions(1))
	vaulttest.WantKind(t, "wrong and stale", err, errs.PreconditionFailed)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{Status: vaulttest.SomeText("x")}, vaulttest.MatchVersions(7, 2))
	vaulttest.WantKind(t, "an unknown status", err, errs.Invalid)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 9, patch, vaulttest.MatchVersions(1))
	vaulttest.WantKind(t, "no abstract", err, errs.NotFound)
}

// A retired template still serves its abstracts.
func TestAbstractPatchRetiredTemplate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v)
	if err := retire(v, 1); err != nil {
		t.Fatal(err)
	}
	after, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{TemplateID: model.Some(vaulttest.IDInput(1)), Status: vaulttest.SomeText("Complete"),
		Custom: model.Some(vaulttest.CustomText("search_type", `"Update"`))}, vault.Match{})
	if err != nil || after.Abstract.Status != "Complete" || string(after.Abstract.Custom["search_type"]) != `"Update"` {
		t.Errorf("%+v, %v", after.Abstract, err)
	}
}

// Two clients read the same version; the second is told and loses nothing.
func TestTwoClientsPatchTheSame(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v)
	cities := []string{"Troy", "Albany"}
	results := make([]error, 2)
	var both sync.WaitGroup
	for i, city := range cities {
		both.Go(func() {
			_, results[i] = v.Abstracts.Patch(context.Background(), vaulttest.Operator, 1, model.AbstractPatch{PropertyPatch: model.PropertyPatch{City: vaulttest.SomeText(city)}}, vaulttest.MatchVersions(1))
		})
	}
	both.Wait()
	won := slices.Index(results, nil)
	if won < 0 {
		t.Fatal(results)
	}
	vaulttest.WantKind(t, "the other one", results[1-won], errs.PreconditionFailed)
	read, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || read.Abstract.City != cities[won] {
		t.Fatalf("%+v, %v", read.Abstract, err)
	}
	read, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{PropertyPatch: model.PropertyPatch{City: vaulttest.SomeText(cities[1-won])}}, vaulttest.MatchVersions(read.Abstract.Version))
	if err != nil || read.Abstract.City != cities[1-won] || read.Abstract.Version != 3 {
		t.Errorf("again with the new version: %+v, %v", read.Abstract, err)
	}
}

func TestOrderPatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.UniqueOrderNumber = true })
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.CreateOrder(t, v, "A-2")
	after, err := v.Orders.Patch(t.Context(), vaulttest.Operator, 1, model.OrderPatch{Number: vaulttest.SomeText("a-1"), Status: vaulttest.SomeText("on_hold"), DueDate: vaulttest.SomeText("2026-06-15")}, vaulttest.MatchVersions(1))
	if err != nil || after.Number != "a-1" || after.Status != "on_hold" || after.Version != 2 {
		t.Fatalf("%+v, %v", after, err)
	}
	wantLogged(t, v, `order.changed order:1 order_number:"A-1">"a-1" status:"active">"on_hold" due_date:null>"2026-06-15"`)
	_, err = v.Orders.Patch(t.Context(), vaulttest.Operator, 1, model.OrderPatch{Number: vaulttest.SomeText("a-2 ")}, vault.Match{})
	vaulttest.WantKind(t, "a number that is taken", err, errs.Invalid)
	if err := v.Orders.Trash(t.Context(), vaulttest.Operator, 2, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	if after, err = v.Orders.Patch(t.Context(), vaulttest.Operator, 1, model.OrderPatch{Number: vaulttest.SomeText("A-2")}, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	_, err = v.Orders.Restore(t.Context(), vaulttest.Operator, 2, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "restored with a number that is taken", err, errs.Invalid)
	page, err := v.Orders.List(t.Context(), vault.Query{Limit: 9})
	if err != nil || len(page.Items) != 1 || !reflect.DeepEqual(page.Items[0], after) {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestFilePatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	plain := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))[0]
	of := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("b.pdf", "b")).Files[0]
	after, err := v.Files.Patch(t.Context(), vaulttest.Operator, plain.ID, model.FilePatch{Filename: vaulttest.SomeText("Deed.PDF"), FolderID: model.Some(vaulttest.IDInput(1))}, vaulttest.MatchVersions(1))
	if err != nil || after.Filename != "Deed.PDF" || after.FolderID != 1 || after.Version != 2 {
		t.Fatalf("%+v, %v", after, err)
	}
	wantLogged(t, v, fmt.Sprintf(`file.changed file:%d filename:"a.pdf">"Deed.PDF" folder_id:null>1`, plain.ID))
	for _, row := range []struct {
		name  string
		file  uint64
		patch model.FilePatch
	}{
		{"unknown folder", plain.ID, model.FilePatch{FolderID: model.Some(vaulttest.IDInput(99))}},
		{"another kind", plain.ID, model.FilePatch{Filename: vaulttest.SomeText("a.txt")}},
		{"of an abstract", of.ID, model.FilePatch{FolderID: model.Some(vaulttest.IDInput(1))}},
	} {
		_, err := v.Files.Patch(t.Context(), vaulttest.Operator, row.file, row.patch, vault.Match{})
		vaulttest.WantKind(t, row.name, err, errs.Invalid)
	}
	page, err := v.Files.List(t.Context(), vault.Query{Limit: 9, Filters: []store.Filter{{Column: store.ColumnFolder, Value: "1"}}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != plain.ID {
		t.Errorf("%+v, %v", page, err)
	}
	if after, err = v.Files.Patch(t.Context(), vaulttest.Operator, plain.ID, model.FilePatch{FolderID: model.Some(model.IDInput{})}, vault.Match{}); err != nil || after.FolderID != 0 {
		t.Errorf("out of its folder: %+v, %v", after, err)
	}
}

func TestFolderPatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	top := vaulttest.CreateFolder(t, v, "Top", 0)
	mid := vaulttest.CreateFolder(t, v, "Mid", top.ID)
	low := vaulttest.CreateFolder(t, v, "Low", mid.ID)
	vaulttest.CreateFolder(t, v, "low", top.ID)
	for _, row := range []struct {
		name    string
		folder  uint64
		patch   model.FolderPatch
		refused string // a field
	}{
		{"into itself", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(top.ID))}, "parent_id"},
		{"beneath itself", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ID))}, "parent_id"},
		{"into an unknown one", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(99))}, "parent_id"},
		{"a name taken where it goes", low.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(top.ID))}, "name"},
		{"a name taken where it is", mid.ID, model.FolderPatch{Name: vaulttest.SomeText("LOW")}, "name"},
		{"no name", mid.ID, model.FolderPatch{Name: model.Some(model.Input{})}, "name"},
		{"its own name in capitals", mid.ID, model.FolderPatch{Name: vaulttest.SomeText("MID")}, ""},
		{"to the root", low.ID, model.FolderPatch{ParentID: model.Some(model.IDInput{})}, ""},
		{"then the other way round", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ID)), Name: vaulttest.SomeText("Under")}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Folders.Patch(t.Context(), vaulttest.Operator, row.folder, row.patch, vault.Match{})
			wantRefused(t, err, row.refused)
		})
	}
	got, err := v.Folders.Get(t.Context(), top.ID)
	if err != nil || got.Name != "Under" || got.ParentID != low.ID || got.Version != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	wantLogged(t, v, fmt.Sprintf(`folder.changed folder:%d name:"Top">"Under" parent_id:null>%d`, top.ID, low.ID))
	_, err = v.Folders.Patch(t.Context(), vaulttest.Operator, top.ID, model.FolderPatch{Name: vaulttest.SomeText("Top")}, vaulttest.MatchVersions(0))
	vaulttest.WantKind(t, "stale", err, errs.PreconditionFailed)
}

func TestFolderRemove(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	top := vaulttest.CreateFolder(t, v, "Top", 0)
	low := vaulttest.CreateFolder(t, v, "Low", top.ID)
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{FolderID: vaulttest.IDInput(low.ID)}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "a")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	remove := func(id uint64) error {
		return v.Folders.Remove(context.Background(), vaulttest.Operator, id, vault.Match{})
	}
	vaulttest.WantKind(t, "with a folder in it", remove(top.ID), errs.Conflict)
	vaulttest.WantKind(t, "with a document in it", remove(low.ID), errs.Conflict)
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, filed.Files[0].ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	vaulttest.WantKind(t, "stale", v.Folders.Remove(t.Context(), vaulttest.Operator, low.ID, vaulttest.MatchVersions(7)), errs.PreconditionFailed)
	if err := remove(low.ID); err != nil {
		t.Fatal(err)
	}
	wantLogged(t, v, fmt.Sprintf("folder.removed folder:%d", low.ID))
	vaulttest.WantKind(t, "removed", remove(low.ID), errs.NotFound)
	if err := remove(top.ID); err != nil {
		t.Fatal(err)
	}
	back, err := v.Files.Restore(t.Context(), vaulttest.Operator, filed.Files[0].ID, vault.Idempotency[model.File]{})
	if err != nil || back.FolderID != 0 {
		t.Errorf("a document whose folder is gone: %+v, %v", back, err)
	}
	if again := vaulttest.CreateFolder(t, v, "Low", 0); again.ID <= low.ID {
		t.Errorf("the number %d is used again", again.ID)
	}
}

// wantRefused fails the test unless err refuses that field first; "" for no error.
func wantRefused(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	vaulttest.WantKind(t, field, err, errs.Invalid)
	if e := refusalOf(err); len(e) == 0 || e[0].Field != field {
		t.Errorf("refused %v, want %s", e, field)
	}
}

// A required custom field cannot be cleared where it is enforced, and is not
// judged where it was not sent.
func TestPatchEnforcesRequired(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v) // without its other required one, search_type
	if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{Custom: model.Some(vaulttest.CustomText("file_number", `"24-1"`))}, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	v.SetEnforceRequired(true)
	_, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{Custom: model.Some(vaulttest.CustomText("file_number", "null"))}, vault.Match{})
	wantRefused(t, err, "custom_fields.file_number")
	after, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{TaxMap: vaulttest.SomeText("9")}, vault.Match{})
	if err != nil || string(after.Abstract.Custom["file_number"]) != `"24-1"` || after.Abstract.TaxMap != "9" {
		t.Errorf("%+v, %v", after.Abstract, err)
	}
}

// refusalOf gives the fields that an error refuses.
func refusalOf(err error) errs.Fields {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Fields
	}
	return nil
}
