package vault_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func abstractCalled(t *testing.T, v *instance.Instance, number, parcel, address string, docs ...vaulttest.Doc) vault.AbstractWithFiles {
	t.Helper()
	draft := model.AbstractDraft{TaxMap: model.StringInput(parcel), PropertyDraft: model.PropertyDraft{Address: model.StringInput(address)}}
	draft.Custom.Values = map[string]json.RawMessage{"file_number": json.RawMessage(`"` + number + `"`)}
	filed, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, docs...), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	return filed
}

func fileNumbers(list []model.Abstract) (numbers []string) {
	for _, a := range list {
		numbers = append(numbers, a.FileNumber())
	}
	return numbers
}

func TestAbstractsCalled(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	abstractCalled(t, v, "1", "12-34-567", "9 Elm St")
	abstractCalled(t, v, "3", "12-34-5678", "9 Elm Street")
	abstractCalled(t, v, "4", "", "9 ELM ST.")
	found, more, err := v.Abstracts.FindByPrefix(t.Context(), "9 elm", vault.Query{Limit: 2})
	if err != nil || len(found) != 2 || !more {
		t.Errorf("called: %v, %v, %v", fileNumbers(found), more, err)
	}
	// However many begin so, the filters find the one among them.
	if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 3, model.AbstractPatch{Status: model.Some(model.StringInput("In Exam"))}, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	q := vault.Query{Limit: 1, Filters: []store.Filter{{Column: store.ColumnStatus, Value: "IN EXAM"}}}
	if found, more, err = v.Abstracts.FindByPrefix(t.Context(), "9 elm", q); err != nil || fmt.Sprint(fileNumbers(found)) != "[4]" || more {
		t.Errorf("called, with a status: %v, %v, %v", fileNumbers(found), more, err)
	}
	q.CreatedTo = found[0].CreatedAt.Add(-time.Hour)
	if found, more, err = v.Abstracts.FindByPrefix(t.Context(), "9 elm", q); err != nil || len(found) != 0 || more {
		t.Errorf("called, made before: %v, %v, %v", fileNumbers(found), more, err)
	}
	if _, _, err = v.Abstracts.FindByPrefix(t.Context(), "9 elm", vault.Query{Limit: 1, OpenOnly: true}); err == nil {
		t.Error("abstracts have no due dates to filter by")
	}
}

// The history has every event of an abstract and its documents once, however it is
// paged, those of documents that were taken off too.
func TestAbstractHistory(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	filed := abstractCalled(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"), vaulttest.PDFDoc("c.pdf", "c"))
	id := filed.Abstract.ID
	abstractCalled(t, v, "2", "", "", vaulttest.PDFDoc("z.pdf", "z"))
	for i := range 5 {
		patch := model.AbstractPatch{Status: model.Some(model.StringInput([]string{"In Search", "In Exam"}[i%2]))}
		if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, id, patch, vault.Match{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Abstracts.Detach(t.Context(), vaulttest.Operator, id, filed.Files[1].ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	whole, err := v.Abstracts.History(t.Context(), vaulttest.Operator, id, 0, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range whole.Events {
		kinds = append(kinds, e.Kind)
	}
	want := []string{"file.detached", "abstract.changed", "abstract.changed", "abstract.changed", "abstract.changed", "abstract.changed", "file.filed", "file.filed", "file.filed", "abstract.created"}
	if !slices.Equal(kinds, want) || whole.Before != 0 {
		t.Errorf("history %v, before %d", kinds, whole.Before)
	}
	if name := whole.Names[fmt.Sprintf("file:%d", filed.Files[1].ID)]; name != "b.pdf" {
		t.Errorf("the document in the trash is called %q", name)
	}
	// A part of it tells of the document that left, too; back again, it is there once.
	part, err := v.Abstracts.History(t.Context(), model.Actor{Role: model.RoleAdmin}, id, 0, []uint64{}, 100)
	if err != nil || len(part.Events) != 8 || part.Events[0].Kind != "file.detached" {
		t.Errorf("of no documents: %+v, %v", part.Events, err)
	}
	if now, err := v.Abstracts.Get(t.Context(), id); err != nil || !slices.Equal(now.Abstract.RemovedFiles, []uint64{filed.Files[1].ID}) {
		t.Errorf("gone are %v, %v", now.Abstract.RemovedFiles, err)
	}
	var paged []uint64
	for before := uint64(0); ; {
		part, err := v.Abstracts.History(t.Context(), vaulttest.Operator, id, before, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range part.Events {
			paged = append(paged, e.Seq)
		}
		if before = part.Before; before == 0 {
			break
		}
	}
	var all []uint64
	for _, e := range whole.Events {
		all = append(all, e.Seq)
	}
	if !slices.Equal(paged, all) {
		t.Errorf("paged %v, whole %v", paged, all)
	}
	if _, err := v.Abstracts.History(t.Context(), vaulttest.Operator, 99, 0, nil, 10); errs.KindOf(err) != errs.NotFound {
		t.Errorf("of none: %v", err)
	}
	who, err := v.Files.Uploaders(t.Context(), []uint64{filed.Files[0].ID, 999})
	if err != nil || len(who) != 1 || who[filed.Files[0].ID].Name != vaulttest.Operator.Name {
		t.Errorf("filers %v, %v", who, err)
	}
	page, err := v.Abstracts.ListWithoutFiles(t.Context(), vault.Query{Limit: 1, Descending: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].FileNumber() != "2" || len(page.Items[0].Files) != 1 {
		t.Errorf("rows %+v, %v", page.Items, err)
	}
}

// A document that came back is where it was, and gone no more.
func TestGoneDocuments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	filed := abstractCalled(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"), vaulttest.PDFDoc("c.pdf", "c"))
	id, b := filed.Abstract.ID, filed.Files[1].ID
	if _, _, err := v.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{b, filed.Files[2].ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Files.Restore(t.Context(), vaulttest.Operator, b, vault.Idempotency[model.File]{}); err != nil {
		t.Fatal(err)
	}
	now, err := v.Abstracts.Get(t.Context(), id)
	if err != nil || !slices.Equal(now.Abstract.Files, []uint64{filed.Files[0].ID, b}) || !slices.Equal(now.Abstract.RemovedFiles, []uint64{filed.Files[2].ID}) {
		t.Errorf("%+v, %v", now.Abstract, err)
	}
	one := model.Abstract{Files: []uint64{1}}
	for n := range uint64(model.MaxRemovedFiles + 5) {
		one.RemoveFile(n + 2)
	}
	if len(one.RemovedFiles) != model.MaxRemovedFiles || one.RemovedFiles[0] != 7 || len(one.Files) != 1 {
		t.Errorf("%d are gone, the first %d", len(one.RemovedFiles), one.RemovedFiles[0])
	}
}
