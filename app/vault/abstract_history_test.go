package vault_test

import (
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

// createAbstractNumbered creates an abstract with the given file number, Parcel ID, and address.
func createAbstractNumbered(t *testing.T, v *instance.Instance, number, parcel, address string,
	docs ...vaulttest.Doc) vault.AbstractWithFiles {
	t.Helper()
	draft := model.AbstractDraft{Fields: model.Inputs{"tax_map": model.StringInput(parcel),
		"address": model.StringInput(address)}}
	draft.Custom.Values = model.Inputs{"file_number": model.StringInput(number)}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, docs...),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	return created
}

// fileNumbers returns the file numbers of abstracts.
func fileNumbers(list []model.Abstract) (numbers []string) {
	for _, a := range list {
		numbers = append(numbers, a.FileNumber())
	}
	return numbers
}

func TestAbstractsByNumber(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	createAbstractNumbered(t, v, "1", "12-34-567", "9 Elm St")
	createAbstractNumbered(t, v, "3", "12-34-5678", "9 Elm Street")
	createAbstractNumbered(t, v, "4", "", "9 ELM ST.")
	found, more, err := v.Search.AbstractsByNumber(t.Context(), "9 elm", vault.Query{Limit: 2})
	if err != nil || len(found) != 2 || !more {
		t.Errorf("AbstractsByNumber: got %v, more %v, %v, want 2 abstracts and more", fileNumbers(found), more, err)
	}
	// Filters apply to all abstracts with the prefix, not only to the first ones up to the limit.
	if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, 3,
		model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("In Exam")}}, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Patch: %v", err)
	}
	q := vault.Query{Limit: 1, Filters: []store.Filter{{Column: model.ColumnStatus, Value: "IN EXAM"}}}
	if found, more, err = v.Search.AbstractsByNumber(t.Context(), "9 elm", q); err != nil || fmt.Sprint(fileNumbers(found)) != "[4]" || more {
		t.Errorf("AbstractsByNumber with a status: got %v, more %v, %v, want [4] and no more", fileNumbers(found), more, err)
	}
	q.CreatedTo = found[0].CreatedAt.Add(-time.Hour)
	if found, more, err = v.Search.AbstractsByNumber(t.Context(), "9 elm", q); err != nil || len(found) != 0 || more {
		t.Errorf("AbstractsByNumber with an earlier creation time: got %v, more %v, %v, want none", fileNumbers(found), more, err)
	}
	if _, _, err = v.Search.AbstractsByNumber(t.Context(), "9 elm", vault.Query{Limit: 1, OpenOnly: true}); err == nil {
		t.Error("AbstractsByNumber with OpenOnly: got no error, want one, because abstracts have no due dates")
	}
}

// The history contains each audit entry of an abstract and its current and removed documents exactly once, whatever the
// page size.
func TestAbstractHistory(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := createAbstractNumbered(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"),
		vaulttest.PDFDoc("c.pdf", "c"))
	id := created.Abstract.ID
	createAbstractNumbered(t, v, "2", "", "", vaulttest.PDFDoc("z.pdf", "z"))
	for i := range 5 {
		patch := model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput([]string{"In Search",
			"In Exam"}[i%2])}}
		if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, id, patch, vault.Match{}); err != nil {
			t.Fatalf("Abstracts.Patch: %v", err)
		}
	}
	if err := v.Abstracts.Detach(t.Context(), vaulttest.Operator, id, created.Files[1].ID, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Detach: %v", err)
	}
	full, err := v.Abstracts.History(t.Context(), vaulttest.Operator, id, vault.HistoryQuery{Limit: 100})
	if err != nil {
		t.Fatalf("Abstracts.History: %v", err)
	}
	var kinds []string
	for _, e := range full.Events {
		kinds = append(kinds, e.Kind)
	}
	want := []string{"file.detached", "abstract.changed", "abstract.changed", "abstract.changed", "abstract.changed",
		"abstract.changed", "file.filed", "file.filed", "file.filed", "abstract.created"}
	if !slices.Equal(kinds, want) || full.Before != 0 {
		t.Errorf("history: got %v, before %d, want %v, before 0", kinds, full.Before, want)
	}
	if name := full.Events[0].Names[fmt.Sprintf("file:%d", created.Files[1].ID)]; name != "b.pdf" {
		t.Errorf("name of the document in the trash: got %q, want b.pdf", name)
	}
	// If no documents are selected, the history still contains the entry of the removed document.
	part, err := v.Abstracts.History(t.Context(), model.Actor{Role: model.RoleAdmin}, id, vault.HistoryQuery{Documents: []uint64{}, Limit: 100})
	if err != nil || len(part.Events) != 8 || part.Events[0].Kind != "file.detached" {
		t.Errorf("history without documents: got %+v, %v, want 8 events, file.detached first", part.Events, err)
	}
	if now, err := v.Abstracts.Get(t.Context(), id); err != nil || !slices.Equal(now.Abstract.RemovedFiles, []uint64{created.Files[1].ID}) {
		t.Errorf("removed files: got %v, %v, want file %d", now.Abstract.RemovedFiles, err, created.Files[1].ID)
	}
	var paged []uint64
	for before := uint64(0); ; {
		part, err := v.Abstracts.History(t.Context(), vaulttest.Operator, id, vault.HistoryQuery{Before: before, Limit: 2})
		if err != nil {
			t.Fatalf("Abstracts.History: %v", err)
		}
		for _, e := range part.Events {
			paged = append(paged, e.Seq)
		}
		if before = part.Before; before == 0 {
			break
		}
	}
	var all []uint64
	for _, e := range full.Events {
		all = append(all, e.Seq)
	}
	if !slices.Equal(paged, all) {
		t.Errorf("history in pages: got %v, want %v", paged, all)
	}
	if _, err := v.Abstracts.History(t.Context(), vaulttest.Operator, 99, vault.HistoryQuery{Limit: 10}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("history of an unknown abstract: got %v, want kind %d", err, errs.NotFound)
	}
	uploaders, err := v.Files.Uploaders(t.Context(), []uint64{created.Files[0].ID, 999})
	if err != nil || len(uploaders) != 1 || uploaders[created.Files[0].ID].Name != vaulttest.Operator.Name {
		t.Errorf("Files.Uploaders: got %v, %v, want %s for file %d only", uploaders, err, vaulttest.Operator.Name, created.Files[0].ID)
	}
	page, err := v.Abstracts.ListWithoutFiles(t.Context(), vault.Query{Limit: 1, Descending: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].FileNumber() != "2" || len(page.Items[0].Files) != 1 {
		t.Errorf("ListWithoutFiles: got %+v, %v, want abstract number 2 with one file ID", page.Items, err)
	}
}

