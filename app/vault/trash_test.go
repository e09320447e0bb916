package vault_test

import (
	"fmt"
	"reflect"
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

// A restored abstract and its documents are the same as before the deletion. Documents that were detached or deleted
// before the abstract stay in the trash.
func TestAbstractTrashAndRestore(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	var docs []vaulttest.Doc
	for i := range 30 {
		docs = append(docs, vaulttest.PDFDoc(fmt.Sprintf("%02d.pdf", i), fmt.Sprint(i%20)))
	}
	before := vaulttest.CreateAbstract(t, v, docs...)
	detached, deleted := before.Files[3], before.Files[11]
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, detached.ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, deleted.ID, vault.Match{}))
	before, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || len(before.Files) != 28 || before.Abstract.Version != 3 {
		t.Fatalf("Abstracts.Get: got %+v, %v, want version 3 with 28 files", before, err)
	}
	vaulttest.WantKind(t, "trash an old version", v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(1)),
		errs.PreconditionFailed)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(3)))
	vaulttest.WantLogged(t, v, "abstract.trashed abstract:1", fmt.Sprintf("file.trashed file:%d", deleted.ID),
		fmt.Sprintf("file.detached file:%d", detached.ID))
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}), "file 4 03.pdf", "file 12 11.pdf")
	vaulttest.Verify(t, v)
	_, err = v.Abstracts.Get(t.Context(), 1)
	vaulttest.WantKind(t, "get an abstract in the trash", err, errs.NotFound)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{}, vault.Match{})
	vaulttest.WantKind(t, "change an abstract in the trash", err, errs.NotFound)
	vaulttest.WantKind(t, "trash an abstract in the trash", v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}),
		errs.NotFound)
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("x.pdf", "x"))
	_, err = v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "attach to an abstract in the trash", err, errs.NotFound)
	for _, f := range before.Files {
		vaulttest.WantNoFile(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), vaulttest.Operator, f.ID, vault.Idempotency[model.File]{})
		vaulttest.WantKind(t, "restore a document of an abstract in the trash", err, errs.Conflict)
	}
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, detached.ID, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "restore a document that was detached before", err, errs.Conflict)
	if s := vaulttest.Status(t, v); s.Abstracts != 0 || s.Files != 0 {
		t.Errorf("status: got %+v, want no abstracts and no files", s)
	}
	after, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Fatalf("Abstracts.Restore: got %+v, %v\nwant %+v", after, err, before)
	}
	if read, err := v.Abstracts.Get(t.Context(), 1); err != nil || !reflect.DeepEqual(read, before) {
		t.Errorf("Abstracts.Get: got %+v, %v\nwant %+v", read, err, before)
	}
	vaulttest.WantLogged(t, v, "abstract.restored abstract:1")
	vaulttest.WantTrash(t, v, "file 4 03.pdf", "file 12 11.pdf")
	vaulttest.WantNoFile(t, v, detached.ID)
	for _, f := range after.Files {
		if _, content, err := v.Files.Open(t.Context(), f.ID); err != nil {
			t.Errorf("Files.Open: %v", err)
		} else {
			vaulttest.NoError(t, content.Close())
		}
	}
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context())) // the document that the abstract in the trash did not accept
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 20 {
		t.Errorf("blobs: got %d, want 20", n)
	}
}

// A restored document returns to its position in the abstract, or to the end if the abstract now has fewer documents.
func TestRestoreFileToItsPosition(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	all := fileIDs(vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"),
		vaulttest.PDFDoc("3.pdf", "3"), vaulttest.PDFDoc("4.pdf", "4")))
	for _, id := range all[1:] { // each one is second when it is deleted
		vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, id, vault.Match{}))
	}
	restore := func(id uint64, want ...uint64) {
		t.Helper()
		before, err := v.Abstracts.Get(t.Context(), 1)
		vaulttest.NoError(t, err)
		restored, err := v.Files.Restore(t.Context(), vaulttest.Operator, id, vault.Idempotency[model.File]{})
		if err != nil || restored.AbstractID != 1 || restored.Trashed != nil {
			t.Fatalf("Files.Restore: got %+v, %v, want a live file of abstract 1", restored, err)
		}
		after, err := v.Abstracts.Get(t.Context(), 1)
		if err != nil || !slices.Equal(after.Abstract.Files, want) || after.Abstract.Version != before.Abstract.Version+1 {
			t.Errorf("Abstracts.Get: got %+v, %v, want version %d with files %v", after.Abstract, err, before.Abstract.Version+1, want)
		}
	}
	restore(all[3], all[0], all[3])
	restore(all[2], all[0], all[2], all[3])
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, all[0], vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, all[3], vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, all[2], vault.Match{}))
	restore(all[1], all[1]) // the abstract is empty, so the document becomes its only one
	vaulttest.WantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]))
	same, err := v.Files.Restore(t.Context(), vaulttest.Operator, all[1], vault.Idempotency[model.File]{})
	if err != nil || same.ID != all[1] {
		t.Errorf("restore a live file: got %+v, %v, want file %d", same, err, all[1])
	}
	vaulttest.WantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]), fmt.Sprintf("file.detached file:%d", all[2]))
}

