package vault_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// missing fails the test unless a document is as good as absent.
func missing(t *testing.T, v *instance.Instance, id uint64) {
	t.Helper()
	_, err := v.Files.Get(t.Context(), id)
	vaulttest.WantKind(t, fmt.Sprintf("read file %d", id), err, errs.NotFound)
	_, _, err = v.Files.Open(t.Context(), id)
	vaulttest.WantKind(t, fmt.Sprintf("open file %d", id), err, errs.NotFound)
	_, err = v.Previews.Thumbnail(t.Context(), vaulttest.Operator, id)
	vaulttest.WantKind(t, fmt.Sprintf("picture of file %d", id), err, errs.NotFound)
}

// An abstract with thirty documents comes back as it went; what was detached or
// trashed before stays in the trash by itself.
func TestAbstractTrashAndBack(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	var docs []vaulttest.Doc
	for i := range 30 {
		docs = append(docs, vaulttest.PDFDoc(fmt.Sprintf("%02d.pdf", i), fmt.Sprint(i%20)))
	}
	before := vaulttest.CreateAbstract(t, v, docs...)
	detached, alone := before.Files[3], before.Files[11]
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, detached.ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, alone.ID, vault.Match{}))
	before, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || len(before.Files) != 28 || before.Abstract.Version != 3 {
		t.Fatalf("%+v, %v", before, err)
	}
	vaulttest.WantKind(t, "stale", v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(1)), errs.PreconditionFailed)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(3)))
	wantLogged(t, v, "abstract.trashed abstract:1", fmt.Sprintf("file.trashed file:%d", alone.ID), fmt.Sprintf("file.detached file:%d", detached.ID))
	vaulttest.WantTrash(t, v, "abstract 1 "+v.Heading(model.Abstract{ID: 1}, model.Template{}), "file 4 03.pdf", "file 12 11.pdf")
	vaulttest.Verify(t, v)
	_, err = v.Abstracts.Get(t.Context(), 1)
	vaulttest.WantKind(t, "an abstract in the trash", err, errs.NotFound)
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, 1, model.AbstractPatch{}, vault.Match{})
	vaulttest.WantKind(t, "change it", err, errs.NotFound)
	vaulttest.WantKind(t, "trash it again", v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}), errs.NotFound)
	tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("x.pdf", "x"))
	_, err = v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "attach to it", err, errs.NotFound)
	for _, f := range before.Files {
		missing(t, v, f.ID)
		_, err := v.Files.Restore(t.Context(), vaulttest.Operator, f.ID, vault.Idempotency[model.File]{})
		vaulttest.WantKind(t, "restore one of its documents", err, errs.Conflict)
	}
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, detached.ID, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "restore one detached before", err, errs.Conflict)
	if s := vaulttest.Status(t, v); s.Abstracts != 0 || s.Files != 0 {
		t.Errorf("%+v", s)
	}
	after, err := v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Fatalf("%v: came back as %+v\nwent as %+v", err, after, before)
	}
	if read, err := v.Abstracts.Get(t.Context(), 1); err != nil || !reflect.DeepEqual(read, before) {
		t.Errorf("reads %+v, %v", read, err)
	}
	wantLogged(t, v, "abstract.restored abstract:1")
	vaulttest.WantTrash(t, v, "file 4 03.pdf", "file 12 11.pdf")
	missing(t, v, detached.ID)
	for _, f := range after.Files {
		if _, bytes, err := v.Files.Open(t.Context(), f.ID); err != nil {
			t.Error(err)
		} else {
			vaulttest.NoError(t, bytes.Close())
		}
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 20 {
		t.Errorf("%d documents on the disk", n)
	}
}

// A document comes back to its place, as far as the list still reaches.
func TestRestoreToItsPlace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	all := numbersOf(vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"), vaulttest.PDFDoc("4.pdf", "4")))
	for _, id := range all[1:] { // from the second place, each
		vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, id, vault.Match{}))
	}
	restored := func(id uint64, want ...uint64) {
		t.Helper()
		before, err := v.Abstracts.Get(t.Context(), 1)
		vaulttest.NoError(t, err)
		back, err := v.Files.Restore(t.Context(), vaulttest.Operator, id, vault.Idempotency[model.File]{})
		if err != nil || back.AbstractID != 1 || back.Trashed != nil {
			t.Fatalf("%+v, %v", back, err)
		}
		after, err := v.Abstracts.Get(t.Context(), 1)
		if err != nil || !slices.Equal(after.Abstract.Files, want) || after.Abstract.Version != before.Abstract.Version+1 {
			t.Errorf("%+v, %v, want files %v", after.Abstract, err, want)
		}
	}
	restored(all[3], all[0], all[3])
	restored(all[2], all[0], all[2], all[3])
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, all[0], vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, all[3], vault.Match{}))
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, all[2], vault.Match{}))
	restored(all[1], all[1]) // beyond the end of an empty list
	wantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]))
	same, err := v.Files.Restore(t.Context(), vaulttest.Operator, all[1], vault.Idempotency[model.File]{})
	if err != nil || same.ID != all[1] {
		t.Errorf("restore what is live: %+v, %v", same, err)
	}
	wantLogged(t, v, fmt.Sprintf("file.restored file:%d", all[1]), fmt.Sprintf("file.detached file:%d", all[2]))
}

func numbersOf(f vault.AbstractWithFiles) []uint64 { return slices.Clone(f.Abstract.Files) }

