package vault_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestAbstractPatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	first, second := before.Files[0].ID, before.Files[1].ID
	patch := model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("In Search"),
		"city": model.StringInput("Troy")},
		Custom: model.Some(vaulttest.CustomText("file_number", `"24-1"`)),
		Files: model.Some(model.IDListInput{IsArray: true, Items: []model.IDInput{vaulttest.IDInput(second),
			vaulttest.IDInput(first)}})}
	after, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, patch, vaulttest.MatchVersions(before.Abstract.Version))
	if err != nil {
		t.Fatalf("Abstracts.Patch: %v", err)
	}
	a := after.Abstract
	if a.Status != "In Search" || a.City != "Troy" || a.Version != 2 || !a.UpdatedAt.After(before.Abstract.UpdatedAt) ||
		after.Files[0].ID != second {
		t.Errorf("Abstracts.Patch: got %+v, want version 2 in Troy, In Search, with file %d first", after, second)
	}
	read, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || !reflect.DeepEqual(read, after) {
		t.Errorf("Abstracts.Get: got %+v, %v\nwant %+v", read, err, after)
	}
	vaulttest.WantLogged(t, v,
		`abstract.changed abstract:1 status:"New">"In Search" city:null>"Troy" files:2>1 custom_fields.file_number:null>"24-1"`)
	// A patch without changes writes nothing, but the precondition is still checked.
	same, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, patch, vault.Match{Given: true, Any: true})
	if err != nil || !reflect.DeepEqual(same, after) {
		t.Errorf("patch without changes: got %+v, %v\nwant %+v", same, err, after)
	}
	if n := len(vaulttest.AuditEntries(t, v, 100)); n != 5 {
		t.Errorf("audit entries: got %d, want 5", n)
	}
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, patch, vaulttest.MatchVersions(1))
	vaulttest.WantKind(t, "patch without changes of an old version", err, errs.PreconditionFailed)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("x")}},
		vaulttest.MatchVersions(1))
	vaulttest.WantKind(t, "invalid patch of an old version", err, errs.PreconditionFailed)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("x")}},
		vaulttest.MatchVersions(7, 2))
	vaulttest.WantKind(t, "unknown status", err, errs.Invalid)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 9, patch, vaulttest.MatchVersions(1))
	vaulttest.WantKind(t, "unknown abstract", err, errs.NotFound)
}

// An abstract whose template is retired can still be changed.
func TestAbstractPatchRetiredTemplate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v)
	if err := retireTemplate(v, 1); err != nil {
		t.Fatalf("retire template 1: %v", err)
	}
	after, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("Complete")},
			TemplateID: model.Some(vaulttest.IDInput(1)),
			Custom:     model.Some(vaulttest.CustomText("search_type", `"Update"`))}, vault.Match{})
	if err != nil || after.Abstract.Status != "Complete" || string(after.Abstract.Custom["search_type"]) != `"Update"` {
		t.Errorf("Abstracts.Patch: got %+v, %v, want a complete abstract of search type Update", after.Abstract, err)
	}
}

// If two clients change the same version, the second change fails. It succeeds when it is repeated with the new
// version.
func TestAbstractPatchConcurrently(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v)
	cities := []string{"Troy", "Albany"}
	results := make([]error, 2)
	var wg sync.WaitGroup
	for i, city := range cities {
		wg.Go(func() {
			_, results[i] = v.Abstracts.Patch(context.Background(), vaulttest.Operator, 1,
				model.AbstractPatch{Fields: model.Inputs{"city": model.StringInput(city)}}, vaulttest.MatchVersions(1))
		})
	}
	wg.Wait()
	winner := slices.Index(results, nil)
	if winner < 0 {
		t.Fatalf("concurrent patches: got %v, want one success", results)
	}
	vaulttest.WantKind(t, "the second patch", results[1-winner], errs.PreconditionFailed)
	read, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || read.Abstract.City != cities[winner] {
		t.Fatalf("Abstracts.Get: got %+v, %v, want city %s", read.Abstract, err, cities[winner])
	}
	read, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Fields: model.Inputs{"city": model.StringInput(cities[1-winner])}},
		vaulttest.MatchVersions(read.Abstract.Version))
	if err != nil || read.Abstract.City != cities[1-winner] || read.Abstract.Version != 3 {
		t.Errorf("patch of the new version: got %+v, %v, want version 3 with city %s", read.Abstract, err, cities[1-winner])
	}
}

func TestOrderPatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.UniqueOrderNumber = true })
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.CreateOrder(t, v, "A-2")
	after, err := v.Orders.Patch(t.Context(), vaulttest.Operator, 1,
		model.OrderPatch{Fields: model.Inputs{"order_number": model.StringInput("a-1"),
			"status": model.StringInput("on_hold"), "due_date": model.StringInput("2026-06-15")}},
		vaulttest.MatchVersions(1))
	if err != nil || after.Number != "a-1" || after.Status != "on_hold" || after.Version != 2 {
		t.Fatalf("Orders.Patch: got %+v, %v, want version 2 of order a-1, on hold", after, err)
	}
	vaulttest.WantLogged(t, v, `order.changed order:1 order_number:"A-1">"a-1" status:"active">"on_hold" due_date:null>"2026-06-15"`)
	_, err = v.Orders.Patch(t.Context(), vaulttest.Operator, 1,
		model.OrderPatch{Fields: model.Inputs{"order_number": model.StringInput("a-2 ")}}, vault.Match{})
	vaulttest.WantKind(t, "number of another order", err, errs.Invalid)
	if err := v.Orders.Trash(t.Context(), vaulttest.Operator, 2, vault.Match{}); err != nil {
		t.Fatalf("Orders.Trash: %v", err)
	}
	if after, err = v.Orders.Patch(t.Context(), vaulttest.Operator, 1,
		model.OrderPatch{Fields: model.Inputs{"order_number": model.StringInput("A-2")}},
		vault.Match{}); err != nil {
		t.Fatalf("Orders.Patch: %v", err)
	}
	_, err = v.Orders.Restore(t.Context(), vaulttest.Operator, 2, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "restore an order with a number in use", err, errs.Invalid)
	page, err := v.Orders.List(t.Context(), vault.Query{Limit: 9})
	if err != nil || len(page.Items) != 1 || !reflect.DeepEqual(page.Items[0], after) {
		t.Errorf("Orders.List: got %+v, %v, want %+v", page, err, after)
	}
}

func TestFilePatch(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))[0]
	ofAbstract := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("b.pdf", "b")).Files[0]
	after, err := v.Files.Patch(t.Context(), vaulttest.Operator, loose.ID,
		model.FilePatch{Filename: vaulttest.SomeText("Deed.PDF"), FolderID: model.Some(vaulttest.IDInput(1))}, vaulttest.MatchVersions(1))
	if err != nil || after.Filename != "Deed.PDF" || after.FolderID != 1 || after.Version != 2 {
		t.Fatalf("Files.Patch: got %+v, %v, want version 2 of Deed.PDF in folder 1", after, err)
	}
	vaulttest.WantLogged(t, v, fmt.Sprintf(`file.changed file:%d filename:"a.pdf">"Deed.PDF" folder_id:null>1`, loose.ID))
	for _, row := range []struct {
		name  string
		file  uint64
		patch model.FilePatch
	}{
		{"unknown folder", loose.ID, model.FilePatch{FolderID: model.Some(vaulttest.IDInput(99))}},
		{"other extension", loose.ID, model.FilePatch{Filename: vaulttest.SomeText("a.txt")}},
		{"unknown abstract", ofAbstract.ID, model.FilePatch{AbstractID: model.Some(vaulttest.IDInput(99))}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Files.Patch(t.Context(), vaulttest.Operator, row.file, row.patch, vault.Match{})
			vaulttest.WantKind(t, row.name, err, errs.Invalid)
		})
	}
	page, err := v.Files.List(t.Context(), vault.Query{Limit: 9, Filters: []store.Filter{{Column: model.ColumnFolder, Value: "1"}}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != loose.ID {
		t.Errorf("files in folder 1: got %+v, %v, want file %d", page, err, loose.ID)
	}
	if after, err = v.Files.Patch(t.Context(), vaulttest.Operator, loose.ID, model.FilePatch{FolderID: model.Some(model.IDInput{})},
		vault.Match{}); err != nil || after.FolderID != 0 {
		t.Errorf("remove from the folder: got %+v, %v, want no folder", after, err)
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
		invalid string // name of the invalid field; "": the patch is valid
	}{
		{"into itself", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(top.ID))}, "parent_id"},
		{"into a folder below itself", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ID))}, "parent_id"},
		{"into an unknown folder", top.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(99))}, "parent_id"},
		{"name in use in the new parent", low.ID, model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(top.ID))}, "name"},
		{"name in use in the same parent", mid.ID, model.FolderPatch{Name: vaulttest.SomeText("LOW")}, "name"},
		{"blank name", mid.ID, model.FolderPatch{Name: model.Some(model.Input{})}, "name"},
		{"own name in capitals", mid.ID, model.FolderPatch{Name: vaulttest.SomeText("MID")}, ""},
		{"to the root", low.ID, model.FolderPatch{ParentID: model.Some(model.IDInput{})}, ""},
		{"former parent into its former child", top.ID,
			model.FolderPatch{ParentID: model.Some(vaulttest.IDInput(low.ID)), Name: vaulttest.SomeText("Under")}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Folders.Patch(t.Context(), vaulttest.Operator, row.folder, row.patch, vault.Match{})
			wantInvalidField(t, err, row.invalid)
		})
	}
	got, err := v.Folders.Get(t.Context(), top.ID)
	if err != nil || got.Name != "Under" || got.ParentID != low.ID || got.Version != 1 {
		t.Errorf("Folders.Get: got %+v, %v, want version 1 of Under in folder %d", got, err, low.ID)
	}
	vaulttest.WantLogged(t, v, fmt.Sprintf(`folder.changed folder:%d name:"Top">"Under" parent_id:null>%d`, top.ID, low.ID))
	_, err = v.Folders.Patch(t.Context(), vaulttest.Operator, top.ID, model.FolderPatch{Name: vaulttest.SomeText("Top")},
		vaulttest.MatchVersions(0))
	vaulttest.WantKind(t, "change an old version", err, errs.PreconditionFailed)
}