// fileIDs returns the IDs of an abstract's documents.
func fileIDs(f vault.AbstractWithFiles) []uint64 { return slices.Clone(f.Abstract.Files) }

// If the abstract of a document was purged, the document is restored without an abstract. This only happens if the
// clock was set back. Otherwise, the document is purged first.
func TestRestoreFileOfPurgedAbstract(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	file := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")).Files[0]
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, file.ID, vault.Match{}))
	vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveAbstract(1) }))
	vaulttest.Verify(t, v)
	restored, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
	if err != nil || restored.AbstractID != 0 || restored.FolderID != 0 {
		t.Errorf("Files.Restore: got %+v, %v, want no abstract and no folder", restored, err)
	}
}

// List returns live abstracts page by page, each with its documents.
func TestAbstractList(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for i := range 5 {
		vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", fmt.Sprint(i)), vaulttest.PDFDoc("b.pdf", fmt.Sprint(i)))
	}
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 3, vault.Match{}))
	var got []uint64
	q := vault.Query{Limit: 2}
	for pages := 0; ; pages++ {
		page, err := v.Abstracts.List(t.Context(), q)
		vaulttest.NoError(t, err)
		for _, listed := range page.Items {
			got = append(got, listed.Abstract.ID)
			read, err := v.Abstracts.Get(t.Context(), listed.Abstract.ID)
			if err != nil || !reflect.DeepEqual(listed, read) {
				t.Errorf("Abstracts.List: got %+v\nwant %+v, %v", listed, read, err)
			}
		}
		if q.Position = page.Next; page.Next == nil {
			break
		}
		if pages > 5 {
			t.Fatalf("number of pages: got more than %d, want 2", pages)
		}
	}
	if !slices.Equal(got, []uint64{1, 2, 4, 5}) {
		t.Errorf("Abstracts.List: got %v, want [1 2 4 5]", got)
	}
	files, err := v.Files.List(t.Context(), vault.Query{Limit: 100,
		Filters: []store.Filter{{Column: model.ColumnAbstract, Value: "3"}}})
	if err != nil || len(files.Items) != 0 {
		t.Errorf("documents of an abstract in the trash: got %v, %v, want none", files.Items, err)
	}
}

// List includes abstracts that have a damaged document.
func TestAbstractListWithDamagedDocument(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"))
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("c.pdf", "c"))
	vaulttest.Close(t, v)
	vaulttest.FlipBit(t, opts.Dir+"/vault.db", "files", 200, false)
	v, err = instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	defer vaulttest.Close(t, v)
	page, err := v.Abstracts.List(t.Context(), vault.Query{Limit: 9})
	if err != nil || len(page.Items) != 2 || page.Items[0].Abstract.ID != 1 || len(page.Items[1].Files) != 1 {
		t.Errorf("Abstracts.List: got %+v, %v, want both abstracts", page.Items, err)
	}
}

func TestDetachErrors(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	first, second := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")),
		vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("2.pdf", "2"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("3.pdf", "3"))[0]
	for _, row := range []struct {
		name           string
		abstract, file uint64
	}{
		{"file of another abstract", first.Abstract.ID, second.Files[0].ID},
		{"file of no abstract", first.Abstract.ID, loose.ID},
		{"unknown file", first.Abstract.ID, 99},
		{"unknown abstract", 99, first.Files[0].ID},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := v.Abstracts.Detach(t.Context(), vaulttest.Operator, row.abstract, row.file, vault.Match{})
			vaulttest.WantKind(t, "Abstracts.Detach", err, errs.NotFound)
		})
	}
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, first.Abstract.ID, first.Files[0].ID, vault.Match{}))
	vaulttest.WantKind(t, "detach a detached file",
		v.Abstracts.Detach(t.Context(), vaulttest.Operator, first.Abstract.ID, first.Files[0].ID, vault.Match{}), errs.NotFound)
}