// A restored document returns to its position and is no longer listed as removed.
func TestAbstractRemovedFiles(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := createAbstractNumbered(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"),
		vaulttest.PDFDoc("c.pdf", "c"))
	id, b := created.Abstract.ID, created.Files[1].ID
	if _, _, err := v.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{b, created.Files[2].ID}); err != nil {
		t.Fatalf("Files.TrashMany: %v", err)
	}
	if _, err := v.Files.Restore(t.Context(), vaulttest.Operator, b, vault.Idempotency[model.File]{}); err != nil {
		t.Fatalf("Files.Restore: %v", err)
	}
	now, err := v.Abstracts.Get(t.Context(), id)
	if err != nil || !slices.Equal(now.Abstract.Files, []uint64{created.Files[0].ID, b}) ||
		!slices.Equal(now.Abstract.RemovedFiles, []uint64{created.Files[2].ID}) {
		t.Errorf("Abstracts.Get: got %+v, %v, want files %d and %d, removed %d", now.Abstract, err, created.Files[0].ID, b, created.Files[2].ID)
	}
	abstract := model.Abstract{Files: []uint64{1}}
	for n := range uint64(model.MaxRemovedFiles + 5) {
		abstract.RemoveFile(n + 2)
	}
	if len(abstract.RemovedFiles) != model.MaxRemovedFiles || abstract.RemovedFiles[0] != 7 || len(abstract.Files) != 1 {
		t.Errorf("got %d removed files, the first %d, want %d, the first 7", len(abstract.RemovedFiles), abstract.RemovedFiles[0],
			model.MaxRemovedFiles)
	}
}

// Only administrators see who viewed or downloaded documents. For other users, these entries don't count toward the
// page size.
func TestHistoryShowsReadsToAdministratorsOnly(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := createAbstractNumbered(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"))
	record := fmt.Sprintf("file:%d", created.Files[0].ID)
	for i := range 30 {
		v.Events.RecordAccess(vaulttest.LinkActor(fmt.Sprint(i)), "file.opened", record, nil)
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", record, nil)
	}
	for role, want := range map[model.Role][]string{
		model.RoleAdmin:  {"file.downloaded", "file.opened", "file.downloaded", "file.opened"},
		model.RoleStaff:  {"file.filed", "abstract.created"},
		model.RoleViewer: {"file.filed", "abstract.created"},
		"":               {"file.filed", "abstract.created"},
	} {
		t.Run("role "+string(role), func(t *testing.T) {
			h, err := v.Abstracts.History(t.Context(), model.Actor{Kind: model.ActorUser, ID: 1, Role: role}, created.Abstract.ID,
				vault.HistoryQuery{Views: true, Limit: 4})
			if err != nil {
				t.Fatalf("Abstracts.History: %v", err)
			}
			var kinds []string
			for _, e := range h.Events {
				kinds = append(kinds, e.Kind)
			}
			if !slices.Equal(kinds, want) {
				t.Errorf("history: got %q, want %q", kinds, want)
			}
			h, err = v.Abstracts.History(t.Context(), model.Actor{Kind: model.ActorUser, ID: 1, Role: role}, created.Abstract.ID,
				vault.HistoryQuery{Limit: 4})
			if err != nil || len(h.Events) != 2 {
				t.Errorf("history without views: got %d events, %v, want 2", len(h.Events), err)
			}
		})
	}
}