func TestFolderRemove(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	top := vaulttest.CreateFolder(t, v, "Top", 0)
	low := vaulttest.CreateFolder(t, v, "Low", top.ID)
	uploaded, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{FolderID: vaulttest.IDInput(low.ID)},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "a")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Files.Upload: %v", err)
	}
	remove := func(id uint64) error {
		return v.Folders.Remove(context.Background(), vaulttest.Operator, id, vault.Match{})
	}
	vaulttest.WantKind(t, "remove a folder with a subfolder", remove(top.ID), errs.Conflict)
	vaulttest.WantKind(t, "remove a folder with a document", remove(low.ID), errs.Conflict)
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, uploaded.Files[0].ID, vault.Match{}); err != nil {
		t.Fatalf("Files.Trash: %v", err)
	}
	vaulttest.WantKind(t, "remove an old version", v.Folders.Remove(t.Context(), vaulttest.Operator, low.ID, vaulttest.MatchVersions(7)),
		errs.PreconditionFailed)
	if err := remove(low.ID); err != nil {
		t.Fatalf("remove folder Low: %v", err)
	}
	vaulttest.WantLogged(t, v, fmt.Sprintf("folder.removed folder:%d", low.ID))
	vaulttest.WantKind(t, "remove a removed folder", remove(low.ID), errs.NotFound)
	if err := remove(top.ID); err != nil {
		t.Fatalf("remove folder Top: %v", err)
	}
	restored, err := v.Files.Restore(t.Context(), vaulttest.Operator, uploaded.Files[0].ID, vault.Idempotency[model.File]{})
	if err != nil || restored.FolderID != 0 {
		t.Errorf("restore a document of a removed folder: got %+v, %v, want no folder", restored, err)
	}
	if again := vaulttest.CreateFolder(t, v, "Low", 0); again.ID <= low.ID {
		t.Errorf("ID of the next folder: got %d, want more than %d", again.ID, low.ID)
	}
}

// wantInvalidField checks that field is the first invalid field in err. If field is "", err must be nil.
func wantInvalidField(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
		return
	}
	vaulttest.WantKind(t, field, err, errs.Invalid)
	if got := fieldsOf(err); len(got) == 0 || got[0].Field != field {
		t.Errorf("invalid fields: got %v, want %s first", got, field)
	}
}

// If required custom fields are enforced, a patch can't clear a required field. A patch that leaves out a required
// field is valid.
func TestAbstractPatchEnforcesRequiredFields(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v) // this abstract lacks search_type, which is also required
	if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Custom: model.Some(vaulttest.CustomText("file_number", `"24-1"`))}, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Patch: %v", err)
	}
	v.SetEnforceRequired(true)
	_, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Custom: model.Some(vaulttest.CustomText("file_number", "null"))}, vault.Match{})
	wantInvalidField(t, err, "custom_fields.file_number")
	after, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1,
		model.AbstractPatch{Fields: model.Inputs{"tax_map": model.StringInput("9")}}, vault.Match{})
	if err != nil || string(after.Abstract.Custom["file_number"]) != `"24-1"` || after.Abstract.TaxMap != "9" {
		t.Errorf("Abstracts.Patch: got %+v, %v, want file number 24-1, Parcel ID 9", after.Abstract, err)
	}
}

// RetryEdit tries again only if the record changed in the meantime, and not forever.
func TestRetryEdit(t *testing.T) {
	t.Parallel()
	changed := &errs.Error{Kind: errs.PreconditionFailed}
	for _, row := range []struct {
		results []error
		want    int
	}{
		{[]error{nil}, 1},
		{[]error{changed, changed, nil}, 3},
		{[]error{&errs.Error{Kind: errs.Conflict}}, 1},
		{[]error{changed, changed, changed, changed, changed, nil}, 5},
	} {
		calls := 0
		err := vault.RetryEdit(func() error { calls++; return row.results[calls-1] })
		if calls != row.want || !errors.Is(err, row.results[calls-1]) {
			t.Errorf("RetryEdit(%v) called %d times and returned %v, want %d calls and the last result", row.results, calls, err, row.want)
		}
	}
}