func TestOrderTrashAndRestore(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrder(t, v, "A-1")
	before, err := v.Orders.Get(t.Context(), 1)
	vaulttest.NoError(t, err)
	same, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.Order]{})
	if err != nil || !reflect.DeepEqual(same, before) {
		t.Errorf("restore a live order: got %+v, %v, want %+v", same, err, before)
	}
	vaulttest.WantKind(t, "trash another version", v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(2)),
		errs.PreconditionFailed)
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(1)))
	_, err = v.Orders.Get(t.Context(), 1)
	vaulttest.WantKind(t, "get an order in the trash", err, errs.NotFound)
	vaulttest.WantTrash(t, v, "order 1 A-1")
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1, Filters: []store.Filter{{Column: model.ColumnKind, Value: "order"}}})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("Trash.List: got %v, %v, want 1 order", page, err)
	}
	if item := page.Items[0]; item.By.Name != vaulttest.Operator.Name || item.By.Record() != vaulttest.Operator.Record() ||
		item.Until.Sub(item.At) != vaulttest.TrashPeriod {
		t.Errorf("order in the trash: got %+v, want it deleted by %s and kept for %v", item, vaulttest.Operator.Name, vaulttest.TrashPeriod)
	}
	restored, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.Order]{})
	if err != nil || !reflect.DeepEqual(restored, before) {
		t.Errorf("Orders.Restore: got %+v, %v, want %+v", restored, err, before)
	}
	vaulttest.WantTrash(t, v)
	_, err = v.Orders.Restore(t.Context(), vaulttest.Operator, 9, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "restore an unknown order", err, errs.NotFound)
}

// A revoked key can't delete, restore, or change anything.
func TestChangesWithRevokedKey(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.CreateOrder(t, v, "A-2")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 2, vault.Match{}))
	_, key, err := v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "k"})
	vaulttest.NoError(t, err)
	_, err = v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	vaulttest.NoError(t, err)
	revoked := model.Actor{Kind: model.ActorKey, ID: key.ID}
	events := len(vaulttest.AuditEntries(t, v, 100))
	for name, change := range map[string]func() error{
		"trash abstract": func() error { return v.Abstracts.Trash(t.Context(), revoked, 1, vault.Match{}) },
		"detach":         func() error { return v.Abstracts.Detach(t.Context(), revoked, 1, 1, vault.Match{}) },
		"trash file":     func() error { return v.Files.Trash(t.Context(), revoked, 1, vault.Match{}) },
		"trash order":    func() error { return v.Orders.Trash(t.Context(), revoked, 1, vault.Match{}) },
		"restore order": func() error {
			_, err := v.Orders.Restore(t.Context(), revoked, 2, vault.Idempotency[model.Order]{})
			return err
		},
		"patch order": func() error {
			_, err := v.Orders.Patch(t.Context(), revoked, 1,
				model.OrderPatch{Fields: model.Inputs{"order_number": model.StringInput("x")}}, vault.Match{})
			return err
		},
		"remove folder": func() error { return v.Folders.Remove(t.Context(), revoked, 1, vault.Match{}) },
	} {
		t.Run(name, func(t *testing.T) {
			vaulttest.WantKind(t, name, change(), errs.Unauthenticated)
		})
	}
	if n := len(vaulttest.AuditEntries(t, v, 100)); n != events {
		t.Errorf("audit entries: got %d, want %d", n, events)
	}
}

// It takes one transaction to delete, restore, or purge an abstract with thousands of documents, and it is fast enough
// for a request.
func TestTrashLargeAbstract(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	attachCopies(t, v, vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")), manyDocuments-1)
	const limit = 20 * time.Second // about 100 times the usual duration
	start := time.Now()
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	trashed := time.Since(start)
	result, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(result.Files) != manyDocuments {
		t.Fatalf("Abstracts.Restore: got %d files, %v, want %d", len(result.Files), err, manyDocuments)
	}
	restored := time.Since(start)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	clock.Advance(vaulttest.TrashPeriod)
	start = time.Now()
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	purged := time.Since(start)
	t.Logf("trash %v, restore %v, purge %v", trashed, restored-trashed, purged)
	if trashed > limit || restored > limit || purged > limit {
		t.Errorf("got %v to trash, %v with the restore, %v to purge, want at most %v", trashed, restored, purged, limit)
	}
	if s := vaulttest.Status(t, v); s.Files != 0 || s.Queue != 0 {
		t.Errorf("status: got %+v, want no files and an empty queue", s)
	}
}

// attachCopies attaches count copies of the first document of an abstract, directly in the store.
func attachCopies(t *testing.T, v *instance.Instance, created vault.AbstractWithFiles, count int) {
	t.Helper()
	vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		file, abstract := created.Files[0], created.Abstract
		abstract.Files = slices.Clone(abstract.Files)
		for range count {
			var err error
			if file.ID, err = tx.NewFileID(); err != nil {
				return err
			}
			if err := tx.PutFile(file); err != nil {
				return err
			}
			if err := tx.AddTask(model.ProcessingTask{FileID: file.ID}); err != nil {
				return err
			}
			abstract.Files = append(abstract.Files, file.ID)
		}
		return tx.PutAbstract(abstract)
	}))
}