// What a document was part of may be gone for good when it comes back: then it is
// part of nothing. Only a clock that went back lets an abstract go first.
func TestRestoreToWhatIsGone(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	file := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")).Files[0]
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, file.ID, vault.Match{}))
	vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.RemoveAbstract(1) }))
	vaulttest.Verify(t, v)
	back, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
	if err != nil || back.AbstractID != 0 || back.FolderID != 0 {
		t.Errorf("%+v, %v", back, err)
	}
}

// Lists show what is live, in pages, with the documents of abstracts.
func TestLists(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for i := range 5 {
		vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", fmt.Sprint(i)), vaulttest.PDFDoc("b.pdf", fmt.Sprint(i)))
	}
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 3, vault.Match{}))
	var have []uint64
	q := vault.Query{Limit: 2}
	for pages := 0; ; pages++ {
		page, err := v.Abstracts.List(t.Context(), q)
		vaulttest.NoError(t, err)
		for _, filed := range page.Items {
			have = append(have, filed.Abstract.ID)
			read, err := v.Abstracts.Get(t.Context(), filed.Abstract.ID)
			if err != nil || !reflect.DeepEqual(filed, read) {
				t.Errorf("listed %+v\nread %+v, %v", filed, read, err)
			}
		}
		if q.Position = page.Next; page.Next == nil {
			break
		}
		if pages > 5 {
			t.Fatal("there is no end")
		}
	}
	if !slices.Equal(have, []uint64{1, 2, 4, 5}) {
		t.Errorf("listed %v", have)
	}
	files, err := v.Files.List(t.Context(), vault.Query{Limit: 100, Filters: []store.Filter{{Column: store.ColumnAbstract, Value: "3"}}})
	if err != nil || len(files.Items) != 0 {
		t.Errorf("documents of an abstract in the trash: %v, %v", files.Items, err)
	}
}

// A damaged document hides neither its abstract nor the rest of the list.
func TestListWithADamagedDocument(t *testing.T) {
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
		t.Errorf("%+v, %v", page.Items, err)
	}
}

func TestDetachRefused(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	one, two := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1")), vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("2.pdf", "2"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("3.pdf", "3"))[0]
	for _, row := range []struct {
		name           string
		abstract, file uint64
	}{
		{"another's", one.Abstract.ID, two.Files[0].ID},
		{"nobody's", one.Abstract.ID, loose.ID},
		{"no such file", one.Abstract.ID, 99},
		{"no such abstract", 99, one.Files[0].ID},
	} {
		vaulttest.WantKind(t, row.name, v.Abstracts.Detach(t.Context(), vaulttest.Operator, row.abstract, row.file, vault.Match{}), errs.NotFound)
	}
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, one.Abstract.ID, one.Files[0].ID, vault.Match{}))
	vaulttest.WantKind(t, "twice", v.Abstracts.Detach(t.Context(), vaulttest.Operator, one.Abstract.ID, one.Files[0].ID, vault.Match{}), errs.NotFound)
}

func TestOrderTrashAndBack(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrder(t, v, "A-1")
	before, err := v.Orders.Get(t.Context(), 1)
	vaulttest.NoError(t, err)
	same, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.Order]{})
	if err != nil || !reflect.DeepEqual(same, before) {
		t.Errorf("restore what is live: %+v, %v", same, err)
	}
	vaulttest.WantKind(t, "stale", v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(2)), errs.PreconditionFailed)
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vaulttest.MatchVersions(1)))
	_, err = v.Orders.Get(t.Context(), 1)
	vaulttest.WantKind(t, "in the trash", err, errs.NotFound)
	vaulttest.WantTrash(t, v, "order 1 A-1")
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 1, Filters: []store.Filter{{Column: store.ColumnKind, Value: "order"}}})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if item := page.Items[0]; item.By.Name != vaulttest.Operator.Name || item.By.Record() != vaulttest.Operator.Record() || item.Until.Sub(item.At) != vaulttest.TrashKeep {
		t.Errorf("%+v", item)
	}
	back, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[model.Order]{})
	if err != nil || !reflect.DeepEqual(back, before) {
		t.Errorf("%+v, %v", back, err)
	}
	vaulttest.WantTrash(t, v)
	_, err = v.Orders.Restore(t.Context(), vaulttest.Operator, 9, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "no such order", err, errs.NotFound)
}

// A key that ended trashes, restores and changes nothing.
func TestChangesByAnEndedKey(t *testing.T) {
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
	by := model.Actor{Kind: model.ActorKey, ID: key.ID}
	events := len(vaulttest.AuditEntries(t, v, 100))
	for name, verb := range map[string]func() error{
		"trash abstract": func() error { return v.Abstracts.Trash(t.Context(), by, 1, vault.Match{}) },
		"detach":         func() error { return v.Abstracts.Detach(t.Context(), by, 1, 1, vault.Match{}) },
		"trash file":     func() error { return v.Files.Trash(t.Context(), by, 1, vault.Match{}) },
		"trash order":    func() error { return v.Orders.Trash(t.Context(), by, 1, vault.Match{}) },
		"restore order": func() error {
			_, err := v.Orders.Restore(t.Context(), by, 2, vault.Idempotency[model.Order]{})
			return err
		},
		"patch order": func() error {
			_, err := v.Orders.Patch(t.Context(), by, 1, model.OrderPatch{Number: vaulttest.SomeText("x")}, vault.Match{})
			return err
		},
		"remove folder": func() error { return v.Folders.Remove(t.Context(), by, 1, vault.Match{}) },
	} {
		vaulttest.WantKind(t, name, verb(), errs.Unauthenticated)
	}
	if n := len(vaulttest.AuditEntries(t, v, 100)); n != events {
		t.Errorf("%d events were written", n-events)
	}
}
